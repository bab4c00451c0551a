//! A namespace with a Secret, webhook configurations of its own, and replicas that share them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, WEBHOOK_NAME};
use eno_tests::cluster::Cluster;
use eno_tests::controlplane;
use eno_tests::eventually::eventually;
use eno_tests::namespace::NAMESPACE_LABEL;
use eno_tests::webhook::Guarded;
use eno_webhook::certificates::stored::{Stored, Wanted};
use eno_webhook::config::{Config, Target};
use eno_webhook::leader::{ElectionOptions, Times};
use eno_webhook::{Certificate, Options, Server, certificates};
use jiff::SignedDuration;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, DynamicObject};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long anything may take.
pub const LIMIT: Duration = Duration::from_secs(30);
/// The kinds of configuration.
pub const KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
/// The Secret.
pub const SECRET: &str = "eno-webhook-tls";

/// Where the stories play.
pub struct Ground {
    pub guarded: Guarded,
}

impl Ground {
    /// On the shared control plane, with a slice `garbage` whose deletion is allowed.
    pub async fn new(hint: &str) -> Result<Self> {
        Self::of(Guarded::unguarded(hint).await?).await
    }

    /// The same on this control plane.
    pub async fn on(cluster: Cluster, hint: &str) -> Result<Self> {
        Self::of(Guarded::on(cluster, hint).await?).await
    }

    async fn of(guarded: Guarded) -> Result<Self> {
        let web = guarded.live("web", 1).await?;
        guarded.garbage(&web, "garbage").await?;
        Ok(Ground { guarded })
    }

    pub fn cluster(&self) -> &Cluster {
        self.guarded.cluster()
    }

    pub fn namespace(&self) -> &str {
        self.guarded.name()
    }

    /// Name of both configurations.
    pub fn configuration(&self) -> String {
        format!("{WEBHOOK_NAME}-{}", self.namespace())
    }

    /// A replica that keeps a certificate for the loopback, and does all at once.
    pub fn options(&self, change: impl FnOnce(&mut certificates::Options)) -> Options {
        let mut kept = certificates::Options {
            wanted: self.wanted(),
            configuration: self.configuration(),
            settle: Duration::from_secs(1),
            period: Duration::from_secs(2),
            ..certificates::Options::new(self.namespace(), SECRET)
        };
        change(&mut kept);
        Options {
            composition_namespaces: vec![self.namespace().to_owned()],
            ..Options::new(Certificate::SelfManaged(kept)).on_loopback()
        }
    }

    /// A certificate for the loopback, good for as long as by default.
    pub fn wanted(&self) -> Wanted {
        let default = certificates::Options::new(self.namespace(), SECRET).wanted;
        Wanted { hosts: vec!["127.0.0.1".to_owned()], ..default }
    }

    /// An election that is over soon.
    pub fn election(&self) -> ElectionOptions {
        let times =
            Times { lease: Duration::from_secs(4), trust: Duration::from_secs(2), retry: Duration::from_millis(500) };
        let lease = eno_webhook::controllers::note::LeaseName {
            namespace: self.namespace().to_owned(),
            name: WEBHOOK_NAME.to_owned(),
        };
        ElectionOptions { lease, times }
    }

    /// A replica that leads.
    pub async fn replica(&self) -> Result<Replica> {
        Replica::start(self.cluster().client(), self.options(|_| {})).await
    }

    /// Applies both configurations, for this replica. They name nobody whom to trust.
    pub async fn configure(&self, replica: &Replica) -> Result<()> {
        let list = self.configurations(replica)?;
        self.cluster().kubectl_with(&["apply", "-f", "-"], &list.to_string()).await?.success()?;
        Ok(())
    }

    /// Both configurations, as Git has them.
    pub fn configurations(&self, replica: &Replica) -> Result<Value> {
        let namespace = ("kubernetes.io/metadata.name".to_owned(), self.namespace().to_owned());
        let config = Config {
            name: self.configuration(),
            target: Target::Url(format!("https://{}", replica.secure)),
            ca: None,
            namespaces: [namespace].into(),
            pods: BTreeMap::from([(MANAGED_BY_LABEL.to_owned(), MANAGED_BY_ENO.to_owned())]),
            pod_namespaces: BTreeMap::new(),
        };
        let mut items = [serde_json::to_value(config.validating())?, serde_json::to_value(config.mutating())?];
        for item in &mut items {
            item["metadata"]["labels"][NAMESPACE_LABEL] = json!(self.namespace());
            // It would answer to the tests of others.
            let hooks = item["webhooks"].as_array_mut().context("a configuration has hooks")?;
            hooks.retain(|hook| !hook["name"].as_str().unwrap_or_default().starts_with("definitions"));
        }
        Ok(json!({"apiVersion": "v1", "kind": "List", "items": items}))
    }

