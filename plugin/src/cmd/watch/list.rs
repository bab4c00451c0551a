//! A list that is watched.

use std::collections::VecDeque;
use std::time::Duration;

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::names::ENO_GROUP;
use jiff::Timestamp;
use serde::Serialize;

use super::until::Until;
use super::{Shown, headline};
use crate::cli::{ListUntil, ListWatchFlags, OutputFlags, WaitFor};
use crate::failure::Failure;
use crate::item::composition::{self, CompositionItem};
use crate::item::pod::{self, PodItem};
use crate::item::{self, Column, Item};
use crate::live::board::{Board, Judged, Selected, Turn, Urgency};
use crate::live::{Change, Feed, Place};
use crate::output::appended::Appended;
use crate::output::screen::Size;
use crate::output::table::{Widths, sanitized};
use crate::output::{self, Format};

/// How long what went stays on the screen.
const MOMENT: Duration = Duration::from_secs(5);
/// Times that pass make no difference worth a line.
const TICKING: [&str; 3] = ["AGE", "DELETING", "FOR"];

/// An object that is listed.
pub(in crate::cmd) trait Listed: Judged + Serialize + 'static {
    const COLUMNS: &'static [Column<Self>];
    /// Header of the column whose words are coloured.
    const COLOURED: &'static str;
    /// Whose states `--until` knows: slices, else compositions. Of pods it asks for none.
    const SLICES: bool;
    /// What people call it.
    const NOUN: &'static str;
    /// As `-o name` calls it.
    fn resource() -> String;
    fn name(&self) -> &str;
    fn uid(&self) -> &str;
}

impl Listed for Item {
    const COLUMNS: &'static [Column<Self>] = &item::COLUMNS;
    const COLOURED: &'static str = "VERDICT";
    const SLICES: bool = true;
    const NOUN: &'static str = "slice";
    fn resource() -> String {
        format!("{}.{ENO_GROUP}", ResourceSlice::SINGULAR)
    }
    fn name(&self) -> &str {
        self.name()
    }
    fn uid(&self) -> &str {
        self.uid()
    }
}

impl Listed for CompositionItem {
    const COLUMNS: &'static [Column<Self>] = &composition::COLUMNS;
    const COLOURED: &'static str = "STATE";
    const SLICES: bool = false;
    const NOUN: &'static str = Composition::SINGULAR;
    fn resource() -> String {
        format!("{}.{ENO_GROUP}", Composition::SINGULAR)
    }
    fn name(&self) -> &str {
        self.name()
    }
    fn uid(&self) -> &str {
        self.uid()
    }
}

impl Listed for PodItem {
    const COLUMNS: &'static [Column<Self>] = &pod::COLUMNS;
    const COLOURED: &'static str = "STATE";
    const SLICES: bool = false;
    const NOUN: &'static str = "pod";
    fn resource() -> String {
        "pod".to_owned()
    }
    fn name(&self) -> &str {
        self.name()
    }
    fn uid(&self) -> &str {
        self.uid()
    }
}

/// A list, as it is shown.
pub(in crate::cmd) struct List<I: Listed> {
    board: Board<I>,
    format: Format,
    columns: Vec<&'static Column<I>>,
    paint: Box<dyn Fn(&str) -> String>,
    title: String,
    sort_by: Option<String>,
    empty: bool,
    until: Option<Until>,
    /// What has happened and was not appended yet.
    turns: Vec<Turn<I>>,
    appended: Appended,
    /// The order on the screen.
    order: Vec<Place>,
    /// What went, when, and the word for it.
    went: VecDeque<(Timestamp, &'static str, I)>,
    widths: Widths,
    /// The room that the widths are of.
    room: Option<Size>,
}

/// What is listed, and how.
pub(in crate::cmd) struct Listing<'a, I> {
    pub selected: Selected<I>,
    pub patience: jiff::SignedDuration,
    /// All namespaces, where there is none.
    pub namespace: Option<&'a str>,
    pub format: Format,
    pub sort_by: Option<String>,
    pub output: &'a OutputFlags,
    pub watch: &'a ListWatchFlags,
}

