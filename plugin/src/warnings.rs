//! What is said on stderr beside the result: warnings, each once.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::output::table::sanitized;

/// Where warnings go. Clones share what was said already.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    said: Arc<Mutex<BTreeSet<String>>>,
    /// Are they kept, to be taken?
    held: bool,
}

impl Warnings {
    /// Warnings that are not printed, for whoever wants to know which a request brought.
    pub fn held() -> Self {
        Warnings { held: true, ..Warnings::default() }
    }

    /// Those that came since they were taken last.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner)).into_iter().collect()
    }

    /// Prints `Warning: text`, unless that was printed before.
    pub fn warn(&self, text: impl Into<String>) {
        // They may come from the cluster: no escape sequence reaches the terminal.
        let text = sanitized(&text.into());
        let mut said = self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if said.insert(text.clone()) && !self.held {
            say(format_args!("Warning: {text}"));
        }
    }
}

/// Prints a line on stderr. Where that is closed nobody reads it, and nothing can be done.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
