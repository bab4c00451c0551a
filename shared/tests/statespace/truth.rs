//! What is true of a situation, told from its facts alone: nothing here asks the rules.

use super::facts::{Content, Current, Facts, InFlight, Neighbour, Owner, Slice};

impl Facts {
    /// `web` was read.
    pub fn web_exists(&self) -> bool {
        match self.owner {
            Owner::Found | Owner::Replaced | Owner::None => true,
            Owner::Missing | Owner::Unknown => false,
        }
    }

    /// Something that bears on the slice could not be read.
    pub fn something_is_unknown(&self) -> bool {
        self.owner == Owner::Unknown || self.neighbour == Neighbour::Unknown || !self.whole
    }

    /// Eno has finished with `web`.
    pub fn web_is_finished(&self) -> bool {
        self.web_exists() && self.deleting && !self.finalizer
    }

    pub fn web_lists(&self) -> bool {
        self.web_exists() && self.current == Current::Lists
    }

    pub fn neighbour_lists(&self) -> bool {
        match self.neighbour {
            Neighbour::Live | Neighbour::Deleting | Neighbour::Reconciled | Neighbour::Finished => true,
            Neighbour::None | Neighbour::Previous | Neighbour::Unknown => false,
        }
    }

    /// The previous synthesis of either lists it.
    pub fn previous_lists(&self) -> bool {
        (self.web_exists() && self.previous) || self.neighbour == Neighbour::Previous
    }

    /// Eno, at work on the deletion of `web`, has this slice alone to know what to delete.
    pub fn web_needs_it(&self) -> bool {
        let known_to_be_gone = self.content == Content::AllDeleted || self.orphans;
        let over = self.observed && self.reconciled && known_to_be_gone;
        self.web_lists() && self.deleting && self.finalizer && !over
    }

    /// The same, of `api`.
    pub fn neighbour_needs_it(&self) -> bool {
        self.neighbour == Neighbour::Deleting
            || (self.neighbour == Neighbour::Reconciled && self.content != Content::AllDeleted)
    }

    /// A composition that stays lists it in its current synthesis.
    pub fn live_current_lists(&self) -> bool {
        (self.web_lists() && !self.deleting) || self.neighbour == Neighbour::Live
    }

    /// The synthesis in flight of its owner may yet make it current.
    pub fn may_be_in_flight(&self) -> bool {
        self.owner == Owner::Found
            && match self.in_flight {
                InFlight::No => false,
                InFlight::After => self.content == Content::Unread,
                InFlight::Before
                | InFlight::Canceled
                | InFlight::Undated
                | InFlight::Margin
                | InFlight::AfterListed
                | InFlight::AfterSameUuid => true,
            }
    }

    /// Nothing refers to it or may yet do so, and all is known: only its age may speak for it.
    pub fn nothing_needs_it(&self) -> bool {
        !self.web_lists()
            && !self.neighbour_lists()
            && !self.previous_lists()
            && !self.may_be_in_flight()
            && !self.something_is_unknown()
    }

    pub fn has_eno_finalizer(&self) -> bool {
        match self.slice {
            Slice::Live | Slice::Seconds4 | Slice::Seconds5 | Slice::Deleting | Slice::DeletingWithForeign => true,
            Slice::Bare | Slice::DeletingForeignOnly => false,
        }
    }
}
