//! A tree that is watched.

use std::collections::BTreeMap;
use std::process::ExitCode;

use eno_shared::Verdict;
use eno_shared::names::ENO_GROUP;
use jiff::{SignedDuration, Timestamp};

use super::build::Forest;
use super::node::Node;
use super::{drawn, few, not_a_root, query};
use crate::age::age;
use crate::cli::{Cli, TreeFlags, WaitFor};
use crate::cmd::watch::until::Until;
use crate::cmd::watch::{Shown, Stage, titled};
use crate::cmd::why::target::{Kind, Target};
use crate::failure::Failure;
use crate::live::{Change, Feed, Wants};
use crate::output::appended::Appended;
use crate::output::screen::Size;
use crate::output::table::sanitized;
use crate::output::{Format, painter};

const HEADERS: [&str; 6] = ["EVENT", "NAME", "IN", "STATE", "REASON", "AGE"];

struct Tree<'a> {
    flags: &'a TreeFlags,
    format: Format,
    target: Option<Target>,
    namespace: String,
    until: Option<Until>,
    roots: Vec<Node>,
    /// When it must be built again, though nothing has changed.
    due: Option<Timestamp>,
    /// What was appended so far: a row for each node, by the labels that lead to it; a document for each root.
    rows: BTreeMap<Vec<String>, Row>,
    appended: Appended,
    paint: Box<dyn Fn(&str) -> String>,
}

/// A node in a pipe.
#[derive(Clone, PartialEq, Eq)]
struct Row {
    state: &'static str,
    reason: String,
    made: Option<Timestamp>,
    /// Of a root: what `-o json` prints.
    object: Option<serde_json::Value>,
}

/// Runs the command.
///
/// # Errors
/// Where the object does not exist, or cannot be read.
pub(super) async fn run(
    flags: &TreeFlags,
    cli: &Cli,
    format: Format,
    target: Option<Target>,
) -> Result<ExitCode, Failure> {
    if let Some(kind) = target.as_ref().map(|target| target.kind) {
        match kind {
            Kind::Symphony | Kind::Composition => {}
            Kind::Slice | Kind::Namespace | Kind::Pod => return Err(not_a_root(kind)),
        }
    }
    let stage = Stage::open(matches!(format, Format::Text { .. }), cli.global.verbosity);
    let (cluster, namespace) = crate::cmd::cluster(cli, flags.source.concurrency, &stage.warnings)?;
    let wants = Wants { query: query(Some(namespace.clone())), symphonies: true, ..Wants::default() };
    let feed = Feed::start(&cluster, wants).await?;
    let (appended, paint) = (Appended::new(flags.output.no_headers), Box::new(painter(flags.output.color)));
    let (until, roots, due, rows) = (None, vec![], None, BTreeMap::new());
    let mut tree = Tree { flags, format, target, namespace, until, roots, due, rows, appended, paint };
    tree.build(&feed);
    match &tree.target {
        Some(_) if tree.roots.is_empty() && flags.watch.until == Some(WaitFor::Deleted) => {
            return Ok(ExitCode::SUCCESS);
        }
        Some(target) if tree.roots.is_empty() => return Err(target.kind.not_found(&target.name, false)),
        Some(_) | None => {}
    }
    if let Some(state) = flags.watch.until {
        tree.until = Some(Until::of_target(state, tree.target.as_ref(), &tree.namespace, feed.snapshot())?);
    }
    stage.watch(feed, &mut tree, flags.watch.timeout).await
}

