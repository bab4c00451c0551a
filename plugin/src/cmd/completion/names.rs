//! Names that exist: from the cluster, or from the files of `-f`. Who presses Tab waits no longer than a second, and reads no
//! errors: what has come by then is all there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use clap::{ArgMatches, Command, FromArgMatches};
use eno_shared::api::{Composition, Kind as _, ResourceSlice, Symphony};
use eno_shared::names::{ENO_GROUP, MANAGED_BY_ENO, MANAGED_BY_LABEL};
use eno_shared::pods::outbox::Entry;
use kube::core::Request;
use kube::core::params::ListParams;
use serde::Deserialize;

use crate::cli::{Connection, OutboxFlags};
use crate::cluster::{Cluster, goes_into_url};
use crate::cmd::webhook_namespace::webhook_namespace;
use crate::cmd::why::target::Kind;
use crate::context::{self, Context};
use crate::dump::{self, Dump};
use crate::outbox;
use crate::warnings::Warnings;

/// The longest that Tab takes.
const PATIENCE: Duration = Duration::from_millis(1000);
/// Names come by so many.
const PAGE: u32 = 500;

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// An object.
    Kind(Kind),
    /// A pod that eno-webhook follows.
    Followed {
        /// One that is going?
        going: bool,
    },
    /// The end of a pod that not everyone has been told.
    Undelivered,
    /// A context of the kubeconfig.
    Context,
    /// A cluster of the kubeconfig.
    Cluster,
    /// A user of the kubeconfig.
    User,
}

/// What the line says of where to look.
struct Place {
    connection: Connection,
    namespace: Option<String>,
    outbox: OutboxFlags,
    files: Vec<PathBuf>,
    recursive: bool,
}

/// The names that are known within a second. `words` is the line without its last word.
///
/// Credentials may come of a program that hangs, and a host's address of a server that does: so this is a thread of its own,
/// which ends with the process.
pub(super) fn of(named: Named, command: &Command, words: &[String]) -> BTreeSet<String> {
    let begun = Instant::now();
    let place = Place::of(command, words);
    let (sender, names) = mpsc::channel();
    thread::spawn(move || place.look(named, &sender));
    let mut found = BTreeSet::new();
    loop {
        match names.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
            Ok(names) => found.extend(names),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return found,
        }
    }
}

impl Place {
    /// As far as the flags can be read.
    fn of(command: &Command, words: &[String]) -> Self {
        let program = std::iter::once("kubectl-eno");
        let words = program.chain(words.iter().map(String::as_str));
        let matches = command.clone().ignore_errors(true).try_get_matches_from(words).unwrap_or_default();
        let mut of_command = &matches;
        while let Some((_, below)) = of_command.subcommand() {
            of_command = below;
        }
        let files = of_command.try_get_many::<PathBuf>("filenames").ok().flatten();
        Place {
            connection: Connection::from_arg_matches(&matches).unwrap_or_default(),
            namespace: text(&matches, "namespace"),
            outbox: OutboxFlags { webhook_namespace: text(of_command, "webhook_namespace") },
            files: files.into_iter().flatten().cloned().collect(),
            recursive: of_command.try_get_one::<bool>("recursive").ok().flatten().copied().unwrap_or_default(),
        }
    }

    /// Sends names as they come. Nobody is told what went wrong.
    fn look(self, named: Named, to: &Sender<Vec<String>>) {
        // Held: they are not printed.
        let warnings = Warnings::held();
        let of = match named {
            Named::Kind(kind) => kind,
            Named::Followed { .. } | Named::Undelivered => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let found = runtime.ok().and_then(|runtime| runtime.block_on(self.of_outbox(named, &warnings)));
                // Who has gone away does not need them.
                let _ = found.map(|names| to.send(names));
                return;
            }
            Named::Context | Named::Cluster | Named::User => {
                let Ok(names) = context::names(&self.connection, &warnings) else { return };
                let _ = to.send(match named {
                    Named::Cluster => names.clusters,
                    Named::User => names.users,
                    _ => names.contexts,
                });
                return;
            }
        };
        if !self.files.is_empty() {
            let _ = self.of_files(of, &warnings).map(|names| to.send(names));
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let _ = runtime.map(|runtime| runtime.block_on(self.of_cluster(of, &warnings, to)));
    }

