//! What lies over the lists: help, an explanation, a command at work.

use crossterm::event::{KeyCode, KeyEvent};

use super::super::super::why::target::Kind;
use super::super::action::Action;
use super::super::keys::{self, BINDINGS, Command};
use super::super::pane::Pane;
use super::super::row::{Place, Row};
use super::{Effect, Model};
use crate::confirm::Question;

/// What lies over the lists.
#[derive(Debug)]
pub(in crate::cmd::top) enum Page {
    /// The keys.
    Help(Pane),
    /// Why an object is as it is.
    Why { subject: Subject, pane: Pane },
    /// A command, which asks before it writes.
    Talk(Talk),
}

/// An object that is explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd::top) struct Subject {
    pub kind: Kind,
    pub place: Place,
    /// The composition that it belongs to.
    pub composition: Option<Place>,
}

/// A command at work.
#[derive(Debug)]
pub(in crate::cmd::top) struct Talk {
    /// As one would type it.
    pub command: String,
    /// What it has said.
    pub said: Pane,
    pub asked: Asked,
}

/// Does it wait for a person?
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd::top) enum Asked {
    /// It works.
    Nothing,
    /// It works, and is to stop.
    ToStop,
    /// It asks, and so much is typed.
    Question(Question, String),
    /// It has ended.
    ToBeRead,
}

impl Subject {
    /// Of a row.
    pub(super) fn of(row: &Row) -> Self {
        Subject { kind: row.kind, place: row.place.clone(), composition: row.composition.clone() }
    }
}

impl Page {
    pub(super) fn help() -> Self {
        let keys = BINDINGS.iter().map(|binding| format!("  {:<14} {}", binding.keys, binding.says));
        let text = [
            "",
            "A row with ! is stuck: something blocks it, for longer than --stuck-after.",
            "c, r and s show what would be done, checked by the API server, and then ask as",
            "the commands do.",
        ];
        Page::Help(Pane::new(keys.chain(text.map(str::to_owned)).collect()))
    }

    pub(super) fn why(subject: Subject) -> Self {
        Page::Why { subject, pane: Pane::new(vec!["…".to_owned()]) }
    }

    pub(super) fn talk(action: &Action) -> Self {
        Page::Talk(Talk { command: action.shown(&[]), said: Pane::default(), asked: Asked::Nothing })
    }

    /// Its title.
    pub fn title(&self) -> String {
        match self {
            Page::Help(_) => "keys".to_owned(),
            Page::Why { subject, .. } => {
                format!("kubectl eno why {}/{} -n {}", subject.kind.singular(), subject.place.1, subject.place.0)
            }
            Page::Talk(talk) => talk.command.clone(),
        }
    }

    /// Its text.
    pub fn pane(&self) -> &Pane {
        match self {
            Page::Help(pane) | Page::Why { pane, .. } => pane,
            Page::Talk(talk) => &talk.said,
        }
    }

    fn pane_mut(&mut self) -> &mut Pane {
        match self {
            Page::Help(pane) | Page::Why { pane, .. } => pane,
            Page::Talk(talk) => &mut talk.said,
        }
    }
}

impl Model {
    pub(super) fn command_in_text(&mut self, command: Command) -> Option<Effect> {
        let (width, height) = self.text();
        let page = self.pages.last_mut()?;
        let mut scroll = |by| page.pane_mut().step(by, width, height);
        match command {
            Command::Step(by) => scroll(by),
            Command::Page(by) => scroll(by * height.cast_signed()),
            Command::First => scroll(isize::MIN),
            Command::Last => scroll(isize::MAX),
            Command::Help if !matches!(page, Page::Help(_)) => self.pages.push(Page::help()),
            // Whoever is deep in does not want to lose all.
            Command::Back | Command::Quit | Command::Help | Command::Why => drop(self.pages.pop()),
            Command::Cleanup | Command::Release { .. } | Command::Resynth { .. } => {
                let Page::Why { subject: Subject { kind, place, composition }, .. } = page else { return None };
                let action = Action::of(command, *kind, place, composition.as_ref());
                return self.act(action);
            }
            Command::Show(_) | Command::NextTab | Command::PreviousTab => {}
            Command::Filter | Command::Order | Command::Reverse => {}
        }
        None
    }

