//! Of what there was news, and what that makes different.

use std::collections::BTreeSet;

use eno_shared::Lookup;
use eno_shared::api::Composition;
use eno_shared::owner::composition_owner;

use super::place_of;
use crate::live::Place;
use crate::snapshot::{Seen, Snapshot};

/// Of what there was news.
#[derive(Default)]
pub(super) struct Heard {
    pub slices: BTreeSet<Place>,
    pub compositions: BTreeSet<Place>,
    /// Slices that such a composition lists, or has listed.
    pub listed: BTreeSet<Place>,
    /// Namespaces in which all may be different.
    pub namespaces: BTreeSet<String>,
    pub everywhere: bool,
}

impl Heard {
    /// A composition is another than it was.
    pub(super) fn composition(&mut self, place: Place, old: &Lookup<&Composition>, new: &Lookup<&Composition>) {
        for lookup in [old, new] {
            match lookup {
                Lookup::Found(composition) => {
                    let status = &composition.status;
                    let syntheses =
                        [&status.current_synthesis, &status.previous_synthesis, &status.in_flight_synthesis];
                    let names = syntheses.into_iter().flatten().flat_map(|synthesis| &synthesis.resource_slices);
                    self.listed.extend(names.map(|slice| (place.0.clone(), slice.name.to_string())));
                }
                // It may refer to any slice.
                Lookup::Unknown(_) => {
                    self.namespaces.insert(place.0.clone());
                }
                Lookup::Missing => {}
            }
        }
        self.compositions.insert(place);
    }

    /// Is it nothing?
    pub(super) fn is_nothing(&self) -> bool {
        let Heard { slices, compositions, listed: _, namespaces, everywhere } = self;
        !*everywhere && slices.is_empty() && compositions.is_empty() && namespaces.is_empty()
    }

    /// What the news is about, and its neighbours: slices of a composition, compositions of a slice or of one namespace.
    pub(super) fn touched(&self, snapshot: &Snapshot) -> (BTreeSet<Place>, BTreeSet<Place>) {
        let (mut slices, mut compositions) = (self.slices.clone(), self.compositions.clone());
        let namespaces = &snapshot.namespaces;
        let mut homes: BTreeSet<&str> = self.compositions.iter().map(|(home, _)| home.as_str()).collect();
        homes.extend(self.namespaces.iter().map(String::as_str));
        if !homes.is_empty() || self.everywhere {
            let is_touched = |seen: &&Seen| {
                let (home, name) = seen.place();
                let of_changed = |owner: &str| self.compositions.contains(&(home.to_owned(), owner.to_owned()));
                self.everywhere
                    || (homes.contains(home)
                        && (self.namespaces.contains(home)
                            || composition_owner(seen.metadata()).is_some_and(|owner| of_changed(&owner.name))
                            || self.listed.contains(&(home.to_owned(), name.to_owned()))))
            };
            slices.extend(snapshot.slices.iter().filter(is_touched).map(|seen| place_of(seen.metadata())));
        }
        // Compositions wait for each other.
        let homes: Vec<&str> = if self.everywhere { namespaces.names().collect() } else { homes.into_iter().collect() };
        for home in homes {
            let names = namespaces.compositions(home).names();
            compositions.extend(names.map(|name| (home.to_owned(), name.to_owned())));
        }
        for (home, name) in &self.slices {
            let referrers = namespaces.compositions(home).current_referrers(name);
            compositions.extend(referrers.map(|referrer| (home.clone(), referrer.metadata.name.clone())));
            let owner = snapshot.seen(home, name).and_then(|seen| composition_owner(seen.metadata()));
            compositions.extend(owner.map(|owner| (home.clone(), owner.name.clone())));
        }
        (slices, compositions)
    }
}