impl Tree<'_> {
    fn build(&mut self, feed: &Feed) {
        let symphonies = &feed.symphonies().items;
        let forest = Forest::of(feed.snapshot(), symphonies, Some(&self.namespace));
        self.roots = match &self.target {
            None => forest.all(),
            Some(Target { kind: Kind::Symphony, name }) => {
                let named = symphonies.iter().filter(|symphony| symphony.metadata.name == *name);
                named.map(|symphony| forest.symphony(symphony)).collect()
            }
            Some(Target { name, .. }) => forest.composition(&self.namespace, name).into_iter().collect(),
        };
        // What is too new to tell will be old enough soon.
        let soon = feed.snapshot().now.saturating_add(SignedDuration::from_secs(1)).ok();
        self.due = soon.filter(|_| self.roots.iter().any(waits));
    }

    fn all_rows(&self) -> Result<BTreeMap<Vec<String>, Row>, Failure> {
        let mut rows = BTreeMap::new();
        for root in &self.roots {
            let object = match &self.format {
                Format::Objects(_) => Some(serde_json::to_value(root).map_err(Failure::local)?),
                Format::Text { .. } | Format::Name => None,
            };
            let is_text = matches!(self.format, Format::Text { .. });
            add(&mut rows, root, &mut vec![], is_text);
            if let Some(row) = rows.get_mut(&vec![root.label()]) {
                row.object = object;
            }
        }
        Ok(rows)
    }

    /// What has become of the rows.
    fn print(&mut self, events: &[(&'static str, Vec<String>, Row)], now: Timestamp) -> Result<String, Failure> {
        match &self.format {
            Format::Text { .. } => {
                let row = |(event, path, row): &(&str, Vec<String>, Row)| {
                    let parent = path.len().checked_sub(2).map_or("<none>", |index| &path[index]);
                    let name = path.last().map_or("", String::as_str);
                    let age = row.made.map_or_else(|| "<none>".to_owned(), |made| age(Some(made), now));
                    let reason = if row.reason.is_empty() { "<none>" } else { &row.reason };
                    vec![event, name, parent, row.state, reason, &age].into_iter().map(ToOwned::to_owned).collect()
                };
                let style = |header: &str, cell: &str| match header {
                    "STATE" => (self.paint)(cell),
                    _ => cell.to_owned(),
                };
                Ok(self.appended.rows(&HEADERS, events.iter().map(row).collect(), style))
            }
            Format::Name => {
                let line = |(event, path, _): &(&str, Vec<String>, Row)| {
                    let (kind, name) = path[0].split_once('/').unwrap_or_default();
                    let name = sanitized(&format!("{}.{ENO_GROUP}/{name}", kind.to_lowercase()));
                    if *event == "DELETED" { format!("{name} deleted\n") } else { name + "\n" }
                };
                Ok(events.iter().map(line).collect())
            }
            Format::Objects(form) => {
                let events: Vec<_> =
                    events.iter().filter_map(|(event, _, row)| Some((*event, row.object.clone()?))).collect();
                form.events(&mut self.appended, &events)
            }
        }
    }
}

fn waits(node: &Node) -> bool {
    node.state == Verdict::Wait.as_str() || node.children.iter().any(waits)
}

/// Rows of a node, and of all below it where that is wanted.
fn add(rows: &mut BTreeMap<Vec<String>, Row>, node: &Node, path: &mut Vec<String>, below: bool) {
    path.push(node.label());
    let (state, reason, made) = (node.state, node.shown_reason(), node.creation_timestamp);
    rows.insert(path.clone(), Row { state, reason, made, object: None });
    if below {
        node.children.iter().for_each(|child| add(rows, child, path, below));
    }
    path.pop();
}

impl Shown for Tree<'_> {
    fn update(&mut self, feed: &Feed, change: &Change) -> Result<(), Failure> {
        if *change != Change::default() || self.due.is_some_and(|due| due <= feed.snapshot().now) {
            self.build(feed);
        }
        self.until.as_mut().map_or(Ok(()), |until| until.update(feed.snapshot(), change))
    }

    fn due(&self) -> Option<Timestamp> {
        self.due
    }

    fn frame(&mut self, feed: &Feed, room: Size) -> Vec<String> {
        let what = match &self.target {
            None => format!("tree of namespace {}", self.namespace),
            Some(Target { kind, name }) => format!("tree of {}/{name} in {}", kind.singular(), self.namespace),
        };
        let lines = drawn(&self.roots, feed.snapshot().now, self.flags, Some(room));
        let rows: usize = self.roots.iter().map(|root| root.height(few(self.flags))).sum();
        titled(&what, lines, rows + usize::from(!self.flags.output.no_headers), feed, room)
    }

    fn news(&mut self, feed: &Feed) -> Result<String, Failure> {
        let new = self.all_rows()?;
        let old = std::mem::replace(&mut self.rows, new.clone());
        let gone = old.iter().filter(|(path, _)| !new.contains_key(*path));
        let mut events: Vec<_> = gone.map(|(path, row)| ("DELETED", path.clone(), row.clone())).collect();
        for (path, row) in new {
            match old.get(&path) {
                None => events.push(("ADDED", path, row)),
                Some(known) if *known != row => events.push(("MODIFIED", path, row)),
                Some(_) => {}
            }
        }
        self.print(&events, feed.snapshot().now)
    }

    fn is_over(&self) -> bool {
        // What is gone does not come back.
        let gone = self.target.is_some() && self.roots.is_empty();
        gone || self.until.as_ref().is_some_and(Until::is_reached)
    }

    fn awaits(&self) -> Option<String> {
        self.until.as_ref().map(Until::awaits)
    }
}
