//! A command line that is still being typed: what has been said, and what the last word is going to be.

use clap::{Arg, ArgAction, Command};

/// What has been said.
#[derive(Debug)]
pub(super) struct Line<'c> {
    /// The command, as far as it is named.
    pub command: &'c Command,
    /// Words that are neither commands nor flags nor their values.
    pub operands: Vec<&'c str>,
    /// Flags that are there already.
    pub flags: Vec<&'c Arg>,
    /// The word to complete.
    pub last: Last<'c>,
}

/// What the last word is going to be, with as much of it as is there.
#[derive(Debug)]
pub(super) enum Last<'c> {
    /// The value of a flag.
    Value(&'c Arg, &'c str),
    /// A flag.
    Flag(&'c str),
    /// A command.
    Command(&'c str),
    /// An operand.
    Operand(&'c str),
}

impl<'c> Line<'c> {
    /// Reads the words as clap would. What clap would refuse is passed over.
    pub(super) fn parse(root: &'c Command, words: &'c [String]) -> Self {
        let (last, said) = words.split_last().map_or(("", &[][..]), |(last, said)| (last.as_str(), said));
        let mut line = Line { command: root, operands: vec![], flags: vec![], last: Last::Operand(last) };
        let (mut waiting, mut operands_only) = (None, false);
        for word in said {
            if waiting.take().is_some() {
                continue;
            }
            match word.strip_prefix('-').filter(|_| !operands_only) {
                Some("-") => operands_only = true,
                Some(flag) if !flag.is_empty() => waiting = line.flag(flag),
                Some(_) | None => match line.command.find_subcommand(word).filter(|_| !operands_only) {
                    Some(command) if line.operands.is_empty() => line.command = command,
                    Some(_) | None => line.operands.push(word),
                },
            }
        }
        line.last = match (waiting, last.strip_prefix("--").and_then(|flag| flag.split_once('='))) {
            (Some(flag), _) => Last::Value(flag, last),
            (None, Some((name, value))) if !operands_only => match line.long(name) {
                Some(flag) => Last::Value(flag, value),
                None => Last::Flag(last),
            },
            (None, _) if last.starts_with('-') && !operands_only => Last::Flag(last),
            (None, _) if line.command.has_subcommands() && line.operands.is_empty() => Last::Command(last),
            (None, _) => Last::Operand(last),
        };
        line
    }

    /// Takes a flag, without its first dash. Returns it where the next word is its value.
    fn flag(&mut self, flag: &'c str) -> Option<&'c Arg> {
        if let Some(long) = flag.strip_prefix('-') {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let flag = self.long(name)?;
            self.flags.push(flag);
            return takes_value(flag).then_some(flag).filter(|_| value.is_none());
        }
        // Several in one word; the value of the last may be in it, too.
        let mut letters = flag.chars();
        while let Some(letter) = letters.next() {
            let flag = self.command.get_arguments().find(|argument| argument.get_short() == Some(letter))?;
            self.flags.push(flag);
            if takes_value(flag) {
                return letters.as_str().is_empty().then_some(flag);
            }
        }
        None
    }

    fn long(&self, name: &str) -> Option<&'c Arg> {
        self.command.get_arguments().find(|argument| argument.get_long() == Some(name))
    }

    /// Is the flag there already, and is once enough?
    pub(super) fn has(&self, flag: &Arg) -> bool {
        let repeats = matches!(flag.get_action(), ArgAction::Append | ArgAction::Count);
        !repeats && self.flags.iter().any(|said| said.get_id() == flag.get_id())
    }
}

fn takes_value(flag: &Arg) -> bool {
    flag.get_action().takes_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command, the operands, and the last word.
    fn read(line: &str) -> String {
        let mut root = crate::cli::command(None);
        root.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let line = Line::parse(&root, &words);
        let last = match line.last {
            Last::Value(flag, text) => format!("value of {}: {text}", flag.get_id()),
            Last::Flag(text) => format!("flag: {text}"),
            Last::Command(text) => format!("command: {text}"),
            Last::Operand(text) => format!("operand: {text}"),
        };
        format!("{} {:?} {last}", line.command.get_name(), line.operands)
    }

    #[test]
    fn knows_what_the_last_word_is_going_to_be() {
        for (line, is) in [
            ("", "kubectl-eno [] command: "),
            ("sl", "kubectl-eno [] command: sl"),
            ("slices ", "slices [] operand: "),
            ("comp web ", "compositions [\"web\"] operand: "),
            ("slices -n ", "slices [] value of namespace: "),
            ("slices -n team", "slices [] value of namespace: team"),
            ("slices -nteam ", "slices [] operand: "),
            ("slices -An ", "slices [] value of namespace: "),
            ("slices --namespace=te", "slices [] value of namespace: te"),
            ("slices --namespace=team ", "slices [] operand: "),
            ("-n team slices ", "slices [] operand: "),
            ("slices -A ", "slices [] operand: "),
            ("slices --st", "slices [] flag: --st"),
            ("slices --no-such-flag=x", "slices [] flag: --no-such-flag=x"),
            ("slices -- -x", "slices [] operand: -x"),
            ("why slices ", "why [\"slices\"] operand: "),
            ("restore -", "restore [] flag: -"),
        ] {
            assert_eq!(read(line), is, "{line}");
        }
    }
}
