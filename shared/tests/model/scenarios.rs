//! What may happen in an exploration: who is there, how often they act, and what goes wrong.

use super::state::{Cascade, Mask};

#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    pub name: &'static str,
    /// Room for so many slices at a time.
    pub slices: usize,
    /// Each resource goes to a slice of its own.
    pub split: bool,
    pub dispatches: u8,
    pub spec_changes: u8,
    /// A user deletes slices so many times.
    pub slice_deletes: u8,
    /// A user strips finalizers of slices.
    pub strips: bool,
    /// A user strips the composition's finalizer.
    pub strips_composition: bool,
    pub recreations: u8,
    pub cascades: &'static [Cascade],
    pub namespace_deleted: bool,
    /// Eno's controller sees new slices late.
    pub stale_slices: bool,
    /// The reconciler sees the composition late.
    pub stale_composition: bool,
    pub reconciler_restarts: bool,
    pub executor_crashes: bool,
    pub cancels: bool,
    /// Requests are stored some time after they were admitted.
    pub late_writes: bool,
    /// Somebody deletes a resource that has a finalizer.
    pub resource_terminates: bool,
    /// Eno's slice controller wakes only on events of owned slices.
    pub by_events: bool,
    /// The first slice lacks the finalizer.
    pub without_finalizer: bool,
    /// The webhook is down for one DELETE.
    pub webhook_down: bool,
    pub start: Start,
    /// What the synthesizer emits, one after the other.
    pub outputs: &'static [Mask],
}

/// How it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A composition that was never synthesized.
    New,
    /// A reconciled composition.
    Live,
    /// The same, but the slices name an owner of another uid.
    Restored,
    /// The same, but the slices have no owner.
    Unowned,
}

use Cascade::{Background, Foreground, Orphan};

const BASE: Scenario = Scenario {
    name: "base",
    slices: 3,
    split: false,
    dispatches: 1,
    spec_changes: 1,
    slice_deletes: 0,
    strips: false,
    strips_composition: false,
    recreations: 0,
    cascades: &[Background, Foreground],
    namespace_deleted: false,
    stale_slices: false,
    stale_composition: false,
    reconciler_restarts: false,
    executor_crashes: false,
    cancels: false,
    late_writes: false,
    resource_terminates: false,
    by_events: false,
    without_finalizer: false,
    webhook_down: false,
    start: Start::Live,
    outputs: &[3, 1],
};

/// Scenarios in which nothing may be lost.
pub const SAFE: &[Scenario] = &[
    Scenario { slice_deletes: 1, strips: true, ..BASE },
    Scenario {
        name: "retry",
        dispatches: 2,
        cancels: true,
        executor_crashes: true,
        start: Start::New,
        outputs: &[1, 2],
        ..BASE
    },
    Scenario { name: "orphan", cascades: &[Orphan], slice_deletes: 1, by_events: true, ..BASE },
    Scenario { name: "namespace", namespace_deleted: true, ..BASE },
    Scenario {
        name: "namespace, nothing left to emit",
        namespace_deleted: true,
        cascades: &[Background],
        outputs: &[3, 0],
        ..BASE
    },
    Scenario { name: "split", split: true, slices: 4, spec_changes: 0, slice_deletes: 1, ..BASE },
    Scenario {
        name: "recreated",
        cascades: &[Background],
        recreations: 1,
        strips_composition: true,
        strips: true,
        slice_deletes: 1,
        slices: 2,
        outputs: &[1],
        ..BASE
    },
    Scenario { name: "stale slices", stale_slices: true, slices: 2, outputs: &[1, 3], ..BASE },
    Scenario { name: "stale composition", stale_composition: true, reconciler_restarts: true, slices: 2, ..BASE },
    Scenario { name: "composition stripped", spec_changes: 0, strips_composition: true, outputs: &[1], ..BASE },
    Scenario {
        name: "without finalizer",
        spec_changes: 0,
        slice_deletes: 1,
        without_finalizer: true,
        outputs: &[1],
        ..BASE
    },
    Scenario {
        name: "restored",
        cascades: &[Background, Foreground, Orphan],
        slice_deletes: 1,
        strips: true,
        start: Start::Restored,
        slices: 2,
        ..BASE
    },
    Scenario { name: "late writes", dispatches: 2, late_writes: true, outputs: &[1, 2], ..BASE },
    Scenario {
        name: "first synthesis",
        dispatches: 2,
        cancels: true,
        slice_deletes: 1,
        strips: true,
        start: Start::New,
        outputs: &[1, 2],
        slices: 2,
        ..BASE
    },
    // The slice is held until a new synthesis replaces it: no harm, as long as the spec stays as it is.
    Scenario { name: "webhook down, spec unchanged", spec_changes: 0, dispatches: 2, ..WEBHOOK_DOWN },
];

/// The limit that no rule can lift: Eno's own stale `deleted: true`.
pub const STALE_DELETED: Scenario = Scenario {
    name: "a resource terminates",
    cascades: &[Background],
    spec_changes: 0,
    dispatches: 0,
    resource_terminates: true,
    outputs: &[1],
    ..BASE
};

/// The limit by choice: slices that were ownerless before are kept.
pub const UNOWNED: Scenario =
    Scenario { name: "unowned", slice_deletes: 1, strips: true, start: Start::Unowned, slices: 2, ..BASE };

/// The limit of any webhook: it must stand there.
pub const WEBHOOK_DOWN: Scenario =
    Scenario { name: "webhook down", cascades: &[Background], slices: 2, webhook_down: true, ..BASE };

/// The safe scenario of that name.
pub fn named(name: &str) -> &'static Scenario {
    SAFE.iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name:?}"))
}
