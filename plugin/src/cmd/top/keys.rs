//! What each key does: one table, for the program and for its help.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The lists, and the webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Compositions,
    Slices,
    Pods,
    Webhook,
}

impl Tab {
    /// All, in their order.
    pub const ALL: [Tab; 4] = [Tab::Compositions, Tab::Slices, Tab::Pods, Tab::Webhook];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Tab::Compositions => "compositions",
            Tab::Slices => "slices",
            Tab::Pods => "pods",
            Tab::Webhook => "webhook",
        }
    }

    /// The one that many tabs to the right; it goes round.
    pub fn next(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }
}

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Show(Tab),
    NextTab,
    PreviousTab,
    Step(isize),
    Page(isize),
    First,
    Last,
    Why,
    Filter,
    Order,
    Reverse,
    Cleanup,
    Release { force: bool },
    Resynth { force: bool },
    Help,
    Back,
    Quit,
}

/// A line of the help.
pub(super) struct Binding {
    /// As people call the keys.
    pub keys: &'static str,
    pub says: &'static str,
    /// What it is called where there is little room; empty where it is not shown then.
    pub short: &'static str,
    does: &'static [(KeyCode, Command)],
}

const fn binding(
    keys: &'static str,
    says: &'static str,
    short: &'static str,
    does: &'static [(KeyCode, Command)],
) -> Binding {
    Binding { keys, says, short, does }
}

/// All of them.
pub(super) const BINDINGS: &[Binding] = &[
    binding("?", "this help", "help", &[(KeyCode::Char('?'), Command::Help), (KeyCode::F(1), Command::Help)]),
    binding(
        "1 2 3 4, Tab",
        "compositions, slices, pods of synthesizers, webhook",
        "",
        &[
            (KeyCode::Char('1'), Command::Show(Tab::Compositions)),
            (KeyCode::Char('2'), Command::Show(Tab::Slices)),
            (KeyCode::Char('3'), Command::Show(Tab::Pods)),
            (KeyCode::Char('4'), Command::Show(Tab::Webhook)),
            (KeyCode::Tab, Command::NextTab),
            (KeyCode::BackTab, Command::PreviousTab),
        ],
    ),
    binding(
        "arrows, j k",
        "up and down; also PageUp, PageDown, Home, End",
        "",
        &[
            (KeyCode::Up, Command::Step(-1)),
            (KeyCode::Char('k'), Command::Step(-1)),
            (KeyCode::Down, Command::Step(1)),
            (KeyCode::Char('j'), Command::Step(1)),
            (KeyCode::PageUp, Command::Page(-1)),
            (KeyCode::PageDown, Command::Page(1)),
            (KeyCode::Char(' '), Command::Page(1)),
            (KeyCode::Home, Command::First),
            (KeyCode::Char('g'), Command::First),
            (KeyCode::End, Command::Last),
            (KeyCode::Char('G'), Command::Last),
        ],
    ),
    binding(
        "Enter, w",
        "why: the facts, the verdict, what to do next",
        "why",
        &[(KeyCode::Enter, Command::Why), (KeyCode::Right, Command::Why), (KeyCode::Char('w'), Command::Why)],
    ),
    binding(
        "/",
        "show only rows with these words; \"stuck\" is one",
        "filter",
        &[(KeyCode::Char('/'), Command::Filter)],
    ),
    binding(
        "o, O",
        "sort by stuck, name, state or age; the other way round",
        "order",
        &[(KeyCode::Char('o'), Command::Order), (KeyCode::Char('O'), Command::Reverse)],
    ),
    binding(
        "c",
        "clean up the row's namespace, as the verdicts say",
        "cleanup",
        &[(KeyCode::Char('c'), Command::Cleanup)],
    ),
    binding(
        "r, R",
        "release: take Eno's finalizer off, or end a pod; R with --force",
        "release",
        &[
            (KeyCode::Char('r'), Command::Release { force: false }),
            (KeyCode::Char('R'), Command::Release { force: true }),
        ],
    ),
    binding(
        "s, S",
        "synthesize the row's composition anew; S with --force",
        "resynth",
        &[
            (KeyCode::Char('s'), Command::Resynth { force: false }),
            (KeyCode::Char('S'), Command::Resynth { force: true }),
        ],
    ),
    binding("Esc", "back; in a list, no filter", "", &[(KeyCode::Esc, Command::Back), (KeyCode::Left, Command::Back)]),
    binding("q, Ctrl-C", "quit", "quit", &[(KeyCode::Char('q'), Command::Quit)]),
];

/// What a key asks for, outside of texts that are typed.
pub(super) fn command(key: KeyEvent) -> Option<Command> {
    if is_ctrl_c(key) {
        return Some(Command::Quit);
    }
    // Ctrl-R is no r.
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return None;
    }
    let mut all = BINDINGS.iter().flat_map(|binding| binding.does);
    all.find(|(code, _)| *code == key.code).map(|(_, command)| *command)
}

/// Ctrl-C comes as a key: the terminal sends no signal for it.
pub(super) fn is_ctrl_c(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        let keys: Vec<KeyCode> = BINDINGS.iter().flat_map(|binding| binding.does).map(|(key, _)| *key).collect();
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key:?}");
        }
    }

    #[test]
    fn control_makes_another_key_of_it() {
        let key = |modifiers| command(KeyEvent::new(KeyCode::Char('r'), modifiers));
        assert_eq!(key(KeyModifiers::NONE), Some(Command::Release { force: false }));
        assert_eq!(key(KeyModifiers::CONTROL), None);
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(command(ctrl_c), Some(Command::Quit));
    }
}
