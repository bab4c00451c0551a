//! `kubectl eno doctor`: is all there that keeps slices from being lost, and does it work?

mod api;
pub(super) mod ask;
mod audited;
mod certificate;
mod check;
mod controllers;
pub(super) mod glance;
mod id;
mod namespaces;
mod probe;
mod rights;
mod slices;
mod text;
pub(super) mod webhook;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use eno_shared::client;
use jiff::{SignedDuration, Timestamp};
use kube::core::params::ListParams;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::snapshot::NamespaceKind;
use crate::cli::{Cli, DoctorFlags};
use crate::cluster::Cluster;
use crate::failure::{ERROR, Failure, INTERRUPTED};
use crate::output::{self, Format, Objects};
use crate::query::Query;
use crate::snapshot::Snapshot;
use crate::warnings::{Warnings, say};
use check::{Check, Outcome};
use id::Id;
use probe::Probes;

/// No single answer is waited for longer, unless --request-timeout says how long.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before all is checked again.
const AGAIN: Duration = Duration::from_secs(2);

/// Runs the command.
///
/// # Errors
/// There are no credentials, or stdout fails. What a check finds is no error.
pub(super) async fn run(flags: &DoctorFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    if let Some(id) = &flags.explain {
        return explain(id);
    }
    let warnings = Warnings::held();
    let (mut cluster, _) = super::cluster(cli, flags.concurrency, &warnings)?;
    cluster.timeout = cluster.timeout.min(PATIENCE);
    let doctor = Doctor {
        cluster: &cluster,
        namespace: cli.global.namespace.clone().filter(|namespace| !namespace.is_empty()),
        cert_warn: SignedDuration::try_from(flags.cert_warn).map_err(Failure::local)?,
    };
    let checks = tokio::select! {
        checks = doctor.checks_until(flags.wait) => checks,
        _ = tokio::signal::ctrl_c() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    print(&format, &checks, flags)?;
    for warning in warnings.take() {
        say(format_args!("Warning: {warning}"));
    }
    Ok(if has_failed(&checks) { ExitCode::from(ERROR) } else { ExitCode::SUCCESS })
}

fn has_failed(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.outcome == Outcome::Failed)
}

/// Needs no cluster.
fn explain(id: &str) -> Result<ExitCode, Failure> {
    let id = Id::parse(id).ok_or_else(|| {
        Failure::local(format_args!("no check is called {id:?}; there are {}", Id::ALL.map(Id::as_str).join(", ")))
    })?;
    let text = std::iter::once(id.as_str()).chain(id.explanation().lines());
    output::lines(text.map(str::to_owned).collect())?;
    Ok(ExitCode::SUCCESS)
}

fn print(format: &Format, checks: &[Check], flags: &DoctorFlags) -> Result<(), Failure> {
    match format {
        Format::Text { .. } => output::lines(text::render(checks, flags)),
        Format::Name => output::lines(checks.iter().map(|check| check.id.as_str().to_owned()).collect()),
        Format::Objects(form) => {
            let items = checks.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
            form.print(Objects::List(items.map_err(Failure::local)?), flags.output.no_headers)
        }
    }
}

struct Doctor<'a> {
    cluster: &'a Cluster,
    /// All namespaces, where there is none.
    namespace: Option<String>,
    cert_warn: SignedDuration,
}

