//! One row of a list: an object as it is shown, and what it is sorted by.

use jiff::{SignedDuration, Timestamp};
use unicode_width::UnicodeWidthStr;

use super::super::why::target::Kind;
use crate::age::age;
use crate::finding::pod::{PodFinding, composition_of};
use crate::item::composition::{self, CompositionItem};
use crate::item::pod::PodItem;
use crate::item::{COLUMNS, Column, Item, none};
pub(super) use crate::live::Place;
use crate::output::table::sanitized;
use crate::snapshot::Namespaces;
use crate::surroundings::Pod;

/// An object as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub kind: Kind,
    pub place: Place,
    /// The composition that it is, or belongs to: namespace and name.
    pub composition: Option<Place>,
    pub stuck: bool,
    /// Since when it waits; `None` where it waits for nothing.
    pub waiting_since: Option<Timestamp>,
    pub created: Option<Timestamp>,
    /// The sentence for people.
    pub message: String,
    /// One for each head of its list; empty for times, which change by themselves.
    pub cells: Vec<String>,
}

/// The head of a column.
#[derive(Debug)]
pub(super) struct Head {
    pub text: &'static str,
    pub shows: Shows,
    /// Where there is no room, columns go: the highest first. Those of 0 stay.
    pub expendable: u8,
}

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// A name, which may be shortened in its middle.
    Name,
    /// A word, which is shown whole.
    Word,
    /// The verdict or the state: it may be coloured.
    State,
    /// For how long it has been waiting.
    Waiting,
    /// How old it is.
    Age,
}

const fn head(text: &'static str, shows: Shows, expendable: u8) -> Head {
    Head { text, shows, expendable }
}

/// Of compositions.
pub(super) const COMPOSITIONS: [Head; 8] = [
    head("NAMESPACE", Shows::Name, 2),
    head("NAME", Shows::Name, 0),
    head("STATE", Shows::State, 0),
    head("BLOCKED-BY", Shows::Word, 1),
    head("SLICES", Shows::Word, 5),
    head("RESOURCES", Shows::Word, 4),
    head("WAITING", Shows::Waiting, 0),
    head("AGE", Shows::Age, 3),
];

/// Of slices.
pub(super) const SLICES: [Head; 8] = [
    head("NAMESPACE", Shows::Name, 2),
    head("NAME", Shows::Name, 0),
    head("COMPOSITION", Shows::Name, 4),
    head("VERDICT", Shows::State, 0),
    head("REASON", Shows::Word, 1),
    head("BLOCKED-BY", Shows::Word, 5),
    head("WAITING", Shows::Waiting, 0),
    head("AGE", Shows::Age, 3),
];

/// Of the pods of synthesizers.
pub(super) const PODS: [Head; 8] = [
    head("NAMESPACE", Shows::Name, 2),
    head("NAME", Shows::Name, 0),
    head("COMPOSITION", Shows::Name, 4),
    head("STATE", Shows::State, 0),
    head("CAUSE", Shows::Word, 1),
    head("NODE", Shows::Name, 5),
    head("WAITING", Shows::Waiting, 0),
    head("AGE", Shows::Age, 3),
];

impl Row {
    /// Of a composition.
    pub fn of_composition(item: &CompositionItem) -> Self {
        let cells = cells(item, &composition::COLUMNS, &COMPOSITIONS, "");
        let place = (cells[0].clone(), item.name().to_owned());
        Row {
            kind: Kind::Composition,
            composition: Some(place.clone()),
            place,
            stuck: item.is_stuck(),
            waiting_since: item.waiting_since(),
            created: item.creation_timestamp(),
            message: sanitized(item.message()),
            cells,
        }
    }

    /// Of a slice.
    pub fn of_slice(item: &Item) -> Self {
        let cells = cells(item, &COLUMNS, &SLICES, &item.blocked_by());
        let place = (cells[0].clone(), item.name().to_owned());
        Row {
            kind: Kind::Slice,
            composition: item.composition().map(|name| (place.0.clone(), name.to_owned())),
            place,
            stuck: item.is_stuck(),
            waiting_since: item.waiting_since(),
            created: item.creation_timestamp(),
            message: sanitized(item.message()),
            cells,
        }
    }

