//! Questions before something is written. They are asked on stderr, and only of a person: both stdin and stderr must be
//! terminals. The default is No, and so is the end of input.

use std::fmt;
use std::io::{BufRead, IsTerminal, Write};

use crate::failure::Failure;
use crate::output::table::sanitized;

/// What a person must answer to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// `y` or `yes`.
    Yes,
    /// This word, which `what` describes: the name of an object, or how many are changed.
    Type {
        /// Such as `the name`.
        what: &'static str,
        /// The word.
        word: String,
    },
}

/// Asks, and says whether the answer was as demanded.
///
/// # Errors
/// There is nobody to ask. `flag` is the one to pass instead.
pub fn confirm(question: &Question, action: &str, flag: &str) -> Result<bool, Failure> {
    for (stream, terminal) in [("stdin", std::io::stdin().is_terminal()), ("stderr", std::io::stderr().is_terminal())] {
        if !terminal {
            return Err(Failure::local(format_args!(
                "refusing to {action} without confirmation: pass {flag} ({stream} is not a terminal)"
            )));
        }
    }
    Ok(ask(question, &mut std::io::stdin().lock(), &mut std::io::stderr())?)
}

impl Question {
    /// Is this the answer that is demanded?
    pub fn accepts(&self, answer: &str) -> bool {
        let answer = answer.trim();
        match self {
            Question::Yes => ["y", "yes"].iter().any(|yes| answer.eq_ignore_ascii_case(yes)),
            Question::Type { word, .. } => answer == word,
        }
    }
}

/// As it is asked. What is to be typed may come from the cluster.
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Yes => f.write_str("Do you want to continue? (y/N): "),
            Question::Type { what, word } => write!(f, "Type {what} to confirm ({}): ", sanitized(word)),
        }
    }
}

fn ask(question: &Question, input: &mut dyn BufRead, output: &mut dyn Write) -> std::io::Result<bool> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut answer = String::new();
    if input.read_line(&mut answer)? == 0 {
        // The end of input leaves the cursor behind the question.
        writeln!(output)?;
        return Ok(false);
    }
    Ok(question.accepts(&answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(question: &Question, answer: &str) -> bool {
        ask(question, &mut answer.as_bytes(), &mut vec![]).unwrap()
    }

    #[test]
    fn only_yes_is_yes() {
        for (answer, yes) in [
            ("y\n", true),
            ("YES\r\n", true),
            ("y", true),
            ("\n", false),
            ("n\n", false),
            ("yep\n", false),
            ("", false),
        ] {
            assert_eq!(answered(&Question::Yes, answer), yes, "{answer:?}");
        }
    }

    #[test]
    fn a_word_is_typed_whole() {
        let question = Question::Type { what: "the name", word: "web-a".into() };
        for (answer, right) in [("web-a\n", true), (" web-a \n", true), ("y\n", false), ("web\n", false), ("", false)] {
            assert_eq!(answered(&question, answer), right, "{answer:?}");
        }
    }
}
