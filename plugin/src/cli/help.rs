//! The long texts of the help. Lines are short enough not to be broken.

mod explain;
mod pods;
mod write;

pub(super) use explain::{ORPHANS, PLAN_DELETE, TREE, WHY};
pub(super) use pods::{PODS, PODS_DROP, PODS_REDELIVER, PODS_RELEASE, PODS_UNDELIVERED};
pub(super) use write::{CLEANUP, RELEASE, RESTORE, RESYNTH};

/// Of the plugin.
pub(super) const PLUGIN: &str = "\
Shows what may happen to the resource slices of Eno, and why.

Every slice gets one verdict:
  Keep      it is needed, or nothing says that it is not
  Collect   nothing needs it: it may be deleted
  Wait      it is too new to tell
  Hold      it is being deleted, and Eno's finalizer must stay
  Release   it is being deleted, and Eno's finalizer may come off
  Unknown   something could not be read; nothing is done

Commands only read, but for cleanup, release, resynth, restore and pods release,
redeliver and drop, and for top, which runs some of them: these say where they
write and as whom, and ask first, redeliver excepted. Flags go after \"eno\":
kubectl takes none before the name of a plugin. \"kubectl eno options\" lists
those that every command takes.";

/// At the end of the plugin's.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0   done; also where nothing was found
  1   an error: usage, a failed request, an object that does not exist; a check of
      \"doctor\" failed
  2   cannot tell: what decides could not be read (why, tree, plan-delete,
      orphans, wait)
  4   refused for safety: something is still needed; nothing was written
  124 a wait, or a watch with --until, took longer than --timeout
  130 Ctrl-C: the request in flight was finished, and no other begun
The code does not depend on -o.

Environment:
  KUBECONFIG, HTTPS_PROXY, HTTP_PROXY, NO_PROXY   as for kubectl
  NO_COLOR, TERM=dumb                             no colour
  KUBECTL_ENO_STUCK_AFTER                         default of --stuck-after";

/// Of `slices`.
pub(super) const SLICES: &str = "\
Lists resource slices with the verdict on each.

A slice is stuck when something blocks it and it has waited longer than
--stuck-after: since its deletion, or, where nobody collects it, since it can
have become garbage.

-o wide adds columns and reads every slice whole; its RESOURCES are
deleted/total.

-w on a terminal draws the list again as it changes: what is stuck first, and
for five seconds what went, as Gone, or as Left where the flags select it no
more. Elsewhere a line is added for each change, with an EVENT: ADDED, MODIFIED,
DELETED or LEFT; -o json and yaml print type and object, JSON one on each line.
While the connection is lost, what is shown is STALE.

-o json and yaml print a List (a single slice that is named: that slice alone)
of items with these fields:
  namespace, name, uid, verdict, reason, message
  composition         its owner: name, uid, found (null: cannot tell);
                      null where no composition owns it
  blockers            what it waits for: code, message
  stuck               has it waited for too long?
  waitingSince        null where it waits for nothing
  creationTimestamp, deletionTimestamp, finalizers
  resources           total, deleted, failed; null where only metadata was read
  synthesisUUID       likewise";

/// Of `compositions`.
pub(super) const COMPOSITIONS: &str = "\
Lists compositions with their state, and what they wait for.

States:
  Pending              nothing was synthesized yet
  Synthesizing         the first synthesis is in flight
  Resynthesizing       another synthesis is in flight
  Retrying             the synthesis was given up, and is tried again
  Reconciling          the resources are being made
  NotReady, Ready      they are made
  DeletionRequested    Eno has not seen the deletion
  WaitingOnDependents  it goes after what depends on it
  Deleting             the resources are being deleted
  Orphaning            they are left behind on purpose
  Deleted              they are gone; Eno's finalizer is still on it
  Finished             Eno has finished with it
  Unknown              it could not be read

BLOCKED-BY holds codes; \"kubectl eno why\" has the sentences. A composition is
stuck when something blocks it for longer than --stuck-after: since its
deletion, else since its latest synthesis. SLICES are those of the current
synthesis, existing/all where some are missing. RESOURCES are reconciled/all,
or deleted/all in a deletion; they are read where Eno is at work on them, and
with -o wide.

-w on a terminal draws the list again as it changes: what is stuck first, and
for five seconds what went, as Gone, or as Left where the flags select it no
more. Elsewhere a line is added for each change, with an EVENT: ADDED, MODIFIED,
DELETED or LEFT; -o json and yaml print type and object, JSON one on each line.
While the connection is lost, what is shown is STALE.

