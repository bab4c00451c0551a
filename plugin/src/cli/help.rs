//! The long texts of the help. Lines are short enough not to be broken.

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

Commands only read, but for cleanup, release, resynth and restore, and for top,
which runs the first three: these say where they write and as whom, and ask
first. Flags go after \"eno\": kubectl takes none before the name of a plugin.
\"kubectl eno options\" lists those that every command takes.";

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

Keys that change something run cleanup, release and resynth: they show what
would be done, have it checked by the API server, and then ask as these commands
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

/// Of `orphans`.
pub(super) const ORPHANS: &str = "\
Lists resources that Eno made, that still exist, and that no slice holds any
more: nothing deletes them. Known are the resources of all slices, and of those
of snapshots and backups (--from). A slice holds its resources while a current
synthesis lists it, or may come to list it. Only slices of the namespace are
asked what they know (-A: all); slices of all namespaces are asked what they
hold, so that the right to list slices and compositions everywhere is needed.

Eno's objects do not say which cluster the resources are in, so it must be said:
--target-same, --target-context or --target-kubeconfig. With -f, resources are
looked for among the objects of the files. That one exists does not prove that
Eno made it: look before you delete. Exits with 2 where it cannot tell.

-o json and yaml print a List of items with these fields:
  apiVersion, kind, namespace, name
  presence            Exists, Terminating or Unknown; message says more
  slice               where it is known from: namespace, name, composition
  knownFrom           cluster or snapshot";

/// Of `plan-delete`.
pub(super) const PLAN_DELETE: &str = "\
Says what the deletion of a composition, symphony, namespace or slice would do,
before anybody asks for it: what happens in which order; which resources Eno
deletes, which it leaves behind by design, and which may be orphaned by
accident; what the deletion would wait for; the known ways in which Eno loses
resources (dangers); and what eno-webhook would answer, if it is installed. It
only reads. Exits with 2 where what decides could not be read.

Whether resources exist is looked at only where a flag says which cluster they
are in (--target-same, --target-kubeconfig, --target-context). Other compositions
that make the same resources are looked for in the namespace.

-o json and yaml print one object with these fields:
  kind, namespace, name, cascade, message
  steps               in order: what, happens
  deleted, leftBehind, atRisk
                      resources: apiVersion, kind, namespace, name, presence
  blockers, dangers   code, message
  webhook             outcome (allow, deny, retry), ground, message, warnings
  command             null where it is being deleted already";

/// Of `tree`.
pub(super) const TREE: &str = "\
Draws what hangs below what: symphonies, their compositions, what these depend
on, their syntheses, the slices of each, and the resources of the slices of the
current synthesis.

STATE is the state of a symphony, composition or synthesis; the verdict on a
slice; and of a resource what its slice says: Pending, Reconciled, Failing,
Deleting (a tombstone) or Deleted. Whether a resource exists is looked at only
where a flag says which cluster it is in (--target-same, --target-kubeconfig,
--target-context): Eno may reconcile into another one. With -f it is looked for
among the objects of the files.

-w draws it again as it changes, until the object that is named is gone. Not on
a terminal, a line is added for each node that changes, with an EVENT: ADDED,
MODIFIED or DELETED.

-o json and yaml print nodes (a List of them where no object is named) with
these fields:
  kind, namespace, name, state, reason, creationTimestamp, children
  presence            of a resource: Exists, Terminating, Gone, Unknown or
                      NotLookedAt";

/// Of `why`.
pub(super) const WHY: &str = "\
Explains why an object is kept, held or stuck: the facts in the order in which
they count, each with the field it is read from; the verdict or state; what it
waits for; what would be lost by force; what to do next.

The type is resourceslice, composition, symphony, namespace or pod (of a
synthesizer) in any spelling of kubectl's (plural, with .eno.azure.io), or
slice, comp, ns, po. Exits with 2 where the verdict is Unknown.

Whether the resources that force would leave behind exist is looked at only
where a flag says which cluster they are in (--target-same,
--target-kubeconfig, --target-context): Eno may reconcile into another one.
With -f they are looked for among the objects of the files.

-w draws it again as it changes, until the object is gone. Not on a terminal,
all of it is printed again where something else than a time has changed.

-o json and yaml print one object with these fields:
  kind, namespace, name, uid, message, now
  verdict, reason     of a slice
  state               of others; of a composition as of \"kubectl eno
                      compositions\"
  syntheses, slices, deletionSteps   of a composition
  compositions        of a symphony or namespace
  cause               of a pod: why Eno has no use for it, in Eno's own words
  because             the facts: fact, source
  blockers, stuck, waitingSince, creationTimestamp, deletionTimestamp
                      as of \"kubectl eno slices\"
  orphans             what force would leave behind: apiVersion, kind,
                      namespace, name, presence (Exists, Terminating, Gone,
                      Unknown or NotLookedAt)
  next                what to do: what, command";

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

