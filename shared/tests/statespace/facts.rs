//! One situation of one slice, told by few facts.
//!
//! The slice is `web-a`, its owner (where it has one) is composition `web`, and there may be one neighbour, `api`.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub owner: Owner,
    /// `web` is being deleted.
    pub deleting: bool,
    /// Its current synthesis has seen its generation.
    pub observed: bool,
    /// Its current synthesis is reconciled.
    pub reconciled: bool,
    /// It has Eno's finalizer.
    pub finalizer: bool,
    /// It is to leave its resources behind.
    pub orphans: bool,
    pub in_flight: InFlight,
    pub current: Current,
    /// Its previous synthesis lists the slice.
    pub previous: bool,
    pub slice: Slice,
    pub content: Content,
    pub neighbour: Neighbour,
    /// All compositions of the namespace are known.
    pub whole: bool,
}

/// What the slice's owner reference leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Found,
    Missing,
    /// `web` exists, with another uid.
    Replaced,
    Unknown,
    /// There is no owner reference. `web` exists.
    None,
}

/// The synthesis in flight of `web`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    No,
    /// It began 10 s before the slice was created.
    Before,
    /// The same, canceled since.
    Canceled,
    /// It does not say when it began.
    Undated,
    /// It began 30 s after the slice was created: the clocks may be as far apart.
    Margin,
    /// It began 31 s after the slice was created.
    After,
    /// The same, and it lists the slice.
    AfterListed,
    /// The same, and the slice carries its uuid.
    AfterSameUuid,
}

/// The current synthesis of `web`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Current {
    Lists,
    ListsAnother,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// An hour old.
    Live,
    Seconds4,
    Seconds5,
    /// Live, without Eno's finalizer.
    Bare,
    Deleting,
    /// Being deleted, with a finalizer of somebody else beside Eno's.
    DeletingWithForeign,
    /// Being deleted, and only somebody else's finalizer is left.
    DeletingForeignOnly,
}

/// Spec and status of the slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// One of two resources is not deleted.
    OneLeft,
    AllDeleted,
    /// Two resources, one state, which says deleted.
    Short,
    Unread,
}

/// The composition `api`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbour {
    None,
    /// Live; its current synthesis lists the slice.
    Live,
    /// Live; its previous synthesis lists the slice.
    Previous,
    /// Being deleted, which Eno has not seen; its current synthesis lists the slice.
    Deleting,
    /// Being deleted, and reconciled; its current synthesis lists the slice.
    Reconciled,
    /// Eno has finished with it; its current synthesis lists the slice.
    Finished,
    Unknown,
}

/// A live composition whose current synthesis lists the slice, and all is known.
pub const BASE: Facts = Facts {
    owner: Owner::Found,
    deleting: false,
    observed: false,
    reconciled: true,
    finalizer: true,
    orphans: false,
    in_flight: InFlight::No,
    current: Current::Lists,
    previous: false,
    slice: Slice::Live,
    content: Content::OneLeft,
    neighbour: Neighbour::None,
    whole: true,
};

impl Slice {
    pub fn age_in_seconds(self) -> i64 {
        match self {
            Slice::Seconds4 => 4,
            Slice::Seconds5 => 5,
            Slice::Live | Slice::Bare | Slice::Deleting | Slice::DeletingWithForeign | Slice::DeletingForeignOnly => {
                3600
            }
        }
    }

    pub fn is_deleting(self) -> bool {
        match self {
            Slice::Live | Slice::Seconds4 | Slice::Seconds5 | Slice::Bare => false,
            Slice::Deleting | Slice::DeletingWithForeign | Slice::DeletingForeignOnly => true,
        }
    }
}
