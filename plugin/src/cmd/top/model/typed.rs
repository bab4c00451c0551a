//! The same by words, for those who type lines.

use super::super::keys::{Command, Tab};
use super::pages::{Asked, Page};
use super::{Effect, Model};

/// The words, and what they do.
pub(in crate::cmd::top) const WORDS: &[(&str, &str)] = &[
    ("list", "say all rows again"),
    ("compositions, slices, pods, webhook", "say what there is of these"),
    ("filter WORDS", "say only rows with these words; \"stuck\" is one; without WORDS: all"),
    ("order, reverse", "sort by the next: stuck, name, state, age; the other way round"),
    ("why NAME", "the facts, the verdict, what to do next; NAME may be NAMESPACE/NAME"),
    ("cleanup NAME", "clean up its namespace: collect and release what the verdicts say"),
    ("release NAME [--force]", "take Eno's finalizer off; of a pod whose node is gone: end it"),
    ("resynth NAME [--force]", "ask for a new synthesis of its composition"),
    ("stop", "stop a command that is at work"),
    ("help", "these words"),
    ("quit", "end"),
];

impl Model {
    pub(super) fn typed(&mut self, line: &str) -> Option<Effect> {
        let line = line.trim();
        if let Some(Page::Talk(talk)) = self.pages.last_mut() {
            match &talk.asked {
                Asked::Question(question, _) => {
                    let yes = question.accepts(line);
                    talk.asked = Asked::Nothing;
                    return Some(Effect::Answer(yes));
                }
                Asked::Nothing | Asked::ToStop if line == "stop" => {
                    talk.asked = Asked::ToStop;
                    return Some(Effect::Interrupt);
                }
                Asked::Nothing | Asked::ToStop => {
                    self.notice = "a command is at work; \"stop\" stops it".to_owned();
                    return None;
                }
                Asked::ToBeRead => {}
            }
        }
        // Here nothing lies over anything.
        self.pages.clear();
        self.notice.clear();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (rest, force) = match rest.trim().strip_suffix("--force") {
            Some(rest) => (rest.trim(), true),
            None => (rest.trim(), false),
        };
        let about = match word {
            "filter" => {
                self.filter = (rest.to_owned(), false);
                self.apply_filter();
                return None;
            }
            "list" | "help" | "" => return None,
            "order" => return self.command_in_list(Command::Order),
            "reverse" => return self.command_in_list(Command::Reverse),
            "quit" | "exit" | "q" => return Some(Effect::Quit),
            "why" => Command::Why,
            "cleanup" => Command::Cleanup,
            "release" => Command::Release { force },
            "resynth" => Command::Resynth { force },
            word => {
                match Tab::ALL.into_iter().find(|tab| tab.title() == word) {
                    Some(tab) => self.tab = tab,
                    None => self.notice = format!("no such word: {word}; \"help\" says which there are"),
                }
                return None;
            }
        };
        match self.choose_named(rest) {
            Ok(()) => self.command_in_list(about),
            Err(why) => {
                self.notice = why;
                None
            }
        }
    }

    /// Chooses a row by its name, alone or after its namespace.
    fn choose_named(&mut self, name: &str) -> Result<(), String> {
        let title = self.tab.title();
        let list = self.list_mut().ok_or_else(|| format!("the {title} has no rows"))?;
        let is = |place: &(String, String)| match name.split_once('/') {
            Some((namespace, name)) => place.0 == namespace && place.1 == name,
            None => place.1 == name,
        };
        let found: Vec<usize> =
            list.shown().iter().enumerate().filter(|(_, row)| is(&row.place)).map(|(index, _)| index).collect();
        match found.as_slice() {
            [only] => {
                list.choose(*only);
                Ok(())
            }
            [] => Err(format!("no {name:?} among the {title} that are listed")),
            _ => Err(format!("{name} is in several namespaces; say NAMESPACE/NAME")),
        }
    }
}
