//! Every fixed name: Eno's, which we must spell as Eno does, and ours, which are spelled here and nowhere else.

/// API group of Eno's kinds. Kubernetes has another `ResourceSlice`, in `resource.k8s.io` (DRA).
pub const ENO_GROUP: &str = "eno.azure.io";
/// The only version of Eno's kinds that is served.
pub const ENO_VERSION: &str = "v1";
/// `apiVersion` of Eno's kinds.
pub const ENO_API_VERSION: &str = "eno.azure.io/v1";

/// The finalizer that Eno puts on slices, compositions and symphonies alike.
pub const CLEANUP_FINALIZER: &str = "eno.azure.io/cleanup";

/// Annotation of a composition: asks Eno for a new synthesis while it equals the uuid of the latest one.
pub const FORCE_RESYNTHESIS: &str = "eno.azure.io/force-resynthesis";
/// Annotation of a composition: `"true"` forbids automatic syntheses.
pub const IGNORE_SIDE_EFFECTS: &str = "eno.azure.io/ignore-side-effects";
/// Annotation of a composition: `orphan` leaves its resources behind when it is deleted.
pub const DELETION_STRATEGY: &str = "eno.azure.io/deletion-strategy";
/// Value of [`DELETION_STRATEGY`] that asks for orphaning.
pub const DELETION_STRATEGY_ORPHAN: &str = "orphan";
/// Label that Eno's symphony controller puts on the compositions of a deleted symphony: their resources are orphaned.
pub const SYMPHONY_DELETING: &str = "eno.azure.io/symphony-deleting";
/// Annotation of a composition: `"true"` lets Eno drop its finalizer once the owning symphony is gone.
pub const FORCE_DELETE_WHEN_SYMPHONY_GONE: &str = "eno.azure.io/forceDeleteWhenSymphonyGone";

/// Annotation of a resource: it waits for those of lower groups to be ready.
pub const READINESS_GROUP: &str = "eno.azure.io/readiness-group";

/// Label of a synthesizer's pod: the name of the composition it works for.
pub const POD_COMPOSITION: &str = "eno.azure.io/composition-name";
/// Label of a synthesizer's pod: the namespace of that composition.
pub const POD_COMPOSITION_NAMESPACE: &str = "eno.azure.io/composition-namespace";
/// Label of a synthesizer's pod: the synthesis it makes.
pub const POD_SYNTHESIS: &str = "eno.azure.io/synthesis-uuid";
/// Label of a synthesizer's pod: the synthesizer.
pub const POD_SYNTHESIZER: &str = "eno.azure.io/synthesizer-name";

/// Namespace the webhook is installed in.
pub const WEBHOOK_NAMESPACE: &str = "eno-webhook-system";
/// Name of the webhook's Deployment, Service, service account and Lease, and of both webhook configurations.
pub const WEBHOOK_NAME: &str = "eno-webhook";
/// Domain of the hooks: each is named `NAME.webhook.kubectl-eno.dev`.
pub const HOOK_DOMAIN: &str = "webhook.kubectl-eno.dev";
/// Annotation that overrides a denial, when it holds the object's own uid and the requester may `force`.
pub const FORCE_ANNOTATION: &str = "kubectl-eno.dev/force";
/// The verb a SubjectAccessReview asks for before an override counts.
pub const FORCE_VERB: &str = "force";
/// Label of the ConfigMaps that hold what is known of pods: [`OUTBOX_SHARD`] or [`OUTBOX_REQUEST`].
pub const OUTBOX_LABEL: &str = "kubectl-eno.dev/pod-outbox";
/// Value of [`OUTBOX_LABEL`]: pods that are followed, and destroys that are undelivered.
pub const OUTBOX_SHARD: &str = "shard";
/// Value of [`OUTBOX_LABEL`]: a request to the leader.
pub const OUTBOX_REQUEST: &str = "request";
/// Annotation of a shard: the format of its entries.
pub const OUTBOX_FORMAT: &str = "kubectl-eno.dev/outbox-format";
/// Annotation of a shard: the uid of the namespace `kube-system` of the cluster that it is of.
pub const CLUSTER_UID: &str = "kubectl-eno.dev/cluster-uid";
/// `reportingController` of our Events.
pub const REPORTING_CONTROLLER: &str = "kubectl-eno.dev/webhook";

/// Finalizer of the garbage collector for a foreground deletion.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// Finalizer of the garbage collector for a deletion that orphans the dependents.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// Label of the pods Eno's controller makes.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// Value of [`MANAGED_BY_LABEL`] on the pods Eno's controller makes.
pub const MANAGED_BY_ENO: &str = "eno";