    pub fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.cluster().client(), self.namespace())
    }

    /// What the Secret holds.
    pub async fn stored(&self) -> Result<Stored> {
        Stored::from_data(&self.secrets().get(SECRET).await?.data.context("it is empty")?)
    }

    /// Waits until the Secret holds something of which this is true.
    pub async fn stored_until(&self, what: &str, holds: impl Fn(&Stored) -> bool) -> Result<Stored> {
        eventually(what, LIMIT, async || {
            let stored = self.stored().await?;
            let authorities = stored.authorities.len();
            ensure!(holds(&stored), "{authorities} authorities, the certificate is from {}", stored.leaf.made());
            Ok(stored)
        })
        .await
    }

    /// A configuration.
    pub async fn configuration_of(&self, kind: &str) -> Result<DynamicObject> {
        let api = self.cluster().api("admissionregistration.k8s.io/v1", kind, None);
        Ok(api.get(&self.configuration()).await?)
    }

    /// Whom all hooks trust.
    pub async fn trusted(&self) -> Result<String> {
        let mut all = vec![];
        for kind in KINDS {
            let configuration = self.configuration_of(kind).await?;
            for hook in configuration.data["webhooks"].as_array().context("no hooks")? {
                let bundle = &hook["clientConfig"]["caBundle"];
                let bundle: Option<ByteString> = serde_json::from_value(bundle.clone())?;
                all.push(String::from_utf8(bundle.unwrap_or_default().0)?);
            }
        }
        all.dedup();
        ensure!(all.len() == 1, "the hooks differ: {all:?}");
        all.pop().context("no hooks")
    }

    /// Waits until the hooks trust what the Secret holds, and nobody else.
    pub async fn told(&self) -> Result<()> {
        eventually("the hooks to trust the authorities of the Secret", LIMIT, async || {
            let (trusted, stored) = (self.trusted().await?, self.stored().await?);
            ensure!(trusted == stored.bundle(), "they trust {trusted:?}");
            Ok(())
        })
        .await
    }

    /// Deletes `garbage`, as a dry run: the API server asks the webhook, and says why not where it gets no answer.
    pub async fn ask(&self) -> Result<()> {
        let slices = self.cluster().eno("ResourceSlice", self.namespace());
        let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
        slices.delete("garbage", &dry_run).await?;
        Ok(())
    }

    /// Waits until the API server gets answers. It takes a moment to know a configuration.
    pub async fn answered(&self, replica: &Replica) -> Result<()> {
        let before = replica.metric("eno_webhook_reviews_total").await?;
        eventually("the API server to call the webhook", LIMIT, async || {
            self.ask().await?;
            ensure!(replica.metric("eno_webhook_reviews_total").await? > before, "the deletion passed unseen");
            Ok(())
        })
        .await
    }
}

/// Certificates that are good for so many seconds.
pub fn lasting(certificate: i64, authority: i64) -> impl FnOnce(&mut certificates::Options) {
    move |options| {
        options.wanted.validity = SignedDuration::from_secs(certificate);
        options.wanted.authority_validity = SignedDuration::from_secs(authority);
    }
}

/// A server in this process.
pub struct Replica {
    pub secure: SocketAddr,
    metrics: Client,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Result<()>>,
}

impl Replica {
    pub async fn start(client: Client, options: Options) -> Result<Self> {
        let server = Server::bind(client, options).await?;
        let (secure, plain) = (server.local_addr()?, server.metrics_addr()?);
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(server.run(async move {
            // Whoever drops the other end stops it, too.
            let _ = stopped.await;
        }));
        let mut config = kube::Config::new(format!("http://{plain}").parse()?);
        // That it is not ready is an answer, too.
        config.default_retry = false;
        let metrics = Client::try_from(config)?;
        Ok(Replica { secure, metrics, stop: Some(stop), ended })
    }

    /// One that reaches the API server by this kubeconfig.
    pub async fn by(kubeconfig: &Path, options: Options) -> Result<Self> {
        Self::start(controlplane::client(kubeconfig).await?, options).await
    }

    /// What SIGTERM does.
    pub async fn stop(&mut self) -> Result<()> {
        drop(self.stop.take());
        (&mut self.ended).await?
    }

    /// Why it is not ready.
    pub async fn unready(&self) -> Result<Option<String>> {
        match self.metrics.request_text(http::Request::get("/readyz").body(vec![])?).await {
            Ok(_) => Ok(None),
            Err(kube::Error::Api(status)) => Ok(Some(status.message.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until it is ready.
    pub async fn ready(&self) -> Result<()> {
        eventually("the replica to be ready", LIMIT, async || {
            let unready = self.unready().await?;
            ensure!(unready.is_none(), "{unready:?}");
            Ok(())
        })
        .await
    }

    /// The sum of a metric.
    pub async fn metric(&self, name: &str) -> Result<f64> {
        let text = self.metrics.request_text(http::Request::get("/metrics").body(vec![])?).await?;
        let of = text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
        Ok(of.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.ended.abort();
    }
}
