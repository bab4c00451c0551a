//! What is said when something happens.

use super::super::keys::Tab;
use super::super::list::List;
use super::super::model::{Event, Link, Model, Subject, WORDS};
use super::super::row::{Head, Place, Row, Shows};
use crate::output::table::sanitized;

/// More rows are not said at once.
const MANY: usize = 50;

/// What was said, so that only what is new is said.
#[derive(Debug, Default)]
pub(super) struct Printer {
    begun: bool,
    link: Option<Link>,
    webhook: String,
    notice: String,
    explained: Option<Subject>,
    /// What was asked for by a word.
    wanted: Wanted,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    #[default]
    Nothing,
    Help,
    List,
}

impl Printer {
    /// Where this is, how much there is, and what is stuck.
    pub fn begin(&mut self, model: &Model) -> Vec<String> {
        if std::mem::replace(&mut self.begun, true) {
            return vec![];
        }
        self.link = Some(model.link.clone());
        let scope =
            model.scope.namespace.as_ref().map_or("all namespaces".to_owned(), |name| format!("namespace {name}"));
        let mut lines = vec![format!("kubectl eno top: {}, {scope}, {}.", model.scope.context, link(&model.link))];
        for tab in [Tab::Compositions, Tab::Slices, Tab::Pods] {
            let Some(list) = model.list(tab) else { continue };
            let (all, stuck) = list.counts();
            lines.push(format!("{all} {}, {stuck} stuck.", tab.title()));
            lines.extend(list.rows().filter(|row| row.stuck).take(MANY).map(|row| said(row, list.heads, model)));
        }
        lines.extend(self.webhook(model));
        lines.push("Type help for the words that there are.".to_owned());
        lines
    }

    /// Before it is taken in.
    pub fn happens(&mut self, event: &Event, model: &Model) -> Vec<String> {
        match event {
            Event::Turned(tab, turns) if self.begun => {
                let Some(list) = model.list(*tab) else { return vec![] };
                turns.iter().filter_map(|turn| turned(turn, list, model)).collect()
            }
            Event::Typed(line) => {
                self.explained = None;
                self.wanted = match line.split_whitespace().next().unwrap_or_default() {
                    "help" => Wanted::Help,
                    "list" | "filter" | "order" | "reverse" => Wanted::List,
                    word if Tab::ALL.iter().any(|tab| tab.title() == word) => Wanted::List,
                    _ => Wanted::Nothing,
                };
                vec![]
            }
            Event::Explained(subject, text) if self.explained.as_ref() != Some(subject) => {
                self.explained = Some(subject.clone());
                match text {
                    Ok(lines) => lines.clone(),
                    Err(why) => why.lines().map(str::to_owned).collect(),
                }
            }
            Event::Said(line) => vec![line.clone()],
            Event::Asked(question) => vec![question.to_string().trim_end().to_owned()],
            Event::Ended(_)
            | Event::Explained(..)
            | Event::Turned(..)
            | Event::Key(_)
            | Event::Resized(..)
            | Event::Linked(_)
            | Event::Looked(_)
            | Event::Ticked(_)
            | Event::Warned(_) => vec![],
        }
    }

    /// After it was taken in.
    pub fn happened(&mut self, model: &Model) -> Vec<String> {
        let mut lines = vec![];
        if !self.begun {
            return lines;
        }
        if self.link.as_ref().is_some_and(|link| *link != model.link) {
            self.link = Some(model.link.clone());
            lines.push(format!("The connection is {}.", link(&model.link)));
        }
        lines.extend(self.webhook(model));
        if self.notice != model.notice {
            self.notice.clone_from(&model.notice);
            lines.extend((!self.notice.is_empty()).then(|| self.notice.clone()));
        }
        match std::mem::take(&mut self.wanted) {
            Wanted::Nothing => {}
            Wanted::Help => lines.extend(WORDS.iter().map(|(word, does)| format!("{word}: {does}"))),
            Wanted::List => lines.extend(listed(model)),
        }
        lines
    }

    /// What is new of the webhook. Until it was looked at, there is nothing to say.
    fn webhook(&mut self, model: &Model) -> Option<String> {
        let word = &model.webhook.word;
        if self.webhook == *word || word == "…" {
            return None;
        }
        self.webhook.clone_from(word);
        Some(format!("The webhook is {word}."))
    }
}

fn link(link: &Link) -> String {
    match link {
        Link::Live => "live".to_owned(),
        Link::Offline => "offline".to_owned(),
        Link::Stale { since, why } => format!("stale since {since}: {}", sanitized(why)),
    }
}

fn listed(model: &Model) -> Vec<String> {
    let Some(list) = model.list(model.tab) else { return model.webhook.lines.clone() };
    let shown = list.shown();
    let mut lines = vec![format!("{} {}", shown.len(), model.tab.title())];
    lines.extend(model.order());
    lines.extend(shown.iter().take(MANY).map(|row| said(row, list.heads, model)));
    if shown.len() > MANY {
        lines.push(format!("and {} more; filter says fewer", shown.len() - MANY));
    }
    lines
}

fn turned((place, row): &(Place, Option<Row>), list: &List, model: &Model) -> Option<String> {
    let words: Vec<String> = model.filter.0.split_whitespace().map(str::to_lowercase).collect();
    match row {
        Some(row) => row.matches(&words).then(|| said(row, list.heads, model)),
        None => {
            let was = list.rows().find(|row| row.place == *place).filter(|row| row.matches(&words))?;
            Some(format!("{} is gone", named(was)))
        }
    }
}

fn named(row: &Row) -> String {
    format!("{} {}/{}", row.kind.singular(), sanitized(&row.place.0), sanitized(&row.place.1))
}

/// One row in one line: what matters most comes first.
fn said(row: &Row, heads: &[Head], model: &Model) -> String {
    let mut parts = vec![];
    parts.extend(row.stuck.then(|| "stuck".to_owned()));
    for (index, head) in heads.iter().enumerate().filter(|(_, head)| !["NAMESPACE", "NAME"].contains(&head.text)) {
        let cell = row.cell(index, head, model.now);
        match head.shows {
            _ if cell.is_empty() || cell == "<none>" => {}
            Shows::State => parts.push(cell),
            Shows::Name | Shows::Word | Shows::Waiting | Shows::Age => {
                parts.push(format!("{} {cell}", head.text.to_lowercase()));
            }
        }
    }
    format!("{}: {}", named(row), parts.join(", "))
}