    fn of_files(self, kind: Kind, warnings: &Warnings) -> Option<Vec<String>> {
        // What comes through a pipe can be read but once.
        if self.files.iter().any(|path| path == Path::new("-")) {
            return None;
        }
        let options = dump::Options {
            paths: self.files,
            recursive: self.recursive,
            now: jiff::Timestamp::now(),
            complete: false,
            namespace: "default".to_owned(),
        };
        let dump = Dump::read(options, warnings.clone()).ok()?;
        let (group, kind) = match kind {
            Kind::Slice => (ENO_GROUP, ResourceSlice::KIND),
            Kind::Composition => (ENO_GROUP, Composition::KIND),
            Kind::Symphony => (ENO_GROUP, Symphony::KIND),
            Kind::Namespace => ("", "Namespace"),
            Kind::Pod => ("", "Pod"),
        };
        let asked = self.namespace.as_deref().filter(|_| kind != "Namespace");
        let all = dump.objects(group, kind).filter(|(home, _, _)| asked.is_none_or(|asked| asked == home));
        Some(all.map(|(_, name, _)| name).collect())
    }

    /// What eno-webhook keeps of pods.
    async fn of_outbox(self, named: Named, warnings: &Warnings) -> Option<Vec<String>> {
        let Context { client, host, namespace, timeout, .. } = Context::new(&self.connection, 0, warnings).ok()?;
        let cluster = Cluster { client, host, timeout, concurrency: 1, warnings: warnings.clone() };
        let home = webhook_namespace(&cluster, &self.outbox).await;
        let outbox = outbox::Place::new(&cluster, &home).ok()?.read().await.ok()?;
        let namespace = self.namespace.unwrap_or(namespace);
        let entries = outbox.entries().into_values();
        Some(match named {
            Named::Undelivered => {
                entries.flat_map(|entry| &entry.undelivered).map(|letter| letter.destroy.id.clone()).collect()
            }
            Named::Followed { going: true } => of_namespace(entries.filter(|entry| is_going(entry)), &namespace),
            _ => of_namespace(entries, &namespace),
        })
    }

    /// Page by page, metadata only.
    async fn of_cluster(self, kind: Kind, warnings: &Warnings, to: &Sender<Vec<String>>) -> Option<()> {
        let Context { client, namespace, .. } = Context::new(&self.connection, 0, warnings).ok()?;
        let namespace = self.namespace.unwrap_or(namespace);
        goes_into_url("namespace", &namespace).ok()?;
        let path = match kind {
            Kind::Slice => ResourceSlice::path(Some(&namespace)),
            Kind::Composition => Composition::path(Some(&namespace)),
            Kind::Symphony => Symphony::path(Some(&namespace)),
            Kind::Namespace => "/api/v1/namespaces".to_owned(),
            Kind::Pod => format!("/api/v1/namespaces/{namespace}/pods"),
        };
        let mut page = ListParams::default().limit(PAGE);
        if kind == Kind::Pod {
            page = page.labels(&format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}"));
        }
        let request = Request::new(path);
        loop {
            let answer = client.request::<List>(request.list_metadata(&page).ok()?).await.ok()?;
            to.send(answer.items.into_iter().map(|item| item.metadata.name).collect()).ok()?;
            page.continue_token = Some(answer.metadata.token.filter(|token| !token.is_empty())?);
        }
    }
}

fn is_going(entry: &Entry) -> bool {
    entry.following.as_ref().is_some_and(|following| following.going_since.is_some())
}

fn of_namespace<'e>(entries: impl Iterator<Item = &'e Entry>, namespace: &str) -> Vec<String> {
    entries.filter(|entry| entry.namespace == namespace).map(|entry| entry.name.clone()).collect()
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct ListMetadata {
    #[serde(rename = "continue")]
    token: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Name,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.try_get_one::<String>(id).ok().flatten().cloned().filter(|text| !text.is_empty())
}
