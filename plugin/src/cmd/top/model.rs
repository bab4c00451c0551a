//! What `top` knows and shows, and how that changes: events in, effects out. No terminal, no cluster, no clock.

mod pages;
mod typed;

use crossterm::event::{KeyCode, KeyEvent};
use jiff::Timestamp;

use super::action::Action;
use super::keys::{self, Command, Tab};
use super::list::{List, Order};
use super::row::{COMPOSITIONS, PODS, Place, Row, SLICES};
use crate::confirm::Question;
pub(super) use pages::{Asked, Page, Subject};
pub(super) use typed::WORDS;

/// Is what is shown true now?
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Link {
    /// It is.
    Live,
    /// The connection is lost.
    Stale { since: Timestamp, why: String },
    /// It was, when the files were written.
    Offline,
}

/// What is looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// The context of the kubeconfig, or the files.
    pub context: String,
    /// `None` for all.
    pub namespace: Option<String>,
}

/// What is known of the webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Webhook {
    /// In a word or two.
    pub word: String,
    /// Nothing is protected, or nobody knows.
    pub alarming: bool,
    /// All that is known.
    pub lines: Vec<String>,
}

/// What happens.
#[derive(Debug)]
pub(super) enum Event {
    /// A key.
    Key(KeyEvent),
    /// A line, where there are no keys.
    Typed(String),
    /// The screen has another size.
    Resized(u16, u16),
    /// Objects of a list have changed, or are gone.
    Turned(Tab, Vec<(Place, Option<Row>)>),
    /// The connection has changed.
    Linked(Link),
    /// The webhook was looked at.
    Looked(Webhook),
    /// Time goes by.
    Ticked(Timestamp),
    /// An object was explained; or why it cannot be.
    Explained(Subject, Result<Vec<String>, String>),
    /// A command says something.
    Said(String),
    /// A command asks something.
    Asked(Question),
    /// A command has ended; or why it failed.
    Ended(Result<(), String>),
    /// The API server warns, or something cannot be read.
    Warned(String),
}

/// What is to be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// End.
    Quit,
    /// Explain an object.
    Explain(Subject),
    /// Carry a command out.
    Act(Action),
    /// Answer its question.
    Answer(bool),
    /// Stop it after the request in flight.
    Interrupt,
    /// Do not wait for it.
    Abandon,
}

/// Lines of the screen that are no rows of a list: title, tabs and heads above; two lines below.
const AROUND_ROWS: u16 = 5;
/// The same for a text: its title above, one line below.
const AROUND_TEXT: u16 = 2;

/// All that is known and shown.
#[derive(Debug)]
pub(super) struct Model {
    /// Where this is.
    pub scope: Scope,
    pub now: Timestamp,
    pub link: Link,
    pub tab: Tab,
    pub webhook: Webhook,
    /// What the filter is, and whether it is being typed.
    pub filter: (String, bool),
    /// How the last command ended, or why there was none.
    pub notice: String,
    /// What lies over the lists; the last one is seen.
    pub pages: Vec<Page>,
    lists: [List; 3],
    size: (u16, u16),
}

impl Model {
    /// Of nothing yet.
    pub fn new(scope: Scope, now: Timestamp, link: Link) -> Self {
        Model {
            scope,
            now,
            link,
            tab: Tab::Compositions,
            webhook: Webhook { word: "…".to_owned(), ..Webhook::default() },
            filter: (String::new(), false),
            notice: String::new(),
            pages: vec![],
            lists: [List::new(&COMPOSITIONS), List::new(&SLICES), List::new(&PODS)],
            size: (80, 24),
        }
    }

    /// The rows of a tab; the webhook has none.
    pub fn list(&self, tab: Tab) -> Option<&List> {
        self.lists.get(tab as usize)
    }

    fn list_mut(&mut self) -> Option<&mut List> {
        self.lists.get_mut(self.tab as usize)
    }

    /// How many rows of a list the screen has.
    pub fn rows(&self) -> usize {
        usize::from(self.size.1.saturating_sub(AROUND_ROWS)).max(1)
    }

    /// Width and height of a text.
    fn text(&self) -> (usize, usize) {
        (usize::from(self.size.0), usize::from(self.size.1.saturating_sub(AROUND_TEXT)).max(1))
    }

