//! What struck, what was measured, and what did not hold.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail};

use super::actors::Pods;
use super::audit::Audit;
use super::fault::Fault;
use super::ledger::{Sums, Symptom};
use super::schedule::Step;
use super::stage::Stage;
use crate::page;

/// A report.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
    sums: Sums,
    summary: String,
    wrong: Vec<String>,
}

#[derive(Debug)]
struct Row {
    faults: Vec<Fault>,
    sums: Sums,
    measured: String,
    well: Option<Duration>,
}

impl Report {
    /// A step is over.
    pub(super) fn struck(&mut self, step: &Step, sums: Sums, struck: &Result<Vec<String>>, well: &Result<Duration>) {
        let measured = match struck {
            Ok(measured) => measured.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("; "),
            Err(error) => format!("FAILED: {error:#}"),
        };
        let row = Row { faults: step.faults.clone(), sums, measured, well: well.as_ref().ok().copied() };
        println!("{row}");
        self.rows.push(row);
    }

    /// All is over.
    pub(super) fn ended(&mut self, stage: &Stage, pods: &Pods, audit: &Audit) {
        self.sums = stage.ledger.sums();
        let slices = stage.witness.slices_gone();
        self.summary = format!(
            "{} calls, {} of them denied; {slices} slices gone, {} deletions of slices let pass by the webhook; {} writes \
             of slices by its controllers; {} resources made; {} pods, {} ends told (those of {} had to be); {} compositions went in the \
             moment in which their first synthesis ended, {} before Eno had put its finalizer on them; {} namespaces went before \
             what was in them",
            self.sums.calls,
            self.sums.denied,
            audit.asked,
            audit.ours,
            stage.witness.resources_made(),
            pods.count(),
            stage.receiver.count(),
            pods.must_be_told(&stage.ledger),
            stage.witness.overtaken().len(),
            stage.witness.never_held().len(),
            stage.stranded(),
        );
        self.wrong = stage.ledger.verdict();
        for (count, what) in [
            (audit.asked, "deletion of a slice was let pass by the webhook"),
            (audit.ours, "slice was written by the webhook's controllers"),
            (stage.witness.slices_gone(), "slice went"),
            (stage.witness.resources_made(), "resource was made"),
        ] {
            if count == 0 {
                self.wrong.push(format!("no {what}: nothing was tried"));
            }
        }
        self.wrong.extend(audit.unasked.iter().map(|what| format!("deleted, and nobody was asked: {what}")));
    }

    /// How many faults have struck.
    pub fn strikes(&self) -> usize {
        self.rows.iter().map(|row| row.faults.len()).sum()
    }

    /// How many calls were made, and how many of them a rule forbade.
    pub fn calls(&self) -> (usize, usize) {
        (self.sums.calls, self.sums.denied)
    }

    /// Puts what was measured into the page's table of all faults.
    ///
    /// # Errors
    /// The page cannot be written.
    pub fn keep(&self) -> Result<()> {
        let mut table =
            "| fault | what it does | what must hold | explains | measured |\n|---|---|---|---|---|\n".to_owned();
        for row in &self.rows {
            let [fault] = row.faults[..] else { bail!("faults that struck together have no row of their own") };
            let measured = if row.measured.is_empty() { String::new() } else { format!("; {}", row.measured) };
            table += &format!("{}{}; well after {}{measured} |\n", fault.line(), row.sums, row.well());
        }
        page::put("docs/reliability.md", ["<!-- faults -->", "<!-- /faults -->"], &table)
    }

    /// Whether all held.
    ///
    /// # Errors
    /// Something did not: says what, and what had struck.
    pub fn verdict(&self) -> Result<()> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        let struck: Vec<_> = self.rows.iter().map(|row| format!("{:?}", row.faults)).collect();
        bail!("{} did not hold:\n- {}\nafter {}", self.wrong.len(), self.wrong.join("\n- "), struck.join(", "))
    }
}

impl Row {
    fn well(&self) -> String {
        self.well.map_or("never".to_owned(), |well| format!("{:.1} s", well.as_secs_f64()))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.faults.iter().map(|fault| format!("`{}`", fault.name())).collect();
        let failed = |symptom: Symptom| self.sums.failed.get(&symptom).copied().unwrap_or_default();
        write!(
            f,
            "| {} | {} | {} | {} | {} | {} | {} |",
            names.join(", "),
            self.sums.calls,
            failed(Symptom::Unanswered),
            failed(Symptom::Retry),
            failed(Symptom::Unserved),
            self.well(),
            self.measured
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| fault | calls | unanswered | to retry | unserved | well after | measured |")?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        write!(f, "\n{}\n{} did not hold", self.summary, self.wrong.len())
    }
}