impl Doctor<'_> {
    /// Checks, and checks again while something fails, for so long.
    async fn checks_until(&self, wait: Option<Duration>) -> Vec<Check> {
        let begun = Instant::now();
        loop {
            self.cluster.warnings.take();
            let checks = self.checks().await;
            if !has_failed(&checks) || begun.elapsed() + AGAIN > wait.unwrap_or_default() {
                return checks;
            }
            sleep(AGAIN).await;
        }
    }

    async fn checks(&self) -> Vec<Check> {
        let (cluster, namespace) = (self.cluster, self.namespace.as_deref());
        let mut checks = vec![api::reachable(cluster).await];
        if has_failed(&checks) {
            let rest = Id::ALL.into_iter().filter(|id| *id != Id::Api);
            checks.extend(rest.map(|id| Check::skipped(id, "the API server does not answer")));
            return checks;
        }
        let (crds, controller, reconciler, read, write) = futures::join!(
            api::crds(cluster),
            controllers::running(cluster, Id::EnoController, "eno-controller"),
            controllers::running(cluster, Id::EnoReconciler, "eno-reconciler"),
            rights::read(cluster, namespace),
            rights::write(cluster, namespace),
        );
        checks.extend([crds, controller, reconciler]);
        let query = Query { namespace: self.namespace.clone(), ..Query::default() };
        let (snapshot, labels) = futures::join!(cluster.snapshot(&query), self.labels());
        let snapshot = snapshot.map_err(|failure| failure.to_string().trim_start_matches("error: ").to_owned());
        checks.extend(self.webhook(&snapshot, &labels).await);
        checks.push(match &snapshot {
            Ok(snapshot) => slices::terminating(snapshot),
            Err(why) => Check::skipped(Id::SlicesTerminating, why.clone()),
        });
        checks.push(match &snapshot {
            Ok(snapshot) => namespaces::stranded(cluster, snapshot, &labels).await,
            Err(why) => Check::skipped(Id::Namespaces, why.clone()),
        });
        checks.extend([read, write]);
        checks
    }

    /// All about the webhook.
    async fn webhook(
        &self,
        snapshot: &Result<Snapshot, String>,
        labels: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Vec<Check> {
        let skipped = |ids: &[Id], why: &str| ids.iter().map(|id| Check::skipped(*id, why)).collect::<Vec<_>>();
        let own = self.namespace.as_ref().map(|name| labels.get(name).cloned().unwrap_or_else(|| named(name)));
        let hooks = match webhook::hooks(self.cluster, own.as_ref()).await {
            Ok(hooks) => hooks,
            Err(why) => {
                let mut checks = skipped(&[Id::WebhookConfig], &why);
                let configured = [Id::WebhookPolicy, Id::WebhookEndpoint, Id::WebhookCa, Id::WebhookCertificate];
                checks.extend(skipped(&configured, "the webhook configurations cannot be read"));
                // Without the configurations nobody knows which namespaces are guarded: a probe would prove nothing.
                checks.extend(skipped(&[Id::ProbeDeny, Id::ProbeAllow], "no probe: it is not known what is guarded"));
                return checks;
            }
        };
        let mut checks = vec![webhook::configuration(&hooks, self.namespace.as_deref())];
        let Some(first) = hooks.first() else {
            let rest = [
                Id::WebhookPolicy,
                Id::WebhookEndpoint,
                Id::WebhookCa,
                Id::WebhookCertificate,
                Id::ProbeDeny,
                Id::ProbeAllow,
            ];
            checks.extend(skipped(&rest, "there is no webhook configuration"));
            return checks;
        };
        let now = Timestamp::now();
        let (endpoint, place) = webhook::endpoint(self.cluster, first).await;
        let bundle = first.bundle().map(|pem| certificate::bundle(&pem));
        checks.extend([webhook::policy(&hooks), endpoint, certificate::authority(bundle.as_deref(), now)]);
        checks.push(certificate::serving(&place, bundle.as_deref(), self.cert_warn, now).await);
        match snapshot {
            Ok(snapshot) => {
                let probes = Probes { cluster: self.cluster, snapshot, hooks: &hooks, labels };
                // One after the other: each reads the warnings that it caused.
                checks.push(probes.deny().await);
                checks.push(probes.allow().await);
            }
            Err(why) => checks.extend(skipped(&[Id::ProbeDeny, Id::ProbeAllow], &format!("no probe: {why}"))),
        }
        checks
    }

    /// Labels of the namespaces: they decide which are guarded. Of one that cannot be read, only its name is known.
    async fn labels(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut selection = ListParams::default();
        if let Some(namespace) = &self.namespace {
            selection = selection.fields(&format!("metadata.name={namespace}"));
        }
        let listed =
            client::list_metadata::<NamespaceKind>(&self.cluster.client, None, &selection, self.cluster.timeout);
        match (listed.await, &self.namespace) {
            (Ok(listed), _) => listed.into_iter().map(|metadata| (metadata.name, metadata.labels)).collect(),
            (Err(_), Some(namespace)) => BTreeMap::from([(namespace.clone(), named(namespace))]),
            (Err(_), None) => BTreeMap::new(),
        }
    }
}

/// The label that every namespace has.
fn named(namespace: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), namespace.to_owned())])
}