/// Of `cleanup`.
pub(super) const CLEANUP: &str = "\
Deletes the resource slices whose verdict is Collect, and takes Eno's finalizer
off those whose verdict is Release. It shows them first, and asks.

Just before each write the slice and the compositions of its namespace are read
again. Where the verdict is another by then, the slice is skipped; uid and
resourceVersion of what was judged go with each write, so that nothing newer is
hit. Slices whose verdict is Hold or Unknown are never touched: there is no
--force. See \"kubectl eno release\" for single ones.

Slices without an owner are kept, unless --unowned is given: then those that no
composition lists go as well.

-o json prints a List of items with these fields:
  namespace, name, uid, composition, reason, message, creationTimestamp
  action              Collect or Release
  outcome             deleted, released, gone, skipped or failed
  finalizerReleased   has Eno's finalizer come off?
  why                 why it was skipped, or failed
  previewTimestamp    when it was listed";

/// Of `resynth`.
pub(super) const RESYNTH: &str = "\
Asks Eno for a new synthesis of a composition, by its annotation
eno.azure.io/force-resynthesis. That heals a slice which is being deleted though
the composition needs it: the new synthesis writes new slices, and the old one
is needed by nobody then.

It is refused, with exit code 4, where Eno would ignore it: the composition is
being deleted, was never synthesized, waits for inputs or other compositions, or
a synthesis is in flight. And where it could orphan resources: composition or
synthesizer have changed since the current synthesis, or the annotation
eno.azure.io/ignore-side-effects forbids it; these, and a synthesis in flight,
--force passes over.";

/// Of `release`.
pub(super) const RELEASE: &str = "\
Takes one finalizer off a resource slice or a composition that is being deleted,
and leaves all others. What still needs the object is refused with exit code 4,
unless --force is given: then its resources are left behind, and nobody deletes
them.

It says what would be lost, writes a backup (for \"kubectl eno restore\"), tries
the removal on the server, and asks to type the name; --yes skips the question,
and not --force. Where our webhook denies the removal, and --force is given, the
annotation kubectl-eno.dev/force is set in the same step: that overrides it, if
you may \"force\" the resource. Then it looks for 5 s what came of it: gone,
held by others, or put back, and by whom.

Of several objects none is released where one is refused.";

/// Of `restore`.
pub(super) const RESTORE: &str = "\
Makes lost resource slices again: those of the file that a current or previous
synthesis lists, and that do not exist. A composition that is being deleted
waits for such a slice for ever. The slice gets its name, its manifests, Eno's
finalizer, and the composition as it is now for its owner; no status.

What exists is left as it is. Slices that no synthesis lists, whose namespace is
being deleted or whose manifests were cut are not restored; where there are only
such, the exit code is 4.";

/// Of `pods`.
pub(super) const PODS: &str = "\
Lists the pods that eno-webhook follows to their end: those of Eno's
synthesizers, and what else its operator has chosen.

States:
  Followed   it lives
  Going      something says that it ends; it is looked at until that is certain
  Ended      it has ended, and not everyone has been told

CAUSE says how it ended: Gone, Replaced (its name belongs to another pod), Moved
or SandboxChanged. A pod is stuck when it goes on for longer than --stuck-after
beyond the time it was given. Stuck ones come first, then those that are going.

What is shown is what the webhook has written down; pods that live are written
down in batches.

-o json and yaml print a List of items with these fields:
  namespace, name, uid, state, cause, node, stuck
  composition         NAMESPACE/NAME of the one it works for
  sandbox             what tells it: source, id
  since               since when it is going, or when it ended
  deletionTimestamp   until when it was given
  undelivered         how many of its ends are undelivered";

/// Of `pods release`.
pub(super) const PODS_RELEASE: &str = "\
Deletes a pod at once (grace period 0) that is being deleted, and whose node will
not say that it has ended: the node is gone from the API, or has the taint
node.kubernetes.io/out-of-service. Any other node may still run it; then it is
refused with exit code 4, and says what to do. There is no --force.

uid and resourceVersion of what was looked at go with the request. eno-webhook
sees the pod's end, and tells everyone.";

/// Of `pods undelivered`.
pub(super) const PODS_UNDELIVERED: &str = "\
Lists the ends of pods that not everyone has been told: Pending ones are tried
until they succeed, Dead ones were given up, as a sink would not take them.

-o json and yaml print a List of items with these fields:
  id, sequence, cause, node, sandbox, podIPs, labels, serviceAccount,
  observedAt, deletedAt, confirmed, and pod: namespace, name, uid
                      as receivers get them
  sinks               name, state (Pending or Dead), why";

/// Of `pods redeliver`.
pub(super) const PODS_REDELIVER: &str = "\
Asks eno-webhook to tell ends of pods again that a sink would not take, and waits
until it has begun. Receivers get the same id as before.";

/// Of `pods drop`.
pub(super) const PODS_DROP: &str = "\
Asks eno-webhook to tell nobody any more of ends of pods. They are lost to the
sinks that have not got them.";

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
