//! Of `pods`.

/// Of `pods`.
pub(in crate::cli) const PODS: &str = "\
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

-w shows changes as \"kubectl eno slices -w\" does. A pod is Gone, or its event
DELETED, when the webhook keeps nothing of it any more: it has ended, and
everyone has been told.

-o json and yaml print a List of items with these fields:
  namespace, name, uid, state, cause, node, stuck
  composition         NAMESPACE/NAME of the one it works for
  sandbox             what tells it: source, id
  since               since when it is going, or when it ended
  deletionTimestamp   until when it was given
  undelivered         how many of its ends are undelivered";

/// Of `pods release`.
pub(in crate::cli) const PODS_RELEASE: &str = "\
Deletes a pod at once (grace period 0) that is being deleted, and whose node will
not say that it has ended: the node is gone from the API, or has the taint
node.kubernetes.io/out-of-service. Any other node may still run it; then it is
refused with exit code 4, and says what to do. There is no --force.

uid and resourceVersion of what was looked at go with the request. eno-webhook
sees the pod's end, and tells everyone.";

/// Of `pods undelivered`.
pub(in crate::cli) const PODS_UNDELIVERED: &str = "\
Lists the ends of pods that not everyone has been told: Pending ones are tried
until they succeed, Dead ones were given up, as a sink would not take them.

-o json and yaml print a List of items with these fields:
  id, sequence, cause, node, sandbox, podIPs, labels, serviceAccount,
  observedAt, deletedAt, confirmed, and pod: namespace, name, uid
                      as receivers get them
  sinks               name, state (Pending or Dead), why";

/// Of `pods redeliver`.
pub(in crate::cli) const PODS_REDELIVER: &str = "\
Asks eno-webhook to tell ends of pods again that a sink would not take, and waits
until it has begun. Receivers get the same id as before.";

/// Of `pods drop`.
pub(in crate::cli) const PODS_DROP: &str = "\
Asks eno-webhook to tell nobody any more of ends of pods. They are lost to the
sinks that have not got them.";
