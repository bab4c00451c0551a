//! One state of the model: a composition, its slices, and who has seen what of them.
//!
//! Everything is `Copy` and small, because hundreds of thousands of states are kept. Sets of slices and of resources are
//! [`Mask`]s, one bit each. Uids and uuids are small numbers; 0 means none.

/// A set of slices, or of resources.
pub type Mask = u8;

/// The most slices that a scenario has room for.
pub const SLICES: usize = 4;
/// The resources that a synthesizer may emit.
pub const RESOURCES: [Mask; 2] = [1, 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    pub composition: Option<Composition>,
    pub slices: [Option<Slice>; SLICES],
    pub executor: Option<Executor>,
    /// What the reconciler works on.
    pub reconciler: Option<Cache>,
    /// The composition as the reconciler's informer shows it.
    pub seen: Option<Seen>,
    /// The resources that exist, and those of them that are terminating.
    pub present: Mask,
    pub terminating: Mask,
    pub namespace_terminating: bool,
    pub budget: Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Composition {
    pub uid: u8,
    pub deleting: bool,
    pub generation: u8,
    /// Eno's finalizer is on it.
    pub finalizer: bool,
    /// The finalizer of the garbage collector that is on it.
    pub cascade: Cascade,
    /// Value of the annotation `force-resynthesis`.
    pub force: u8,
    /// What its synthesizer emits.
    pub output: Mask,
    pub in_flight: Option<InFlight>,
    pub current: Option<Current>,
    pub previous: Mask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cascade {
    Background,
    Foreground,
    Orphan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InFlight {
    pub uuid: u8,
    pub observed: u8,
    /// It is the how manieth dispatch: the model's clock.
    pub dispatch: u8,
    pub canceled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Current {
    pub uuid: u8,
    pub observed: u8,
    pub slices: Mask,
    pub reconciled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Uid of the owner.
    pub owner: u8,
    /// Resources that it wants to exist, and resources that it wants gone.
    pub live: Mask,
    pub tombstones: Mask,
    pub status: Option<Status>,
    pub deleting: bool,
    /// Eno's finalizer is on it.
    pub finalizer: bool,
    /// How many dispatches there had been when it was created.
    pub born: u8,
    /// Eno's controller has it in its cache.
    pub seen: bool,
}

/// The resources of a slice for which `reconciled` and `deleted` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status {
    pub reconciled: Mask,
    pub deleted: Mask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Executor {
    /// The synthesis it was started for.
    pub uuid: u8,
    pub phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    Started,
    /// It has read the composition with this uid, output and current slices.
    HasRead {
        uid: u8,
        output: Mask,
        current: Mask,
    },
    /// It writes slices: those that are still to come (live and tombstones), and those it made.
    Writing {
        uid: u8,
        todo: [Option<(Mask, Mask)>; 2],
        made: Mask,
    },
}

/// The reconciler's cache of a synthesis: what each slice held when it was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cache {
    pub uuid: u8,
    pub deletes: bool,
    pub content: [Option<(Mask, Mask)>; SLICES],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seen {
    pub uuid: u8,
    pub deleting: bool,
    pub slices: Mask,
}

/// What is left to happen, and a few facts that belong nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    pub dispatched: u8,
    pub next_uuid: u8,
    pub spec_changes: u8,
    pub slice_deletes: u8,
    pub recreations: u8,
    pub composition_deletes: u8,
    /// Something has woken Eno's slice controller.
    pub woken: bool,
    /// A request that was admitted, and is not stored yet.
    pub admitted: Option<Admitted>,
    /// The one disturbance of a scenario has happened.
    pub disturbed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Admitted {
    pub strips: bool,
    pub slice: u8,
    pub as_it_was: Slice,
}

/// What must never happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// The composition is gone, and a resource of it is left.
    ResourceLeft,
    /// A slice went that its composition needs.
    NeededSliceGone,
    /// A synthesis became current though a slice of it was gone.
    MadeCurrentThoughGone,
    /// The composition never goes, whatever Eno does.
    CompositionStuck,
    /// A slice never goes, whatever Eno and we do.
    SliceStuck,
}

impl Slice {
    pub fn resources(&self) -> Mask {
        self.live | self.tombstones
    }
}

impl Composition {
    pub fn current_slices(&self) -> Mask {
        self.current.map_or(0, |current| current.slices)
    }

    /// The uuid of its latest synthesis.
    pub fn latest(&self) -> u8 {
        self.in_flight.map(|in_flight| in_flight.uuid).or(self.current.map(|current| current.uuid)).unwrap_or(0)
    }
}

impl State {
    pub fn current_slices(&self) -> Mask {
        self.composition.map_or(0, |composition| composition.current_slices())
    }

    /// All is over: no composition, no slice, and nobody who could make one.
    pub fn is_over(&self) -> bool {
        self.composition.is_none() && self.slices.iter().all(Option::is_none) && self.executor.is_none()
    }

    /// Removes a slice from the store.
    pub fn remove(&mut self, slice: usize) -> Option<Violation> {
        let gone = self.slices[slice].take()?;
        let composition = self.composition.filter(|composition| composition.finalizer)?;
        let needed = contains(composition.current_slices(), slice)
            && (!composition.deleting || gone.resources() & self.present != 0);
        needed.then_some(Violation::NeededSliceGone)
    }

    /// A DELETE of a slice that was admitted.
    pub fn delete(&mut self, slice: usize) -> Option<Violation> {
        match &mut self.slices[slice] {
            Some(Slice { deleting: true, .. }) | None => None,
            Some(stored) if stored.finalizer => {
                stored.deleting = true;
                None
            }
            Some(_) => self.remove(slice),
        }
    }

    /// An update that was admitted and takes Eno's finalizer off a slice.
    pub fn strip(&mut self, slice: usize) -> Option<Violation> {
        match &mut self.slices[slice] {
            Some(Slice { deleting: true, .. }) => self.remove(slice),
            Some(stored) => {
                stored.finalizer = false;
                None
            }
            None => None,
        }
    }

    /// The reconciler's informer catches up; a composition that is gone is purged from the cache.
    pub fn catch_up(&mut self) {
        self.seen = self.composition.map(|composition| Seen {
            uuid: composition.current.map_or(0, |current| current.uuid),
            deleting: composition.deleting,
            slices: composition.current_slices(),
        });
        if self.seen.is_none() {
            self.reconciler = None;
        }
    }
}

/// The numbers of the slices in a set.
pub fn members(set: Mask) -> impl Iterator<Item = usize> {
    (0..SLICES).filter(move |slice| contains(set, *slice))
}

pub fn contains(set: Mask, slice: usize) -> bool {
    set & (1 << slice) != 0
}