    /// Takes in what happens.
    pub fn update(&mut self, event: Event) -> Option<Effect> {
        let effect = match event {
            Event::Key(key) => self.press(key),
            Event::Typed(line) => self.typed(&line),
            Event::Resized(width, height) => {
                self.size = (width, height);
                None
            }
            Event::Turned(tab, turns) => {
                self.lists.get_mut(tab as usize)?.turn(turns);
                self.explain_again()
            }
            Event::Linked(link) => {
                self.link = link;
                None
            }
            Event::Looked(webhook) => {
                self.webhook = webhook;
                None
            }
            Event::Ticked(now) => {
                self.now = now;
                None
            }
            Event::Explained(subject, text) => {
                self.explained(&subject, text);
                None
            }
            Event::Said(line) => {
                self.hear(line);
                None
            }
            Event::Asked(question) => {
                self.asked(question);
                None
            }
            Event::Ended(result) => {
                self.ended(result);
                None
            }
            Event::Warned(text) => {
                self.notice = format!("Warning: {text}");
                None
            }
        };
        let rows = self.rows();
        if let Some(list) = self.list_mut() {
            list.scroll(rows);
        }
        effect
    }

    fn press(&mut self, key: KeyEvent) -> Option<Effect> {
        if let Some(Page::Talk(_)) = self.pages.last() {
            return self.press_in_talk(key);
        }
        if self.filter.1 {
            return self.press_in_filter(key);
        }
        let command = keys::command(key)?;
        self.notice.clear();
        match self.pages.last_mut() {
            Some(_) => self.command_in_text(command),
            None => self.command_in_list(command),
        }
    }

    fn press_in_filter(&mut self, key: KeyEvent) -> Option<Effect> {
        let (text, typing) = &mut self.filter;
        match key.code {
            _ if keys::is_ctrl_c(key) => return Some(Effect::Quit),
            KeyCode::Enter => *typing = false,
            KeyCode::Esc => {
                *typing = false;
                text.clear();
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) => text.push(c),
            _ => return None,
        }
        self.apply_filter();
        None
    }

    fn apply_filter(&mut self) {
        for list in &mut self.lists {
            list.filter(&self.filter.0);
        }
    }

    fn command_in_list(&mut self, command: Command) -> Option<Effect> {
        let rows = self.rows().cast_signed();
        match command {
            Command::Show(tab) => self.tab = tab,
            Command::NextTab => self.tab = self.tab.next(1),
            Command::PreviousTab => self.tab = self.tab.next(Tab::ALL.len() - 1),
            Command::Step(by) => self.move_cursor(|list| list.step(by)),
            Command::Page(by) => self.move_cursor(|list| list.step(by * rows)),
            Command::First => self.move_cursor(|list| list.choose(0)),
            Command::Last => self.move_cursor(|list| list.choose(usize::MAX)),
            Command::Order => self.move_cursor(List::next_order),
            Command::Reverse => self.move_cursor(List::reverse),
            Command::Filter => self.filter.1 = self.tab != Tab::Webhook,
            Command::Help => self.pages.push(Page::help()),
            Command::Back => {
                self.filter.0.clear();
                self.apply_filter();
            }
            Command::Quit => return Some(Effect::Quit),
            Command::Why => {
                let subject = Subject::of(self.chosen()?);
                self.pages.push(Page::why(subject.clone()));
                return Some(Effect::Explain(subject));
            }
            Command::Cleanup | Command::Release { .. } | Command::Resynth { .. } => {
                let action = Action::of_row(command, self.chosen()?);
                return self.act(action);
            }
        }
        None
    }

    fn move_cursor(&mut self, how: impl FnOnce(&mut List)) {
        if let Some(list) = self.list_mut() {
            how(list);
        }
    }

    /// The row under the cursor.
    pub fn chosen(&self) -> Option<&Row> {
        self.list(self.tab)?.chosen()
    }

    fn act(&mut self, action: Result<Action, &'static str>) -> Option<Effect> {
        let action = match (action, &self.link) {
            (_, Link::Offline) => Err("files are only read: nothing can be changed in them"),
            (action, Link::Live | Link::Stale { .. }) => action,
        };
        match action {
            Ok(action) => {
                self.pages.push(Page::talk(&action));
                Some(Effect::Act(action))
            }
            Err(why) => {
                self.notice = why.to_owned();
                None
            }
        }
    }

    /// How the list in sight is sorted, in words.
    pub fn order(&self) -> Option<String> {
        let (order, reversed) = self.list(self.tab)?.order();
        // Of the two, only this one is not as it is read.
        let reversed = if reversed { ", reversed" } else { "" };
        (order != Order::Stuck || !reversed.is_empty()).then(|| format!("by {}{reversed}", order.as_str()))
    }
}

#[cfg(test)]
pub(super) mod tests;
