//! Who holds a deletion or a synthesis up, as far as the objects show it.
//!
//! An object is *stuck* when it has a blocker and has waited longer than the asker's patience. A blocker alone
//! says only what is being waited for. The codes are a closed list, apart from verdicts; `S…` are the rows of the research
//! into Eno's bugs, which say why the state does not end by itself.

mod composition;
mod live;
mod manifests;
mod sentence;
mod slice;
mod surroundings;

pub use composition::composition_blockers;
pub use manifests::manifest_blockers;
pub use slice::slice_blockers;
pub use surroundings::{EnoObjects, namespace_blockers, pod_blockers, symphony_blockers};

/// What an object waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocker {
    /// Compositions that depend on this one still exist.
    DependentsExist {
        /// `namespace/name` of each.
        dependents: Vec<String>,
    },
    /// Compositions depend on each other in a circle: each waits for the next (S4).
    CircularDependency {
        /// The circle, `namespace/name` of each.
        circle: Vec<String>,
    },
    /// Eno waits for dependents that have ceased to depend on it, or to exist, and does not look again (S5).
    StaleDependents {
        /// `namespace/name` of each.
        dependents: Vec<String>,
    },
    /// Compositions that this one depends on are not ready.
    DependenciesNotReady {
        /// `namespace/name` of each.
        dependencies: Vec<String>,
    },
    /// The synthesizer does not exist.
    SynthesizerMissing {
        /// Its name.
        synthesizer: String,
    },
    /// The synthesizer is chosen by a label selector only, which no controller of Eno's reads (S16).
    SelectorIgnored,
    /// A name is longer than a label may be, so that Eno cannot make the synthesizer's pod (S17).
    NameTooLong {
        /// The name.
        name: String,
    },
    /// Inputs of the synthesizer are missing: no synthesis begins, not even one that is forced (S22).
    InputsMissing,
    /// The synthesis was given up, and is tried again.
    SynthesisFailing {
        /// What Eno says of it; may be empty.
        error: String,
    },
    /// Eno's controller has not seen the deletion: it is slow, or not running.
    DeletionNotObserved,
    /// A synthesis is in flight, and may still make slices.
    SynthesisInFlight {
        /// Its uuid.
        uuid: String,
    },
    /// Some slices of the current synthesis do not exist: Eno's reconciler waits for them for ever (S1).
    MissingSlice {
        /// Their names.
        slices: Vec<String>,
    },
    /// Slices of the current synthesis have lost their owner, so that nothing wakes Eno for them (S20).
    SlicesUnowned {
        /// Their names.
        slices: Vec<String>,
    },
    /// A resource is in the synthesis twice; one of the two never gets a state (S6).
    DuplicateResource {
        /// The resource.
        resource: String,
        /// The slices that hold it.
        slices: Vec<String>,
    },
    /// A manifest is no object of Kubernetes'; Eno tries the slice again and again (S12).
    MalformedManifest {
        /// The slice that holds it.
        slice: String,
        /// Its index in the slice.
        index: usize,
    },
    /// A definition is in a later readiness group than an object of its kind: each waits for the other (S7).
    ReadinessDeadlock {
        /// The definition.
        definition: String,
        /// The object of its kind.
        resource: String,
    },
    /// The annotation that lets the composition go with its symphony does nothing without one (S26).
    ForceDeleteIneffective,
    /// No reconciler has ever written a state into the slice (S8).
    NoReconcilerSeen,
    /// Resources cannot be reconciled.
    ReconcileError {
        /// The first error.
        error: String,
        /// How many resources have one.
        resources: usize,
    },
    /// Resources of the slice are not deleted yet.
    ResourcesLeft {
        /// Resources not known to be deleted.
        left: usize,
        /// Resources in all.
        of: usize,
    },
    /// Resources are not reconciled yet.
    Unreconciled {
        /// Resources not known to be reconciled.
        left: usize,
        /// Resources in all.
        of: usize,
    },
    /// The slice's own resources are deleted, and Eno has yet to call the composition reconciled: others of its slices are
    /// left, or the wake-up was lost (S2).
    NotReconciled {
        /// The composition.
        composition: String,
    },
    /// The slice's status does not match its resources; Eno's executor fails on it (S23).
    StatusMismatch {
        /// States in the status.
        states: usize,
        /// Resources in the spec.
        resources: usize,
    },
    /// The slice is being deleted though a live composition needs it; only a new synthesis frees it (L7).
    ResynthesisNeeded {
        /// The composition.
        composition: String,
    },
    /// As before, and the composition forbids automatic syntheses (S9).
    SideEffectsIgnored {
        /// The composition.
        composition: String,
    },
    /// The slice has no composition as controller owner: Eno's cleanup fails on it for ever (S3).
    NoOwner,
    /// Finalizers that are not Eno's.
    ForeignFinalizer {
        /// Their names.
        finalizers: Vec<String>,
    },
    /// The namespace is being deleted: what is missing there cannot be made again (S19).
    NamespaceTerminating,
    /// Compositions of the symphony still exist.
    CompositionsLeft {
        /// Their names.
        compositions: Vec<String>,
    },
    /// Compositions of the symphony are not reconciled.
    CompositionsUnreconciled {
        /// Their names.
        compositions: Vec<String>,
    },
    /// Eno's objects in the namespace still exist.
    ObjectsLeft {
        /// Symphonies.
        symphonies: usize,
        /// Compositions.
        compositions: usize,
        /// Slices.
        slices: usize,
    },
    /// The pod's time to end is over, and its node has not said that it ended.
    PodOverdue,
    /// Nothing holds it any more, and yet it is there: nobody releases or collects it.
    NobodyActs,
}