    /// Something has changed: what is explained may be otherwise now.
    pub(super) fn explain_again(&self) -> Option<Effect> {
        self.pages.iter().rev().find_map(|page| match page {
            Page::Why { subject, .. } => Some(Effect::Explain(subject.clone())),
            Page::Help(_) | Page::Talk(_) => None,
        })
    }

    pub(super) fn explained(&mut self, subject: &Subject, text: Result<Vec<String>, String>) {
        let lines = text.unwrap_or_else(|why| why.lines().map(str::to_owned).collect());
        for page in &mut self.pages {
            if let Page::Why { subject: of, pane } = page
                && of == subject
            {
                pane.replace(lines.clone());
            }
        }
    }

    /// The command at work; it is always the last page.
    fn talk(&mut self) -> Option<&mut Talk> {
        match self.pages.last_mut() {
            Some(Page::Talk(talk)) => Some(talk),
            Some(Page::Help(_) | Page::Why { .. }) | None => None,
        }
    }

    pub(super) fn hear(&mut self, line: String) {
        let (width, height) = self.text();
        let Some(talk) = self.talk() else { return };
        talk.said.push(line);
        // The question, and what it is about, stand at the end.
        talk.said.step(isize::MAX, width, height);
    }

    pub(super) fn asked(&mut self, question: Question) {
        if let Some(talk) = self.talk() {
            talk.asked = Asked::Question(question, String::new());
        }
    }

    pub(super) fn ended(&mut self, result: Result<(), String>) {
        for line in result.err().iter().flat_map(|why| why.lines()) {
            self.hear(line.to_owned());
        }
        let Some(talk) = self.talk() else { return };
        talk.asked = Asked::ToBeRead;
        // What was done, or why not, is what a command says last.
        let last = talk.said.lines().iter().rev().find(|line| !line.is_empty()).cloned();
        self.notice = last.unwrap_or_default();
    }

    pub(super) fn press_in_talk(&mut self, key: KeyEvent) -> Option<Effect> {
        let (width, height) = self.text();
        let talk = self.talk()?;
        let scroll = match key.code {
            KeyCode::Up => -1,
            KeyCode::Down => 1,
            KeyCode::PageUp => -height.cast_signed(),
            KeyCode::PageDown => height.cast_signed(),
            _ => 0,
        };
        if scroll != 0 {
            talk.said.step(scroll, width, height);
            return None;
        }
        let stop = keys::is_ctrl_c(key);
        match &mut talk.asked {
            Asked::Nothing if stop => {
                talk.asked = Asked::ToStop;
                Some(Effect::Interrupt)
            }
            Asked::ToStop if stop => {
                self.pages.pop();
                self.notice = "not waited for: a request may have been in flight".to_owned();
                Some(Effect::Abandon)
            }
            // What is typed before the question is no answer to it.
            Asked::Nothing | Asked::ToStop => None,
            Asked::ToBeRead => {
                if stop || matches!(key.code, KeyCode::Enter | KeyCode::Esc | KeyCode::Char('q' | ' ')) {
                    self.pages.pop();
                }
                None
            }
            Asked::Question(question, typed) => {
                let answer = match key.code {
                    KeyCode::Esc => false,
                    _ if stop => false,
                    KeyCode::Enter => question.accepts(typed),
                    KeyCode::Backspace => {
                        typed.pop();
                        return None;
                    }
                    KeyCode::Char(c) => {
                        typed.push(c);
                        return None;
                    }
                    _ => return None,
                };
                let line = format!("{question}{typed}");
                talk.asked = Asked::Nothing;
                self.hear(line);
                Some(Effect::Answer(answer))
            }
        }
    }
}
