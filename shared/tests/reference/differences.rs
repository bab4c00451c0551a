//! Where we differ from Eno on purpose. docs/differences.md shows this list.

use eno_shared::usage::Undone;
use eno_shared::{Reason, Verdict};

use super::eno::Action;

/// One deliberate difference.
pub struct Difference {
    pub name: &'static str,
    pub eno: &'static str,
    pub ours: &'static str,
    pub why: &'static str,
    explains: fn(Action, Verdict, &Reason) -> bool,
}

/// The differences that explain why Eno does `eno` where our judgement is another.
pub fn explaining(eno: Action, verdict: Verdict, reason: &Reason) -> Vec<&'static Difference> {
    ALL.iter().filter(|difference| (difference.explains)(eno, verdict, reason)).collect()
}

fn deletes_or_releases(action: Action) -> bool {
    match action {
        Action::Delete | Action::RemoveOwnFinalizer | Action::RemoveAllFinalizers => true,
        Action::Nothing | Action::LookAgain(_) | Action::TryAgain | Action::Panic => false,
    }
}

fn keeps(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Keep | Verdict::Hold)
}

fn by_neighbour(reason: &Reason) -> bool {
    reason.composition() == Some("api")
}

/// Exactly one of them explains a situation in which we differ.
pub const ALL: &[Difference] = &[
    Difference {
        name: "A slice in flight is guarded",
        eno: "Compares the slice's `synthesisUUID` with the uuid in flight, which are never equal: a slice that waits 5 s for its synthesis is deleted as unused, or loses its finalizer.",
        ours: "Keeps and holds what may belong to the synthesis in flight, by list, uuid and time of creation.",
        why: "L1: slow syntheses lost their slices, and began again for ever.",
        explains: |eno, verdict, reason| {
            deletes_or_releases(eno) && keeps(verdict) && matches!(reason, Reason::InFlight { .. })
        },
    },
    Difference {
        name: "A deletion must have been seen",
        eno: "Releases a slice once `reconciled` is set, though that dates from before the deletion.",
        ours: "Holds it until the current synthesis has seen the deletion's generation.",
        why: "L2: deleting a namespace orphaned the resources of all compositions that were reconciled.",
        explains: |eno, verdict, reason| {
            deletes_or_releases(eno)
                && keeps(verdict)
                && !by_neighbour(reason)
                && matches!(reason, Reason::NeededForDeletion { undone: Undone::DeletionNotObserved, .. })
        },
    },
    Difference {
        name: "The slice's own status is asked",
        eno: "Trusts `reconciled`, which it computes from a cache that may lack the slice.",
        ours: "Holds the slice until its own status calls every resource deleted, unless they are to be orphaned.",
        why: "A slice that is missing from the cache counts as done, and its resources were orphaned.",
        explains: |eno, verdict, reason| {
            let undone = |undone: &Undone| match undone {
                Undone::ResourcesLeft { .. } | Undone::StatusUnread => true,
                Undone::NotReconciled | Undone::DeletionNotObserved => false,
            };
            deletes_or_releases(eno)
                && keeps(verdict)
                && !by_neighbour(reason)
                && matches!(reason, Reason::NeededForDeletion { undone: left, .. } if undone(left))
        },
    },
    Difference {
        name: "A live composition holds its slices",
        eno: "Releases a deleted slice of a live, reconciled composition at once, and synthesizes again.",
        ours: "Holds it until a new synthesis has replaced it.",
        why: "L7, L18: what the next synthesis no longer contains was forgotten, and orphaned.",
        explains: |eno, verdict, reason| {
            deletes_or_releases(eno)
                && verdict == Verdict::Hold
                && !by_neighbour(reason)
                && matches!(reason, Reason::ReferencedByCurrent { .. })
        },
    },
    Difference {
        name: "Other compositions count",
        eno: "Looks at the composition that the owner reference names, and at no other.",
        ours: "Keeps and holds what any composition of the namespace refers to by name.",
        why: "After a restored backup or a hand-made owner, the reference and the references may disagree.",
        explains: |eno, verdict, reason| deletes_or_releases(eno) && keeps(verdict) && by_neighbour(reason),
    },
    Difference {
        name: "Unread compositions count",
        eno: "Acts on the owner alone, whatever else could not be read.",
        ours: "Says Unknown where a composition that could refer to the slice was not read, and frees nothing.",
        why: "A failed read must never free a slice.",
        explains: |eno, verdict, reason| {
            deletes_or_releases(eno)
                && verdict == Verdict::Unknown
                && matches!(reason, Reason::ReferencesUnknown { .. })
        },
    },
    Difference {
        name: "A finished composition is emptied",
        eno: "Keeps the slices that a composition lists though it has finished with it, until the composition is gone.",
        ours: "Collects and releases them as soon as Eno's finalizer is off the composition.",
        why: "With foreground or orphan deletion the composition waits for the slices, and they for it.",
        explains: |eno, verdict, reason| {
            !deletes_or_releases(eno)
                && !matches!(eno, Action::Panic)
                && matches!(verdict, Verdict::Collect | Verdict::Release)
                && matches!(reason, Reason::CompositionFinished { .. })
        },
    },
    Difference {
        name: "Owners are known by uid",
        eno: "Takes a composition of the owner's name for the owner.",
        ours: "Compares uids: a slice whose owner was replaced is garbage, unless somebody lists it.",
        why: "A composition that was created again is another one; its syntheses say nothing of the old slices.",
        explains: |eno, verdict, reason| {
            eno == Action::Nothing
                && matches!(verdict, Verdict::Collect | Verdict::Release)
                && matches!(reason, Reason::OwnerReplaced { .. })
        },
    },
    Difference {
        name: "No owner is an answer",
        eno: "Follows the missing owner reference and panics, again and again; the slice and its namespace hang.",
        ours: "Judges it: kept while it lives and nobody deletes it, released once nothing refers to it.",
        why: "S3: restored backups and `--cascade=orphan` leave such slices.",
        explains: |eno, verdict, _| eno == Action::Panic && verdict != Verdict::Unknown,
    },
    Difference {
        name: "No owner and unread compositions",
        eno: "Panics, as above.",
        ours: "Says Unknown, and tries again.",
        why: "A failed read must never free a slice.",
        explains: |eno, verdict, _| eno == Action::Panic && verdict == Verdict::Unknown,
    },
    Difference {
        name: "A new slice is looked at when it is old enough",
        eno: "Looks again after the slice's age: one of 1 s at 2, 4 and 8 s, one of 4.9 s at 9.8 s, one from the future never.",
        ours: "Looks again when the slice is 5 s old, and only where its age is all that speaks for it.",
        why: "S11: the wait was meant to be what is left of the 5 s.",
        explains: |eno, verdict, _| {
            matches!(eno, Action::LookAgain(_)) && matches!(verdict, Verdict::Keep | Verdict::Wait | Verdict::Unknown)
        },
    },
    Difference {
        name: "Finalizers of others stay",
        eno: "Removes the whole list of finalizers, without a test of what is in it.",
        ours: "Removes `eno.azure.io/cleanup` alone, and only where it still stands at the place that was read.",
        why: "L4: a backup tool's finalizer gave no protection.",
        explains: |eno, verdict, _| eno == Action::RemoveAllFinalizers && verdict == Verdict::Release,
    },
];

/// The table of docs/differences.md.
pub fn table() -> String {
    let row = |Difference { name, eno, ours, why, .. }: &Difference| format!("| {name} | {eno} | {ours} | {why} |\n");
    let rows: String = ALL.iter().map(row).collect();
    format!("| Difference | What Eno does | What we do | Why |\n|---|---|---|---|\n{rows}")
}
