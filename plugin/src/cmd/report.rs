//! `kubectl eno report`: all that the rules say, in one HTML file that needs nothing else, to attach to a ticket.

mod contents;
#[cfg(test)]
mod contrast;
mod graph;
mod html;
mod page;
mod tables;
mod totals;
mod trees;

use std::fs;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use jiff::SignedDuration;

use crate::cli::{Cli, ReportFlags};
use crate::failure::Failure;
use crate::query::{Depth, Query};
use crate::source::Source;
use crate::warnings::say;
use contents::{Contents, Origin};

/// Runs the command.
///
/// # Errors
/// Where neither slices nor compositions can be read, or the file cannot be written. What else cannot be read, the
/// report says.
pub(super) async fn run(flags: &ReportFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    if flags.output_file.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::local(
            "a report is HTML, and stdout is a terminal: name a file with --output-file report.html",
        ));
    }
    let (source, namespace) = super::facts(&flags.source, cli)?;
    let namespace = namespace.filter(|_| !flags.all_namespaces);
    let query = Query { namespace: namespace.clone(), depth: Depth::Undone, slices_may_fail: true, ..Query::default() };
    let (snapshot, symphonies) = futures::join!(source.snapshot(&query), source.symphonies(namespace.as_deref()));
    let snapshot = snapshot?;
    let origin = match &source {
        Source::Cluster(cluster) => Origin::Cluster(cluster.host.clone()),
        Source::Dump(_) => Origin::files(&flags.source.filenames),
    };
    let patience = SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?;
    let contents = Contents::new(&snapshot, &symphonies, origin, namespace.as_deref(), patience);
    let page = page::of(&contents);
    match &flags.output_file {
        Some(path) => {
            fs::write(path, page)
                .map_err(|error| Failure::local(format_args!("cannot write {}: {error}", path.display())))?;
            say(format_args!("report written to {}", path.display()));
        }
        None => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(page.as_bytes())?;
            stdout.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
