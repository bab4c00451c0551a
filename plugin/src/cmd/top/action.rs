//! What `top` can do to an object: the commands of the command line, as one would type them.

use super::super::why::shell::quoted;
use super::super::why::target::Kind;
use super::keys::Command;
use super::row::{Place, Row};

/// A command, and the namespace that it is run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub namespace: String,
    /// Without flags of the connection.
    words: Vec<String>,
}

impl Action {
    /// What a key means for an object.
    ///
    /// # Errors
    /// Why it means nothing there.
    pub fn of(command: Command, kind: Kind, place: &Place, composition: Option<&Place>) -> Result<Self, &'static str> {
        let (verb, object, namespace, force) = match (command, kind) {
            // A pod runs where Eno does: what it works for is elsewhere.
            (Command::Cleanup, _) => ("cleanup", None, &composition.unwrap_or(place).0, false),
            (Command::Release { force }, Kind::Slice | Kind::Composition) => {
                ("release", Some(format!("{}/{}", kind.singular(), place.1)), &place.0, force)
            }
            (Command::Release { force: false }, Kind::Pod) => ("pods release", Some(place.1.clone()), &place.0, false),
            (Command::Release { force: true }, Kind::Pod) => {
                return Err("no pod is released against the rules: it might still run");
            }
            (Command::Release { .. }, _) => return Err("only slices, compositions and pods can be released"),
            (Command::Resynth { force }, _) => {
                let (namespace, name) = composition.ok_or("no composition owns it: there is nothing to synthesize")?;
                ("resynth", Some(format!("{}/{name}", Kind::Composition.singular())), namespace, force)
            }
            (_, _) => return Err("that changes nothing"),
        };
        let mut words: Vec<String> = verb.split(' ').map(str::to_owned).collect();
        words.extend(object);
        words.extend(force.then(|| "--force".to_owned()));
        Ok(Action { namespace: namespace.clone(), words })
    }

    /// The same for the row of a list.
    ///
    /// # Errors
    /// As for [`Action::of`].
    pub fn of_row(command: Command, row: &Row) -> Result<Self, &'static str> {
        Self::of(command, row.kind, &row.place, row.composition.as_ref())
    }

    /// Does it write a backup?
    pub fn writes_backup(&self) -> bool {
        self.words.first().is_some_and(|word| word == "release")
    }

    /// Does it read what the webhook keeps of pods?
    pub fn reads_outbox(&self) -> bool {
        self.words.first().is_some_and(|word| word == "pods")
    }

    /// The arguments, with others at the end.
    pub fn args<'a>(&'a self, more: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        let words = self.words.iter().map(String::as_str);
        words.chain(["-n", self.namespace.as_str()]).chain(more.iter().copied())
    }

    /// As one would type it.
    pub fn shown(&self, more: &[&str]) -> String {
        // Flags are ours; all else is quoted where it must be.
        let is_flag = |word: &str| word == "-n" || word.starts_with("--");
        let word = |word: &str| if is_flag(word) { word.to_owned() } else { quoted(word) };
        let words: Vec<String> = self.args(more).map(word).collect();
        format!("kubectl eno {}", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Place {
        ("team-a".to_owned(), name.to_owned())
    }

    fn shown(command: Command, kind: Kind, owner: Option<&str>) -> Result<String, &'static str> {
        Action::of(command, kind, &place("x"), owner.map(place).as_ref()).map(|action| action.shown(&[]))
    }

    #[test]
    fn keys_are_the_commands_that_one_would_type() {
        let release = Command::Release { force: false };
        assert_eq!(shown(Command::Cleanup, Kind::Pod, None).unwrap(), "kubectl eno cleanup -n team-a");
        assert_eq!(shown(release, Kind::Slice, None).unwrap(), "kubectl eno release resourceslice/x -n team-a");
        assert_eq!(shown(release, Kind::Pod, None).unwrap(), "kubectl eno pods release x -n team-a");
        assert_eq!(
            shown(Command::Resynth { force: true }, Kind::Slice, Some("web")).unwrap(),
            "kubectl eno resynth composition/web --force -n team-a"
        );
    }

    #[test]
    fn says_where_a_key_means_nothing() {
        assert!(
            shown(Command::Release { force: true }, Kind::Pod, Some("web")).unwrap_err().contains("might still run")
        );
        assert!(shown(Command::Resynth { force: false }, Kind::Slice, None).unwrap_err().contains("no composition"));
    }
}
