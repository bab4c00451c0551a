//! What stories about the controllers ask of a ground.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eno_shared::judge::MIN_AGE;
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, ListParams};
use serde_json::{Value, json};

use super::{Guarded, WebhookOptions};
use crate::eventually::eventually;
use crate::fixtures;
use crate::proxy::Proxy;

/// Slices must be 5 s old, Events are told every 10 s, and the machine may be busy.
const LIMIT: Duration = Duration::from_secs(40);

/// An Event, as far as it is asked about.
#[derive(Debug)]
pub struct Told {
    /// Its type.
    pub type_: String,
    /// What it is about: `KIND/NAME`.
    pub regarding: String,
    /// What it says.
    pub note: String,
}

impl Guarded {
    /// Starts the controllers of slices, with these flags; the API server does not ask this webhook.
    ///
    /// # Errors
    /// As for [`Webhook::start`](super::Webhook::start).
    pub async fn control(&mut self, flags: &[&str]) -> Result<()> {
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        self.guard_with(WebhookOptions {
            controllers: "cleanup,release",
            unregistered: true,
            flags,
            ..WebhookOptions::default()
        })
        .await
    }

    /// The same behind a new proxy.
    ///
    /// # Errors
    /// As for [`Guarded::control`], or the proxy does not start.
    pub async fn control_by_proxy(&mut self, flags: &[&str]) -> Result<Proxy> {
        let proxy = Proxy::start(self.cluster()).await?;
        let kubeconfig = Some(proxy.kubeconfig().to_owned());
        let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        let controlled =
            WebhookOptions { controllers: "cleanup,release", unregistered: true, ..WebhookOptions::default() };
        self.guard_with(WebhookOptions { kubeconfig, flags, ..controlled }).await?;
        Ok(proxy)
    }

    /// Waits until a slice does not exist.
    ///
    /// # Errors
    /// It does after a while; shows what the webhook logged.
    pub async fn gone(&mut self, name: &str) -> Result<()> {
        let slices = self.cluster().eno("ResourceSlice", self.name());
        let what = format!("slice {name} to be gone");
        let gone = eventually(&what, LIMIT, async || {
            ensure!(slices.get_metadata_opt(name).await?.is_none(), "it exists");
            Ok(())
        })
        .await;
        let log = self.webhook().log()?;
        gone.with_context(|| log)
    }

    /// Waits until so many second looks have said this (`VERDICT/REASON`) and ended like that.
    ///
    /// # Errors
    /// They have not after a while; shows the metrics.
    pub async fn looked(&mut self, judgement: &str, result: &str, count: u64) -> Result<()> {
        let webhook = self.webhook();
        eventually(&format!("{count} looks {judgement} {result}"), LIMIT, async || {
            let looks = webhook.looks(judgement, result).await?;
            ensure!(looks >= count, "{looks} of\n{}", of(&webhook.metrics().await?, "eno_webhook_looks"));
            Ok(())
        })
        .await
    }

    /// Waits until so many slices are known to be judged this (`VERDICT/REASON`).
    ///
    /// # Errors
    /// They are not after a while; shows the metrics.
    pub async fn judged(&mut self, judgement: &str, count: u64) -> Result<()> {
        let (verdict, reason) = judgement.split_once('/').context("expected VERDICT/REASON")?;
        let labels = [format!("verdict=\"{verdict}\""), format!("reason=\"{reason}\"")];
        let webhook = self.webhook();
        eventually(&format!("{count} slices to be judged {judgement}"), LIMIT, async || {
            let slices = webhook.count("eno_webhook_slices", &labels.each_ref().map(String::as_str)).await?;
            ensure!(slices == count, "{slices} of\n{}", of(&webhook.metrics().await?, "eno_webhook_slices"));
            Ok(())
        })
        .await
    }

    /// Waits until the webhook has logged a line that contains all of this.
    ///
    /// # Errors
    /// It has not after a while; shows the log.
    pub async fn logged(&mut self, words: &[&str]) -> Result<()> {
        let webhook = self.webhook();
        eventually(&format!("a line with {words:?}"), LIMIT, async || {
            let log = webhook.log()?;
            let found = log.lines().any(|line| words.iter().all(|word| line.contains(word)));
            ensure!(found, "it logged:\n{log}");
            Ok(())
        })
        .await
    }

    /// Waits for Events of a reason, and returns those there are then.
    ///
    /// # Errors
    /// There is none after a while.
    pub async fn told(&self, reason: &str) -> Result<Vec<Told>> {
        eventually(&format!("an Event {reason}"), LIMIT, async || {
            let told = self.events(reason).await?;
            ensure!(!told.is_empty(), "there is none");
            Ok(told)
        })
        .await
    }

    /// The Events of a reason.
    ///
    /// # Errors
    /// They cannot be listed.
    pub async fn events(&self, reason: &str) -> Result<Vec<Told>> {
        let events = self.cluster().api("events.k8s.io/v1", "Event", Some(self.name()));
        let all = events.list(&ListParams::default()).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let told = |event: &DynamicObject| {
            let regarding = &event.data["regarding"];
            Told {
                type_: text(&event.data["type"]),
                regarding: format!("{}/{}", text(&regarding["kind"]), text(&regarding["name"])),
                note: text(&event.data["note"]),
            }
        };
        Ok(all.iter().filter(|event| event.data["reason"] == reason).map(told).collect())
    }

    /// Deletes a slice by the API; its finalizer keeps it. Returns it.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn terminating(&self, name: &str) -> Result<DynamicObject> {
        self.cluster().eno("ResourceSlice", self.name()).delete(name, &DeleteParams::default()).await?;
        self.slice(name).await
    }

    /// Waits until a slice is old enough to be garbage.
    ///
    /// # Errors
    /// It does not exist, or has no creationTimestamp.
    pub async fn old_enough(&self, name: &str) -> Result<()> {
        let created = self.slice(name).await?.creation_timestamp().context("it has no creationTimestamp")?.0;
        eventually(&format!("slice {name} to be old enough"), LIMIT, async || {
            let age = Timestamp::now().duration_since(created);
            ensure!(age >= MIN_AGE, "it is {age:#} old");
            Ok(())
        })
        .await
    }

    /// Makes a composition with this status.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn compose_new(&self, name: &str, status: &Value) -> Result<DynamicObject> {
        self.cluster().apply(&fixtures::composition(self.name(), name)).await?;
        self.compose(name, status).await
    }

    /// Writes the status of a composition.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn compose(&self, name: &str, status: &Value) -> Result<DynamicObject> {
        self.set_status("Composition", name, status).await
    }
}

/// A synthesis in flight that began so many seconds from now, and lists these slices.
pub fn in_flight(seconds_from_now: i64, slices: &[&str]) -> Value {
    let initialized = Timestamp::now() + SignedDuration::from_secs(seconds_from_now);
    json!({
        "uuid": "in-flight", "initialized": initialized.strftime("%FT%TZ").to_string(), "attempts": 1,
        "resourceSlices": slices.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
    })
}

fn of(metrics: &str, name: &str) -> String {
    metrics.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>().join("\n")
}