-o json and yaml print a List (a single composition that is named: that
composition alone) of items with these fields:
  namespace, name, uid, state, message
  blockers, stuck, waitingSince, creationTimestamp, deletionTimestamp,
  finalizers          as of \"kubectl eno slices\"
  synthesizer, symphony, dependsOn
  syntheses           uuids: current, previous, inFlight
  slices              total, missing
  resources           total, reconciled, deleted, failed; null where not read";

/// Of `report`.
pub(super) const REPORT: &str = "\
Writes a report to read in a browser, as one HTML file: totals, what is stuck
and since when, a graph of symphonies, compositions and slices, and tables of
all compositions and slices with every verdict and its reason.

The file needs nothing else: it loads nothing, asks no network, and can be read
without its script, on paper, and in the dark. The script filters and searches.
It tells names and what Eno says of its objects, but no manifests. Resources are
read where Eno is at work on them, as by \"kubectl eno compositions\".";

/// Of `completion`.
pub(super) const COMPLETION: &str = "\
Prints a script by which a shell completes the command line of kubectl-eno:
commands, flags, and the names of what there is, in the cluster and namespace
that the line names, or in the files of -f. Names that do not come within a
second are left out.

\"kubectl eno\" is completed by kubectl's own completion, which asks a program
kubectl_complete-eno on PATH. \"completion kubectl\" prints that program: krew
cannot install it.";

/// Of `top`.
pub(super) const TOP: &str = "\
Shows compositions, slices, pods of synthesizers and the webhook's state, as
they are now, in a terminal of 40 by 12 characters or more. What is stuck comes
first. ? lists the keys.

Of pods it shows the end, too, where eno-webhook's outbox can be read.

Keys that change something run cleanup, release (of a pod, pods release) and
resynth: they show what would be done, have it checked by the API server, and then ask as these commands
do. Backups go to --backup-dir.

While the connection is lost, what is shown is called STALE, and heals by
itself. With -f, files are shown, and nothing can be changed.

--plain is for screen readers: plain lines, one for each change, and commands
that are typed as words (\"help\" lists them). It ends with its input.";

/// Of `version`.
pub(super) const VERSION: &str = "\
Prints the versions of the plugin, the API server, Eno's CRDs and the webhook.

The webhook's version and mode are those of the pods behind its Service: by
their label app.kubernetes.io/version or the tag of their image, and by their
arguments. Of a webhook that is reached by URL they cannot be told.

-o json and yaml print one object with these fields:
  clientVersion       gitVersion, platform
  serverVersion       likewise
  definitions         Eno's kinds: name, versions that are served
  webhook             configured, place, versions, modes, message; null where
                      it cannot be told";

/// Of `snapshot`.
pub(super) const SNAPSHOT: &str = "\
Writes compositions, slices, symphonies, synthesizers and namespaces to a file
or to stdout. All commands that read take it with -f, and judge it as of the
time it was taken. A snapshot of all namespaces that lacks nothing needs no
--complete; one that lacks something ignores it, and says so.

Manifests are cut to apiVersion, kind, namespace and name, unless --full asks
for them; those of Secrets always are. Secrets themselves are never read. A
slice whose manifests were cut has the annotation
kubectl-eno.dev/manifests-cut: it tells what must be deleted, and no more.";

/// Of `wait`.
pub(super) const WAIT: &str = "\
Waits until a resource slice or a composition is deleted, or reconciled. What it
waits for is said on stderr whenever that changes, with the time since the wait
began. The result is one line on stdout.

An object of the same name that is made meanwhile is another one: the first is
deleted then. What does not exist is deleted.

Exits with 124 after --timeout, saying what it waited for at last.";

/// Of `doctor`.
pub(super) const DOCTOR: &str = "\
Checks the API server, Eno's kinds and controllers, the webhook (configuration,
endpoints, certificates, and by two dry runs that it is asked: one that must be
denied, one that must pass), slices whose deletion would orphan resources, and
what you may do. Nothing is changed.

Looks at all namespaces, unless -n names one. A check that cannot tell is
skipped, and never passes. Exits with 1 where a check failed; a warning is no
failure.

-o json and yaml print a List of checks with these fields:
  id         stable; --explain ID says what it looks at, without a cluster
  section    cluster, controllers, webhook, slices or you
  outcome    passed, warning, failed or skipped
  message, details";
