//! `kubectl eno top`: all of it on one screen, live.
//!
//! ```text
//!  Feed, keys, time ─▶ Event ─▶ Model ─▶ view ─▶ Screen
//!                                 │
//!                                 └─▶ Effect: explain (as `why`), act (as `cleanup`, `release`, `resynth`), quit
//! ```
//!
//! [`model`] and [`view`] are pure. A command that is run from here is the one of the command line: it talks to the screen
//! instead of a terminal, and asks the same questions.

mod action;
mod facts;
mod keys;
mod list;
mod model;
mod pane;
mod plain;
mod row;
mod running;
mod screen;
mod session;
mod view;

use std::io::IsTerminal;
use std::process::ExitCode;

use jiff::SignedDuration;

use super::webhook_namespace::webhook_namespace;
use crate::cli::{Cli, TopFlags};
use crate::cluster::Cluster;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::source::Source;
use crate::warnings::Warnings;
use facts::Facts;
use model::{Model, Scope};
use plain::Plain;
use running::Target;
use screen::Screen;
use session::{Front, Session};

/// Below this, each request is not shown on stderr.
const SHOWS_REQUESTS: u8 = 6;

/// Runs the command.
///
/// # Errors
/// There is no terminal, or nothing can be read.
pub(super) async fn run(flags: &TopFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !terminal && !flags.plain {
        return Err(Failure::local("top needs a terminal for stdin and stdout; --plain prints plain lines instead"));
    }
    let (source, facts, scope, target) = open(flags, cli).await?;
    let mut model = Model::new(scope, facts.now(), facts.link());
    let session = Session::new(flags, source, facts, target);
    if flags.plain {
        return session.run(&mut model, Front::Plain(Plain::open())).await;
    }
    let screen = Screen::open(output::colored(flags.color))?;
    session.run(&mut model, Front::Screen(Box::new(screen))).await
}

/// Where to read from, with the first picture; and, where that is a cluster, where to write.
async fn open(flags: &TopFlags, cli: &Cli) -> Result<(Source, Facts, Scope, Option<Target>), Failure> {
    let patience = SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?;
    if !flags.source.filenames.is_empty() {
        let (source, namespace) = super::source(&flags.source, cli)?;
        let namespace = namespace.filter(|_| !flags.all_namespaces);
        let Source::Dump(dump) = &source else { return Err(Failure::local("-f names no files")) };
        let facts = Facts::of_dump(dump, namespace.clone(), patience)?;
        let files = flags.source.filenames.iter().map(|path| path.display().to_string());
        let scope = Scope { context: files.collect::<Vec<_>>().join(" "), namespace };
        return Ok((source, facts, scope, None));
    }
    let backup_dir = flags.backup_dir.to_str().ok_or_else(|| Failure::local("--backup-dir is not UTF-8"))?.to_owned();
    // Whatever is printed would be printed over the screen.
    let warnings = if flags.plain { Warnings::default() } else { Warnings::held() };
    let quiet = !flags.plain && std::io::stderr().is_terminal();
    let verbosity = if quiet { cli.global.verbosity.min(SHOWS_REQUESTS - 1) } else { cli.global.verbosity };
    let Context { client, host, namespace, timeout, identity } = Context::new(&cli.connection, verbosity, &warnings)?;
    let cluster = Cluster { client, host, timeout, concurrency: usize::from(flags.source.concurrency), warnings };
    let named = cli.global.namespace.clone().filter(|namespace| !namespace.is_empty());
    let namespace = (!flags.all_namespaces).then(|| named.unwrap_or(namespace));
    let home = webhook_namespace(&cluster, &flags.outbox).await;
    let facts = Facts::of_cluster(&cluster, namespace.clone(), patience, &home).await?;
    let scope = Scope { context: identity.context.clone(), namespace };
    let target = Target { cluster, identity, backup_dir, webhook_namespace: flags.outbox.webhook_namespace.clone() };
    Ok((Source::Cluster(target.cluster.clone()), facts, scope, Some(target)))
}
