//! The pods that are followed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use jiff::{SignedDuration, Timestamp};

use crate::cli::{Cli, PodsListFlags};
use crate::cluster::goes_into_url;
use crate::cmd::listing::{Listing, check_names};
use crate::failure::Failure;
use crate::item::pod::{COLUMNS, PodItem};
use crate::outbox::{Outbox, Place};
use crate::output::{self, Format};
use crate::surroundings::Pod;
use crate::warnings::{Warnings, say};

/// How many requests run at once: here there are three.
const CONCURRENCY: u16 = 3;

pub(super) async fn run(flags: &PodsListFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    check_names(&flags.names, flags.all_namespaces, false)?;
    let (cluster, namespace) = crate::cmd::cluster(cli, CONCURRENCY, &Warnings::default())?;
    let namespace = Some(namespace).filter(|_| !flags.all_namespaces);
    namespace.iter().try_for_each(|namespace| goes_into_url("namespace", namespace))?;
    let place = Place::new(&cluster, &flags.outbox.webhook_namespace)?;
    let (outbox, pods) = futures::join!(place.read(), cluster.pods(namespace.as_deref()));
    let (outbox, now) = (outbox?, Timestamp::now());
    if outbox.shards == 0 {
        say(format_args!(
            "Warning: no eno-webhook keeps pods in namespace {} (--webhook-namespace); next: kubectl eno doctor",
            flags.outbox.webhook_namespace
        ));
    }
    let patience = SignedDuration::try_from(flags.stuck_after).map_err(Failure::local)?;
    let mut items: Vec<PodItem> = items(&outbox, &pods, now, patience)
        .into_iter()
        .filter(|item| namespace.as_deref().is_none_or(|namespace| item.namespace() == namespace))
        .filter(|item| flags.names.is_empty() || flags.names.iter().any(|name| name == item.name()))
        .filter(|item| (!flags.going || item.is_going()) && (!flags.stuck || item.is_stuck()))
        .collect();
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

fn items(outbox: &Outbox, pods: &[Pod], now: Timestamp, patience: SignedDuration) -> Vec<PodItem> {
    let pods: BTreeMap<&str, &Pod> = pods.iter().map(|pod| (pod.metadata.uid.as_str(), pod)).collect();
    let item = |(uid, entry): (&String, _)| PodItem::new(uid, entry, pods.get(uid.as_str()).copied(), now, patience);
    outbox.entries.iter().map(item).collect()
}

impl crate::cluster::Cluster {
    /// The pods of Eno's synthesizers: they say which composition they work for. Where they cannot be read, none.
    async fn pods(&self, namespace: Option<&str>) -> Vec<Pod> {
        let path =
            namespace.map_or_else(|| "/api/v1/pods".to_owned(), |name| format!("/api/v1/namespaces/{name}/pods"));
        match self.core_list(&path, &format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}")).await {
            Ok(pods) => pods,
            Err(error) => {
                self.warnings.warn(format!("cannot list pods: {error}"));
                vec![]
            }
        }
    }
}
