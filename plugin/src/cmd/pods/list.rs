//! The pods that are followed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use jiff::{SignedDuration, Timestamp};
use kube::core::params::ListParams;

use crate::cli::{Cli, ListWatchFlags, PodsListFlags};
use crate::cluster::goes_into_url;
use crate::cmd::listing::{Listing, check_names};
use crate::cmd::watch::list::List;
use crate::cmd::watch::{self, Stage};
use crate::cmd::webhook_namespace::webhook_namespace;
use crate::failure::Failure;
use crate::item::pod::{COLUMNS, PodItem};
use crate::live::board::Selected;
use crate::live::{Feed, Wants};
use crate::outbox::{Outbox, Place};
use crate::output::{self, Format};
use crate::query::Query;
use crate::surroundings::Pod;
use crate::warnings::Warnings;

/// How many requests run at once: here there are three.
const CONCURRENCY: u16 = 3;

pub(super) async fn run(flags: &PodsListFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    check_names(&flags.names, flags.all_namespaces, false)?;
    let watched = flags.watch.as_of_lists();
    if watched.is_on() {
        return watch(flags, &watched, cli, format).await;
    }
    let (cluster, namespace) = crate::cmd::cluster(cli, CONCURRENCY, &Warnings::default())?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    namespace.iter().try_for_each(|namespace| goes_into_url("namespace", namespace))?;
    let home = webhook_namespace(&cluster, &flags.outbox).await;
    let place = Place::new(&cluster, &home)?;
    let (outbox, pods) = futures::join!(place.read(), cluster.pods(namespace.as_deref()));
    let (outbox, now) = (outbox?, Timestamp::now());
    if outbox.is_missing() {
        cluster.warnings.warn(none_kept(place.namespace));
    }
    let patience = SignedDuration::try_from(flags.stuck_after).map_err(Failure::local)?;
    let mut items: Vec<PodItem> =
        items(&outbox, &pods, now, patience).into_iter().filter(selection(flags, namespace.as_deref())).collect();
    match &flags.sort_by {
        Some(by) => output::sort(&mut items, by, &COLUMNS.map(|column| (column.header, column.path)))?,
        // What is stuck first, then what is going.
        None => items.sort_by_key(|item| (!item.is_stuck(), !item.is_going())),
    }
    let missing: Vec<&String> =
        flags.names.iter().filter(|name| items.iter().all(|item| item.name() != *name)).collect();
    let listing = Listing {
        alone: flags.names.len() == 1 && missing.is_empty(),
        items,
        columns: &COLUMNS,
        coloured: "STATE",
        name: PodItem::name,
        named: !flags.names.is_empty(),
        namespace: namespace.as_deref(),
        now,
    };
    listing.print_as("pod", &format, &flags.output)?;
    let mut code = ExitCode::SUCCESS;
    for name in missing {
        code = Failure::local(format_args!("pod \"{name}\" is not followed by eno-webhook")).report();
    }
    Ok(code)
}

/// Which pods are asked for.
fn selection(flags: &PodsListFlags, namespace: Option<&str>) -> impl Fn(&PodItem) -> bool + use<> {
    let (namespace, names) = (namespace.map(str::to_owned), flags.names.clone());
    let (going, stuck) = (flags.going, flags.stuck);
    move |item| {
        namespace.as_deref().is_none_or(|namespace| item.namespace() == namespace)
            && (names.is_empty() || names.iter().any(|name| name == item.name()))
            && (!going || item.is_going())
            && (!stuck || item.is_stuck())
    }
}

fn none_kept(namespace: &str) -> String {
    format!("no eno-webhook keeps pods in namespace {namespace} (--webhook-namespace); next: kubectl eno doctor")
}

async fn watch(
    flags: &PodsListFlags,
    watched: &ListWatchFlags,
    cli: &Cli,
    format: Format,
) -> Result<ExitCode, Failure> {
    let stage = Stage::open(matches!(format, Format::Text { .. }), cli.global.verbosity);
    let (cluster, namespace) = crate::cmd::cluster(cli, CONCURRENCY, &stage.warnings)?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    let home = webhook_namespace(&cluster, &flags.outbox).await;
    let place = Place::new(&cluster, &home)?;
    let outbox = Some(place.home().await?);
    let query = Query { namespace: namespace.clone(), ..Query::default() };
    let feed = Feed::start(&cluster, Wants { query, outbox, only_pods: true, ..Wants::default() }).await?;
    if feed.snapshot().outbox.is_missing() {
        stage.warnings.warn(none_kept(place.namespace));
    }
    let selected = selection(flags, namespace.as_deref());
    let listing = watch::list::Listing {
        selected: Selected { keeps: Box::new(move |_, item| selected(item)), older_than: None },
        patience: SignedDuration::try_from(flags.stuck_after).map_err(Failure::local)?,
        namespace: namespace.as_deref(),
        format,
        sort_by: flags.sort_by.clone(),
        output: &flags.output,
        watch: watched,
    };
    let mut list = List::new(listing, &feed)?;
    stage.watch(feed, &mut list, watched.timeout).await
}

fn items(outbox: &Outbox, pods: &[Pod], now: Timestamp, patience: SignedDuration) -> Vec<PodItem> {
    let pods: BTreeMap<&str, &Pod> = pods.iter().map(|pod| (pod.metadata.uid.as_str(), pod)).collect();
    let item = |(uid, entry): (&str, _)| PodItem::new(uid, entry, pods.get(uid).copied(), now, patience);
    outbox.entries().into_iter().map(item).collect()
}

impl crate::cluster::Cluster {
    /// The pods of Eno's synthesizers: they say which composition they work for. Where they cannot be read, none.
    async fn pods(&self, namespace: Option<&str>) -> Vec<Pod> {
        let path =
            namespace.map_or_else(|| "/api/v1/pods".to_owned(), |name| format!("/api/v1/namespaces/{name}/pods"));
        let selection = ListParams::default().labels(&format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}"));
        match self.core_list(&path, &selection).await {
            Ok(pods) => pods,
            Err(error) => {
                self.warnings.warn(format!("cannot list pods: {error}"));
                vec![]
            }
        }
    }
}