impl Blocker {
    /// The code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Blocker::DependentsExist { .. } => "DependentsExist",
            Blocker::CircularDependency { .. } => "CircularDependency",
            Blocker::DeletionNotObserved => "DeletionNotObserved",
            Blocker::SynthesisInFlight { .. } => "SynthesisInFlight",
            Blocker::MissingSlice { .. } => "MissingSlice",
            Blocker::NoReconcilerSeen => "NoReconcilerSeen",
            Blocker::ReconcileError { .. } => "ReconcileError",
            Blocker::ResourcesLeft { .. } => "ResourcesLeft",
            Blocker::NotReconciled { .. } => "NotReconciled",
            Blocker::StatusMismatch { .. } => "StatusMismatch",
            Blocker::ResynthesisNeeded { .. } => "ResynthesisNeeded",
            Blocker::SideEffectsIgnored { .. } => "SideEffectsIgnored",
            Blocker::NoOwner => "NoOwner",
            Blocker::ForeignFinalizer { .. } => "ForeignFinalizer",
            Blocker::NamespaceTerminating => "NamespaceTerminating",
            Blocker::StaleDependents { .. } => "StaleDependents",
            Blocker::DependenciesNotReady { .. } => "DependenciesNotReady",
            Blocker::SynthesizerMissing { .. } => "SynthesizerMissing",
            Blocker::SelectorIgnored => "SelectorIgnored",
            Blocker::NameTooLong { .. } => "NameTooLong",
            Blocker::InputsMissing => "InputsMissing",
            Blocker::SynthesisFailing { .. } => "SynthesisFailing",
            Blocker::SlicesUnowned { .. } => "SlicesUnowned",
            Blocker::DuplicateResource { .. } => "DuplicateResource",
            Blocker::MalformedManifest { .. } => "MalformedManifest",
            Blocker::ReadinessDeadlock { .. } => "ReadinessDeadlock",
            Blocker::ForceDeleteIneffective => "ForceDeleteIneffective",
            Blocker::Unreconciled { .. } => "Unreconciled",
            Blocker::CompositionsLeft { .. } => "CompositionsLeft",
            Blocker::CompositionsUnreconciled { .. } => "CompositionsUnreconciled",
            Blocker::ObjectsLeft { .. } => "ObjectsLeft",
            Blocker::PodOverdue => "PodOverdue",
            Blocker::NobodyActs => "NobodyActs",
        }
    }
}
