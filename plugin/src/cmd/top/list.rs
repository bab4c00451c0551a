//! One list: which rows are shown, in which order, and which of them is chosen.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::row::{Head, Place, Row};

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// What is stuck, longest first; then what waits; then by name.
    Stuck,
    /// Namespace and name.
    Name,
    /// Verdict or state.
    State,
    /// Oldest first.
    Age,
}

impl Order {
    /// The one after it.
    pub fn next(self) -> Self {
        match self {
            Order::Stuck => Order::Name,
            Order::Name => Order::State,
            Order::State => Order::Age,
            Order::Age => Order::Stuck,
        }
    }

    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Order::Stuck => "stuck",
            Order::Name => "name",
            Order::State => "state",
            Order::Age => "age",
        }
    }
}

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct List {
    pub heads: &'static [Head],
    rows: BTreeMap<Place, Rc<Row>>,
    /// How many of them are stuck.
    stuck: usize,
    /// Those that the filter lets through, in order.
    shown: Vec<Rc<Row>>,
    /// The width of each column, in all rows that are shown.
    widths: Vec<usize>,
    order: Order,
    reversed: bool,
    filter: Vec<String>,
    /// The chosen row: it stays chosen where it moves.
    chosen: Option<Place>,
    /// Where it was last.
    at: usize,
    /// The first row on the screen.
    top: usize,
}

impl List {
    /// An empty one.
    pub fn new(heads: &'static [Head]) -> Self {
        List {
            heads,
            rows: BTreeMap::new(),
            stuck: 0,
            shown: vec![],
            widths: vec![],
            order: Order::Stuck,
            reversed: false,
            filter: vec![],
            chosen: None,
            at: 0,
            top: 0,
        }
    }

    /// Takes in what has changed: a row, or that there is none any more.
    pub fn turn(&mut self, turns: impl IntoIterator<Item = (Place, Option<Row>)>) {
        for (place, row) in turns {
            match row {
                Some(row) => self.rows.insert(place, Rc::new(row)),
                None => self.rows.remove(&place),
            };
        }
        self.stuck = self.rows.values().filter(|row| row.stuck).count();
        self.arrange();
    }

    /// Shows only rows with all these words.
    pub fn filter(&mut self, text: &str) {
        self.filter = text.split_whitespace().map(str::to_lowercase).collect();
        self.arrange();
    }

    /// Sorts by the next order.
    pub fn next_order(&mut self) {
        (self.order, self.reversed) = (self.order.next(), false);
        self.arrange();
    }

    /// Sorts the other way round.
    pub fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    fn arrange(&mut self) {
        self.shown = self.rows.values().filter(|row| row.matches(&self.filter)).cloned().collect();
        let (order, heads) = (self.order, self.heads);
        // Rows come by name, and a stable sort leaves equal ones so.
        self.shown.sort_by(|a, b| compare(order, heads, a, b));
        if self.reversed {
            self.shown.reverse();
        }
        let column = |(index, head)| self.shown.iter().map(|row| row.width(index, head)).max().unwrap_or_default();
        self.widths = self.heads.iter().enumerate().map(column).collect();
        let found = self.chosen.as_ref().and_then(|chosen| self.shown.iter().position(|row| row.place == *chosen));
        // What is gone leaves the cursor where it was.
        self.choose(found.unwrap_or(self.at));
    }

    /// Moves the cursor by so many rows.
    pub fn step(&mut self, by: isize) {
        self.choose(self.at.saturating_add_signed(by));
    }

    /// Chooses the row of that index, or the last.
    pub fn choose(&mut self, index: usize) {
        self.at = index.min(self.shown.len().saturating_sub(1));
        self.chosen = self.shown.get(self.at).map(|row| row.place.clone());
    }

    /// Moves the rows so that the chosen one is among the `height` that are on the screen.
    pub fn scroll(&mut self, height: usize) {
        self.top = self.top.clamp((self.at + 1).saturating_sub(height), self.at);
        // Room is not left empty.
        self.top = self.top.min(self.shown.len().saturating_sub(height));
    }

    /// The rows on a screen of that height, and whether each is the chosen one.
    pub fn visible(&self, height: usize) -> impl Iterator<Item = (&Row, bool)> {
        let rows = self.shown.iter().enumerate().skip(self.top).take(height);
        rows.map(|(index, row)| (row.as_ref(), index == self.at))
    }

    /// The row under the cursor.
    pub fn chosen(&self) -> Option<&Row> {
        self.shown.get(self.at).map(Rc::as_ref)
    }

    /// All rows, by namespace and name.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values().map(Rc::as_ref)
    }

    /// Those that are shown, in their order.
    pub fn shown(&self) -> &[Rc<Row>] {
        &self.shown
    }

    /// How wide each column is.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// How many rows there are, filtered or not, and how many of them are stuck.
    pub fn counts(&self) -> (usize, usize) {
        (self.rows.len(), self.stuck)
    }

    /// How it is sorted, and whether the other way round.
    pub fn order(&self) -> (Order, bool) {
        (self.order, self.reversed)
    }
}

fn compare(order: Order, heads: &[Head], a: &Row, b: &Row) -> Ordering {
    // What has no time comes last.
    let longest = |row: &Row| (row.waiting_since.is_none(), row.waiting_since);
    match order {
        Order::Stuck => b.stuck.cmp(&a.stuck).then_with(|| longest(a).cmp(&longest(b))),
        Order::Name => Ordering::Equal,
        Order::State => a.state(heads).cmp(b.state(heads)),
        Order::Age => (a.created.is_none(), a.created).cmp(&(b.created.is_none(), b.created)),
    }
}

#[cfg(test)]
mod tests;
