//! The table of hooks. The router takes its paths from it and `print-config` its rules, so that no hook lacks a handler.

use std::fmt;

use eno_shared::api::{Composition, Kind, ResourceSlice, Symphony};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_GROUP, ENO_VERSION, HOOK_DOMAIN};

/// One hook: a kind of request that the API server asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hook {
    /// C1: a slice is deleted.
    SlicesDelete,
    /// C2: a slice loses Eno's finalizer or its composition.
    SlicesUpdate,
    /// C3: a slice is created.
    SlicesCreate,
    /// C4: a composition loses Eno's finalizer.
    CompositionsUpdate,
    /// C5: a composition is deleted.
    CompositionsDelete,
    /// C5: a symphony is deleted.
    SymphoniesDelete,
    /// C6: a CustomResourceDefinition of Eno's is deleted.
    DefinitionsDelete,
    /// D: a pod is deleted.
    PodsDelete,
    /// D: a pod is evicted, which deletes it without asking [`Hook::PodsDelete`].
    PodsEvict,
}

/// What is done to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is created.
    Create,
    /// It is changed.
    Update,
    /// It is deleted, alone or as one of a collection.
    Delete,
}

impl Operation {
    /// The word of the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

/// What the API server does where the webhook does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It refuses the request.
    Fail,
    /// It lets the request pass.
    Ignore,
}

/// The requests that belong to a hook.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Group of the resource.
    pub group: &'static str,
    /// Version of the resource.
    pub version: &'static str,
    /// Plural of the resource.
    pub resource: &'static str,
    /// The subresource, where it is not the object itself.
    pub subresource: Option<&'static str>,
    /// Does it live in a namespace?
    pub namespaced: bool,
    /// What is done to it.
    pub operation: Operation,
    /// Name and CEL expression of the condition without which the API server does not ask. It must evaluate on every
    /// object: where a hook fails closed, an error is a denial without a call.
    pub condition: Option<(&'static str, String)>,
    /// What happens where the webhook does not answer.
    pub on_failure: OnFailure,
}

impl Hook {
    /// All hooks.
    pub const ALL: [Hook; 9] = [
        Hook::SlicesDelete,
        Hook::SlicesUpdate,
        Hook::SlicesCreate,
        Hook::CompositionsUpdate,
        Hook::CompositionsDelete,
        Hook::SymphoniesDelete,
        Hook::DefinitionsDelete,
        Hook::PodsDelete,
        Hook::PodsEvict,
    ];