    /// Of the pod of a synthesizer.
    pub fn of_pod(pod: &Pod, namespaces: &Namespaces, now: Timestamp, patience: SignedDuration) -> Self {
        let metadata = &pod.metadata;
        let finding = PodFinding::of(metadata, namespaces, now);
        let composition = composition_of(metadata).map(|(home, name)| (home.to_owned(), name.to_owned()));
        let cells = [
            metadata.namespace.clone(),
            metadata.name.clone(),
            composition.as_ref().map_or_else(none, |(home, name)| format!("{home}/{name}")),
            finding.state.to_owned(),
            finding.cause.map_or_else(none, str::to_owned),
            pod.spec.node_name.clone().unwrap_or_else(none),
            String::new(),
            String::new(),
        ];
        Row {
            kind: Kind::Pod,
            place: (metadata.namespace.clone(), metadata.name.clone()),
            composition,
            stuck: finding.is_stuck(now, patience),
            waiting_since: finding.waiting_since,
            created: metadata.creation_timestamp,
            message: sanitized(&finding.message),
            cells: cells.map(|cell| sanitized(&cell)).to_vec(),
        }
    }

    /// Of a pod that eno-webhook follows, or has yet to tell of, as it has written down.
    pub fn of_followed(item: &PodItem) -> Self {
        let composition = item.composition().and_then(|composition| composition.split_once('/'));
        let cells = [
            item.namespace().to_owned(),
            item.name().to_owned(),
            item.composition().map_or_else(none, str::to_owned),
            item.state().to_owned(),
            item.cause().map_or_else(none, str::to_owned),
            item.node().map_or_else(none, str::to_owned),
            String::new(),
            String::new(),
        ];
        Row {
            kind: Kind::Pod,
            place: (item.namespace().to_owned(), item.name().to_owned()),
            composition: composition.map(|(home, name)| (home.to_owned(), name.to_owned())),
            stuck: item.is_stuck(),
            waiting_since: item.since(),
            created: None,
            message: "eno-webhook follows it to its end".to_owned(),
            cells: cells.map(|cell| sanitized(&cell)).to_vec(),
        }
    }

    /// Of a pod that exists, with what the webhook has written down of its end. While it lives, the rules say more.
    pub fn with_end(mut self, item: &PodItem) -> Self {
        if !item.is_going() {
            return self;
        }
        let followed = Self::of_followed(item);
        let told = |text: &str| text != none();
        for (cell, (head, kept)) in self.cells.iter_mut().zip(PODS.iter().zip(followed.cells)) {
            if head.text == "STATE" || (head.text == "CAUSE" && told(&kept)) {
                *cell = kept;
            }
        }
        self.stuck |= followed.stuck;
        self.waiting_since = followed.waiting_since.or(self.waiting_since);
        self
    }

    /// The text of a cell.
    pub fn cell(&self, index: usize, head: &Head, now: Timestamp) -> String {
        match head.shows {
            Shows::Name | Shows::Word | Shows::State => self.cells.get(index).cloned().unwrap_or_default(),
            Shows::Waiting => self.waiting_since.map_or_else(String::new, |since| age(Some(since), now)),
            Shows::Age => age(self.created, now),
        }
    }

    /// How many columns a cell takes at least, or may come to take.
    pub fn width(&self, index: usize, head: &Head) -> usize {
        match head.shows {
            Shows::Name | Shows::Word | Shows::State => self.cells.get(index).map_or(0, |cell| cell.width()),
            // 7y364d is the longest age; a width that does not change as time goes by keeps the columns in their places.
            Shows::Waiting | Shows::Age => 6,
        }
    }

    /// The verdict or the state.
    pub fn state(&self, heads: &[Head]) -> &str {
        let index = heads.iter().position(|head| head.shows == Shows::State);
        index.and_then(|index| self.cells.get(index)).map_or("", String::as_str)
    }

    /// Has it all these words, wherever they stand? They are in lower case.
    pub fn matches(&self, words: &[String]) -> bool {
        let contains = |word: &String| {
            (self.stuck && word == STUCK) || self.cells.iter().any(|cell| cell.to_lowercase().contains(word.as_str()))
        };
        words.iter().all(contains)
    }
}

/// What a filter calls what is stuck.
pub(super) const STUCK: &str = "stuck";

/// In the words of `kubectl eno slices` and `compositions`. Tables of slices show their blockers otherwise.
fn cells<I>(item: &I, columns: &[Column<I>], heads: &[Head], blocked_by: &str) -> Vec<String> {
    let text = |head: &Head| match head.shows {
        // Times change by themselves.
        Shows::Waiting | Shows::Age => String::new(),
        Shows::Name | Shows::Word | Shows::State => {
            let column = columns.iter().find(|column| column.header == head.text);
            sanitized(&column.map_or_else(|| blocked_by.to_owned(), |column| column.cell(item, Timestamp::UNIX_EPOCH)))
        }
    };
    heads.iter().map(text).collect()
}
