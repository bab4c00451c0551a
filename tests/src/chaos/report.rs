//! What struck, what was measured, and what did not hold.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::ValueEnum;

use super::actors::Pods;
use super::audit::Audit;
use super::fault::Fault;
use super::ledger::{Sums, Symptom};
use super::schedule::Step;
use super::stage::Stage;

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
            "{} calls, {} of them denied; {slices} slices gone, {} deletions of slices let pass by the webhook; {} pods, {} ends told; {} compositions \
             went in the moment in which their first synthesis ended, {} before Eno had put its finalizer on them",
            self.sums.calls,
            self.sums.denied,
            audit.asked,
            pods.count(),
            stage.receiver.count(),
            stage.witness.overtaken().len(),
            stage.witness.never_held().len(),
        );
        self.wrong = stage.ledger.verdict();
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

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.faults.iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<_> = names.map(|name| format!("`{}`", name.get_name())).collect();
        let failed = |symptom: Symptom| self.sums.failed.get(&symptom).copied().unwrap_or_default();
        let well = self.well.map_or("never".to_owned(), |well| format!("{:.1} s", well.as_secs_f64()));
        write!(
            f,
            "| {} | {} | {} | {} | {} | {well} | {} |",
            names.join(", "),
            self.sums.calls,
            failed(Symptom::Unanswered),
            failed(Symptom::Retry),
            failed(Symptom::Unserved),
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