    /// The word: path of the hook, first part of its name, metric label.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Hook::SlicesDelete => "slices-delete",
            Hook::SlicesUpdate => "slices-update",
            Hook::SlicesCreate => "slices-create",
            Hook::CompositionsUpdate => "compositions-update",
            Hook::CompositionsDelete => "compositions-delete",
            Hook::SymphoniesDelete => "symphonies-delete",
            Hook::DefinitionsDelete => "definitions-delete",
            Hook::PodsDelete => "pods-delete",
            Hook::PodsEvict => "pods-evict",
        }
    }

    /// Its name in the webhook configuration.
    #[must_use]
    pub fn full_name(self) -> String {
        format!("{self}.{HOOK_DOMAIN}")
    }

    /// Its path on the webhook's server.
    #[must_use]
    pub fn path(self) -> String {
        format!("/{self}")
    }

    /// Does it change the object? All others only look.
    #[must_use]
    pub fn mutates(self) -> bool {
        match self {
            Hook::SlicesCreate => true,
            Hook::SlicesDelete
            | Hook::SlicesUpdate
            | Hook::CompositionsUpdate
            | Hook::CompositionsDelete
            | Hook::SymphoniesDelete
            | Hook::DefinitionsDelete
            | Hook::PodsDelete
            | Hook::PodsEvict => false,
        }
    }

    /// May someone with the right to it override a denial?
    #[must_use]
    pub fn can_be_forced(self) -> bool {
        match self {
            Hook::SlicesDelete | Hook::SlicesUpdate | Hook::CompositionsUpdate => true,
            Hook::SlicesCreate
            | Hook::CompositionsDelete
            | Hook::SymphoniesDelete
            | Hook::DefinitionsDelete
            | Hook::PodsDelete
            | Hook::PodsEvict => false,
        }
    }

    /// Is it about pods? Those hooks only listen: they allow everything.
    #[must_use]
    pub fn is_of_pods(self) -> bool {
        matches!(self, Hook::PodsDelete | Hook::PodsEvict)
    }

    /// Does an answer of it cause anything but the answer? Overrides, and resources that may be orphaned, are told in an
    /// Event; pods are followed.
    #[must_use]
    pub fn has_side_effects(self) -> bool {
        self.can_be_forced() || self.is_of_pods()
    }

    /// The requests that belong to it.
    #[must_use]
    pub fn rule(self) -> Rule {
        use OnFailure::{Fail, Ignore};
        use Operation::{Create, Delete, Update};
        let slices = eno::<ResourceSlice>;
        let compositions = eno::<Composition>;
        match self {
            Hook::SlicesDelete => slices(Delete, Fail, None),
            Hook::SlicesUpdate => {
                let drops = format!("{UPDATE} && ({} || {})", drops_finalizer(), drops_owner());
                slices(Update, Fail, Some(("drops-finalizer-or-owner", drops)))
            }
            // Eno's own slices have both, and are not delayed.
            Hook::SlicesCreate => {
                let lacks = format!("!({}) || !({})", has_finalizer("object"), has_owner("object"));
                slices(Create, Ignore, Some(("lacks-finalizer-or-owner", lacks)))
            }
            Hook::CompositionsUpdate => {
                let drops = format!("{UPDATE} && {}", drops_finalizer());
                compositions(Update, Fail, Some(("drops-finalizer", drops)))
            }
            Hook::CompositionsDelete => compositions(Delete, Ignore, None),
            Hook::SymphoniesDelete => eno::<Symphony>(Delete, Ignore, None),
            // Only Eno's: a webhook that is down must not stop the deletion of any other definition.
            Hook::DefinitionsDelete => Rule {
                group: "apiextensions.k8s.io",
                version: "v1",
                resource: "customresourcedefinitions",
                subresource: None,
                namespaced: false,
                operation: Delete,
                condition: Some((
                    "is-of-eno",
                    format!("oldObject != null && oldObject.metadata.name.endsWith('.{ENO_GROUP}')"),
                )),
                on_failure: Fail,
            },
            // The kubelet's last deletion of a pod that is going is no news, and comes when it is in a hurry.
            Hook::PodsDelete => pods(
                None,
                Delete,
                Some(("is-not-going", "oldObject != null && !has(oldObject.metadata.deletionTimestamp)".to_owned())),
            ),
            Hook::PodsEvict => pods(Some("eviction"), Create, None),
        }
    }
}

impl Rule {
    /// The resource as rules name it: `pods/eviction`.
    #[must_use]
    pub fn resources(&self) -> String {
        let subresource = self.subresource.map_or(String::new(), |name| format!("/{name}"));
        format!("{}{subresource}", self.resource)
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn eno<K: Kind>(operation: Operation, on_failure: OnFailure, condition: Option<(&'static str, String)>) -> Rule {
    Rule {
        group: ENO_GROUP,
        version: ENO_VERSION,
        resource: K::PLURAL,
        subresource: None,
        namespaced: true,
        operation,
        condition,
        on_failure,
    }
}

fn pods(subresource: Option<&'static str>, operation: Operation, condition: Option<(&'static str, String)>) -> Rule {
    Rule {
        group: "",
        version: "v1",
        resource: "pods",
        subresource,
        namespaced: true,
        operation,
        condition,
        on_failure: OnFailure::Ignore,
    }
}

/// Both objects are there, as they are in an UPDATE.
const UPDATE: &str = "object != null && oldObject != null";

fn drops_finalizer() -> String {
    format!("({} && !({}))", has_finalizer("oldObject"), has_finalizer("object"))
}

fn has_finalizer(object: &str) -> String {
    format!("has({object}.metadata.finalizers) && '{CLEANUP_FINALIZER}' in {object}.metadata.finalizers")
}

/// The composition that controlled the slice does not any more, by name and uid.
fn drops_owner() -> String {
    let still = format!("{} && n.name == o.name && n.uid == o.uid", controls("n"));
    format!(
        "(has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(o, {} && \
         !(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(n, {still}))))",
        controls("o")
    )
}

fn has_owner(object: &str) -> String {
    format!("has({object}.metadata.ownerReferences) && {object}.metadata.ownerReferences.exists(o, {})", controls("o"))
}

fn controls(owner: &str) -> String {
    format!(
        "{owner}.apiVersion.startsWith('{ENO_GROUP}/') && {owner}.kind == '{}' && has({owner}.controller) && {owner}.controller",
        Composition::KIND
    )
}