impl<I: Listed> List<I> {
    /// Of all that the feed has.
    ///
    /// # Errors
    /// What is waited for will never be, or the list cannot be sorted so.
    pub(in crate::cmd) fn new(listing: Listing<'_, I>, feed: &Feed) -> Result<Self, Failure> {
        let Listing { selected, patience, namespace, format, sort_by, output, watch } = listing;
        let mut board = Board::of(patience, selected);
        board.fill(feed.snapshot());
        let wide = matches!(format, Format::Text { wide: true });
        let shown =
            |column: &&Column<I>| (wide || !column.wide) && (namespace.is_none() || column.header != "NAMESPACE");
        let state = match watch.until {
            Some(ListUntil::Deleted) => Some(WaitFor::Deleted),
            Some(ListUntil::Reconciled) => Some(WaitFor::Reconciled),
            Some(ListUntil::Empty) | None => None,
        };
        let uid = |item: &I| Some(item.uid().to_owned()).filter(|uid| !uid.is_empty());
        let first = || board.items().map(|(place, item)| (place.clone(), uid(item))).collect();
        let until = state.map(|state| Until::new(state, I::SLICES, first(), feed.snapshot())).transpose()?;
        let turns = board.items().map(|(place, _)| Turn::Added(place.clone())).filter(|_| !watch.watch_only).collect();
        let place = namespace.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
        let mut list = List {
            board,
            format,
            columns: I::COLUMNS.iter().filter(shown).collect(),
            paint: Box::new(output::painter(output.color)),
            title: place,
            sort_by,
            empty: watch.until == Some(ListUntil::Empty),
            until,
            turns,
            appended: Appended::new(output.no_headers),
            order: vec![],
            went: VecDeque::new(),
            widths: Widths::default(),
            room: None,
        };
        list.sort()?;
        Ok(list)
    }

    /// What a person should look at first; else as was asked for.
    fn sort(&mut self) -> Result<(), Failure> {
        let mut items: Vec<(&Place, &I)> = self.board.items().collect();
        match &self.sort_by {
            None => items.sort_by_key(|(_, item)| item.urgency()),
            // A list that is empty now need not be.
            Some(_) if items.is_empty() => {}
            Some(by) => {
                let columns: Vec<_> = I::COLUMNS.iter().map(|column| (column.header, column.path)).collect();
                let mut sorted: Vec<Sorted<'_, I>> = items.drain(..).map(|(place, of)| Sorted { place, of }).collect();
                output::sort(&mut sorted, by, &columns)?;
                items.extend(sorted.into_iter().map(|Sorted { place, of }| (place, of)));
            }
        }
        self.order = items.into_iter().map(|(place, _)| place.clone()).collect();
        Ok(())
    }

    fn cells(&self, item: &I, now: Timestamp) -> Vec<String> {
        self.columns.iter().map(|column| sanitized(&column.cell(item, now))).collect()
    }

    /// Does it look the same, but for times that pass?
    fn looks_same(&self, a: &I, b: &I, now: Timestamp) -> bool {
        let mut columns = self.columns.iter().filter(|column| !TICKING.contains(&column.header));
        columns.all(|column| column.cell(a, now) == column.cell(b, now))
    }

    fn summary(&self) -> String {
        let items = || self.board.items().map(|(_, item)| item.urgency());
        let stuck = items().filter(|urgency| matches!(urgency, Urgency::Stuck(_))).count();
        let going = items().filter(|urgency| *urgency == Urgency::Going).count();
        let mut text = self.counted();
        for (count, what) in [(stuck, "stuck"), (going, "being deleted")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        format!("{text}   {}", self.title)
    }

    fn counted(&self) -> String {
        let count = self.order.len();
        format!("{count} {}{}", I::NOUN, if count == 1 { "" } else { "s" })
    }
}

impl<I: Listed> Shown for List<I> {
    fn update(&mut self, feed: &Feed, change: &Change) -> Result<(), Failure> {
        let snapshot = feed.snapshot();
        let turns = self.board.update(snapshot, change);
        if let Some(until) = &mut self.until {
            until.update(snapshot, change)?;
        }
        if !turns.is_empty() {
            self.sort()?;
        }
        self.turns.extend(turns);
        Ok(())
    }

    fn due(&self) -> Option<Timestamp> {
        self.board.due()
    }

