//! Of the commands that explain.

/// Of `orphans`.
pub(in crate::cli) const ORPHANS: &str = "\
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
pub(in crate::cli) const PLAN_DELETE: &str = "\
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
pub(in crate::cli) const TREE: &str = "\
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
pub(in crate::cli) const WHY: &str = "\
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
