//! The checks by their stable ids, and what each is about.

use serde::{Serialize, Serializer};

/// A check. Ids never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    Api,
    Crds,
    EnoController,
    EnoReconciler,
    WebhookConfig,
    WebhookPolicy,
    WebhookEndpoint,
    WebhookCa,
    WebhookCertificate,
    ProbeDeny,
    ProbeAllow,
    SlicesTerminating,
    Namespaces,
    RightsRead,
    RightsWrite,
}

impl Id {
    /// All, in the order in which they are shown.
    pub(super) const ALL: [Id; 15] = [
        Id::Api,
        Id::Crds,
        Id::EnoController,
        Id::EnoReconciler,
        Id::WebhookConfig,
        Id::WebhookPolicy,
        Id::WebhookEndpoint,
        Id::WebhookCa,
        Id::WebhookCertificate,
        Id::ProbeDeny,
        Id::ProbeAllow,
        Id::SlicesTerminating,
        Id::Namespaces,
        Id::RightsRead,
        Id::RightsWrite,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Id::Api => "API",
            Id::Crds => "CRDS",
            Id::EnoController => "ENO-CONTROLLER",
            Id::EnoReconciler => "ENO-RECONCILER",
            Id::WebhookConfig => "WEBHOOK-CONFIG",
            Id::WebhookPolicy => "WEBHOOK-POLICY",
            Id::WebhookEndpoint => "WEBHOOK-ENDPOINT",
            Id::WebhookCa => "WEBHOOK-CA",
            Id::WebhookCertificate => "WEBHOOK-CERTIFICATE",
            Id::ProbeDeny => "PROBE-DENY",
            Id::ProbeAllow => "PROBE-ALLOW",
            Id::SlicesTerminating => "SLICES-TERMINATING",
            Id::Namespaces => "NAMESPACES",
            Id::RightsRead => "RIGHTS-READ",
            Id::RightsWrite => "RIGHTS-WRITE",
        }
    }

    pub(super) fn section(self) -> &'static str {
        match self {
            Id::Api | Id::Crds => "cluster",
            Id::EnoController | Id::EnoReconciler => "controllers",
            Id::WebhookConfig
            | Id::WebhookPolicy
            | Id::WebhookEndpoint
            | Id::WebhookCa
            | Id::WebhookCertificate
            | Id::ProbeDeny
            | Id::ProbeAllow => "webhook",
            Id::SlicesTerminating | Id::Namespaces => "slices",
            Id::RightsRead | Id::RightsWrite => "you",
        }
    }

    /// What it looks at, and what to do where it fails.
    pub(super) fn explanation(self) -> &'static str {
        match self {
            Id::Api => {
                "Asks the API server for its version.\n\
                 Fails where it does not answer, or does not accept the credentials. Then nothing\n\
                 else can be checked: see `kubectl version` and the context of the kubeconfig."
            }
            Id::Crds => {
                "Eno's kinds must be served in version v1 of eno.azure.io: compositions,\n\
                 resourceslices, symphonies and synthesizers. Fails where one is not: install\n\
                 Eno, or its CRDs. A CRD that is being deleted takes all objects of its kind\n\
                 along, and what they hold is orphaned."
            }
            Id::EnoController => {
                "Looks for pods with the label app=eno-controller, and for the Lease that one of\n\
                 them holds.\n\
                 eno-controller sees deletions, collects slices and releases finalizers: without\n\
                 it they wait for ever.\n\
                 Skipped where there is none: it may run elsewhere, or under another label."
            }
            Id::EnoReconciler => {
                "Looks for pods with the label app=eno-reconciler, and for the Lease that one of\n\
                 them holds.\n\
                 eno-reconciler creates and deletes the resources: without it no deletion ends.\n\
                 Skipped where there is none: it may run elsewhere, or under another label."
            }
            Id::WebhookConfig => {
                "The validating and the mutating configuration of eno-webhook must name all of\n\
                 its hooks.\n\
                 Without them nothing protects slices: `eno-webhook print-config` prints both, to\n\
                 be applied."
            }
            Id::WebhookPolicy => {
                "Hooks that protect must have failurePolicy Fail: with Ignore, what they would\n\
                 deny passes while the webhook is away. Those that only help must have Ignore, so\n\
                 that they never stand in the way."
            }
            Id::WebhookEndpoint => {
                "The Service that the configuration names must exist and have a ready endpoint.\n\
                 Fails where it does not: the API server then refuses all that hooks with\n\
                 failurePolicy Fail look at.\n\
                 Skipped where the configuration names a URL."
            }
            Id::WebhookCa => {
                "The CA bundle of the configuration must hold certificates that are valid now.\n\
                 Skipped where there is none: then the API server's own trust decides."
            }
            Id::WebhookCertificate => {
                "Connects to the webhook, and checks its certificate as the API server does:\n\
                 signed by the CA bundle, valid now, for the name that the configuration gives. A\n\
                 warning where it ends soon (--cert-warn).\n\
                 Skipped where the webhook cannot be reached from here, which is usual outside of\n\
                 the cluster: whether the API server trusts it, PROBE-DENY and PROBE-ALLOW show."
            }
            Id::ProbeDeny => {
                "Deletes a slice that is needed, as a dry run: nothing is deleted, and\n\
                 eno-webhook must deny it. Where it only warns (--mode=warn), the warning must\n\
                 come; where it only records (--mode=audit), the API server's metrics must count\n\
                 the call. Fails where the deletion passes without a word and without a call.\n\
                 Skipped where there is no such slice, or you may not delete slices."
            }
            Id::ProbeAllow => {
                "Deletes a slice that nothing needs, as a dry run; where there is none, creates\n\
                 one, as a dry run. It must pass. Fails where the webhook denies it, or cannot be\n\
                 reached and so stops what has nothing to do with it.\n\
                 Skipped where you may not do it."
            }
            Id::SlicesTerminating => {
                "Slices that are being deleted though a live composition needs them: deleted\n\
                 before the webhook stood there, or by force. What the next synthesis no longer\n\
                 contains is orphaned, so that a new synthesis that changes nothing should come\n\
                 first: `kubectl eno resynth`."
            }
            Id::Namespaces => {
                "Compositions and slices in namespaces that do not exist. While an API server\n\
                 starts, its discovery may lack the kinds of CRDs: Kubernetes then takes a\n\
                 namespace that is being deleted for empty, and lets it go without what is in\n\
                 it. Nobody will delete that, and its resources stay.\n\
                 Create the namespace again and delete it: Eno cleans up then. Without it, each\n\
                 webhook with a namespaceSelector has the API server refuse what Eno writes."
            }
            Id::RightsRead => {
                "What this plugin reads, by SelfSubjectAccessReview: slices and compositions, and\n\
                 better namespaces too.\n\
                 Fails where you may not list slices or compositions: without them nothing can be\n\
                 judged."
            }
            Id::RightsWrite => {
                "What the commands that write need, by SelfSubjectAccessReview. A warning names\n\
                 what you may not do, and which command needs it; whoever only reads can ignore\n\
                 it."
            }
        }
    }

    /// By its name, in any case.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Id::ALL.into_iter().find(|id| id.as_str().eq_ignore_ascii_case(text))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