    fn frame(&mut self, feed: &Feed, room: Size) -> Vec<String> {
        let now = feed.snapshot().now;
        for turn in std::mem::take(&mut self.turns) {
            match turn {
                Turn::Added(_) | Turn::Modified(..) => {}
                Turn::Deleted(_, last) => self.went.push_back((now, "Gone", last)),
                Turn::Left(_, last) => self.went.push_back((now, "Left", last)),
            }
        }
        let moment = |(since, ..): &(Timestamp, &str, I)| now.duration_since(*since).unsigned_abs() < MOMENT;
        self.went.retain(moment);
        if self.room.replace(room) != Some(room) {
            self.widths = Widths::default();
        }
        let went = self.went.iter().map(|(_, word, item)| (item, Some(*word)));
        let (stuck, others) = self.order.split_at(self.order.partition_point(|place| {
            self.sort_by.is_none()
                && self.board.get(place).is_some_and(|item| matches!(item.urgency(), Urgency::Stuck(_)))
        }));
        let listed = |places: &'_ [Place]| -> Vec<(&I, Option<&'static str>)> {
            // No more than there is room for, however many there are.
            places.iter().take(room.rows).filter_map(|place| Some((self.board.get(place)?, None))).collect()
        };
        let rows: Vec<_> = listed(stuck).into_iter().chain(went).chain(listed(others)).collect();
        let (all, height) = (self.order.len() + self.went.len(), room.rows.saturating_sub(2));
        let fits = if all > height { height.saturating_sub(1) } else { height };
        let coloured = self.columns.iter().position(|column| column.header == I::COLOURED);
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .take(fits)
            .map(|(item, went)| {
                let mut cells = self.cells(item, now);
                if let (Some(index), Some(word)) = (coloured, went) {
                    word.clone_into(&mut cells[index]);
                }
                cells
            })
            .collect();
        let headers: Vec<String> = self.columns.iter().map(|column| column.header.to_owned()).collect();
        let mut lines = vec![headline(&self.summary(), feed)];
        if !rows.is_empty() {
            self.widths.grow(&headers);
            rows.iter().for_each(|row| self.widths.grow(row));
            let widths = self.widths.fitted(room.columns);
            let style = |index: usize, cell: &str| match coloured {
                Some(coloured) if coloured == index => (self.paint)(cell),
                Some(_) | None => cell.to_owned(),
            };
            lines.push(widths.line(&headers, |_, header| header.to_owned()).trim_end().to_owned());
            lines.extend(rows.iter().map(|row| widths.line(row, style).trim_end().to_owned()));
        }
        if all > rows.len() {
            lines.push(format!("… and {} more", all - rows.len()));
        }
        lines
    }

    fn news(&mut self, feed: &Feed) -> Result<String, Failure> {
        let now = feed.snapshot().now;
        let turns = std::mem::take(&mut self.turns);
        let events = turns.iter().filter_map(|turn| match turn {
            Turn::Added(place) => Some(("ADDED", self.board.get(place)?, None)),
            Turn::Modified(place, last) => Some(("MODIFIED", self.board.get(place)?, Some(last))),
            Turn::Deleted(_, last) => Some(("DELETED", last, None)),
            Turn::Left(_, last) => Some(("LEFT", last, None)),
        });
        match &self.format {
            Format::Text { .. } => {
                let rows = events
                    .filter(|(_, item, last)| last.is_none_or(|last| !self.looks_same(last, item, now)))
                    .map(|(event, item, _)| [event.to_owned()].into_iter().chain(self.cells(item, now)).collect());
                let rows = rows.collect();
                let headers: Vec<&str> =
                    ["EVENT"].into_iter().chain(self.columns.iter().map(|column| column.header)).collect();
                let style =
                    |header: &str, cell: &str| if header == I::COLOURED { (self.paint)(cell) } else { cell.to_owned() };
                Ok(self.appended.rows(&headers, rows, style))
            }
            Format::Name => {
                let line = |(event, item, _): (&str, &I, _)| {
                    let name = sanitized(&format!("{}/{}", I::resource(), item.name()));
                    if event == "DELETED" { format!("{name} deleted\n") } else { name + "\n" }
                };
                Ok(events.map(line).collect())
            }
            Format::Objects(form) => {
                let events = events.map(|(event, item, _)| Ok((event, serde_json::to_value(item)?)));
                let events = events.collect::<Result<Vec<_>, serde_json::Error>>().map_err(Failure::local)?;
                form.events(&mut self.appended, &events)
            }
        }
    }

    fn is_over(&self) -> bool {
        let empty = self.empty && self.board.items().next().is_none();
        empty || self.until.as_ref().is_some_and(Until::is_reached)
    }

    fn awaits(&self) -> Option<String> {
        match &self.until {
            Some(until) => Some(until.awaits()),
            None => self.empty.then(|| format!("{} to go", self.counted())),
        }
    }
}

/// An item that knows where it was.
#[derive(Serialize)]
struct Sorted<'a, I> {
    #[serde(skip)]
    place: &'a Place,
    #[serde(flatten)]
    of: &'a I,
}
