//! What the webhook adds to the deletion of a slice.
//!
//! Two namespaces on one control plane, one guarded and one not, hold the same objects. The same DELETE (as a dry run, so
//! that it can be repeated) goes to them by turns, over one connection each.

use std::time::Instant;

use anyhow::{Result, ensure};
use kube::api::{Api, DeleteParams, DynamicObject};
use kube::{Client, Config};
use serde_json::{Value, json};

use super::figures::Times;
use crate::cluster::Cluster;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::webhook::{Profile, Webhook, WebhookOptions};

/// Calls before measuring: connections are made, caches are filled.
const WARM_UP: usize = 50;

/// Arguments of `cargo xtask bench admission`.
#[derive(Debug, clap::Args)]
pub struct Admission {
    /// How many deletions of each sort
    #[arg(long, value_name = "N", default_value_t = 1000)]
    deletions: usize,
    /// How many further compositions live in each namespace
    #[arg(long, value_name = "N", default_value_t = 100)]
    compositions: usize,
}

/// A namespace with one slice that is needed and one that is garbage.
struct Place {
    slices: Api<DynamicObject>,
    namespace: Namespace,
}

impl Admission {
    /// Measures, and prints.
    ///
    /// # Errors
    /// The control plane refuses something, or the webhook answers wrongly.
    pub async fn run(&self, cluster: &Cluster) -> Result<()> {
        let (plain, guarded) = (self.place(cluster, "plain").await?, self.place(cluster, "guarded").await?);
        let options = WebhookOptions {
            namespace: guarded.namespace.name().to_owned(),
            profile: Profile::Release,
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(cluster, options).await?;
        let direct = client_of(&webhook)?;
        let review = review(&guarded).await?;

        let [mut none, mut allowed, mut denied, mut called] = [(); 4].map(|()| Times::default());
        for round in 0..WARM_UP + self.deletions {
            let times = [
                delete(&plain.slices, "garbage", true).await?,
                delete(&guarded.slices, "garbage", true).await?,
                delete(&guarded.slices, "needed", false).await?,
                call(&direct, &review).await?,
            ];
            if round >= WARM_UP {
                for (of, time) in [&mut none, &mut allowed, &mut denied, &mut called].into_iter().zip(times) {
                    of.add(time);
                }
            }
        }
        println!("DELETE of a slice in a namespace of {} compositions, one client, dry run", self.compositions + 1);
        println!("  no webhook            {none}");
        println!("  webhook, allowed      {allowed}");
        println!("  webhook, denied       {denied}");
        println!("  the review alone      {called}   (TLS kept alive, live read of the composition included)");
        let added =
            |percent| (allowed.percentile(percent).as_secs_f64() - none.percentile(percent).as_secs_f64()) * 1000.0;
        println!("  added by the webhook  p50 {:6.2} ms   p99 {:6.2} ms", added(50), added(99));
        Ok(())
    }

    async fn place(&self, cluster: &Cluster, hint: &str) -> Result<Place> {
        let namespace = Namespace::new(cluster, hint).await?;
        let name = namespace.name();
        for index in 0..self.compositions {
            cluster.apply(&fixtures::composition(name, &format!("other-{index}"))).await?;
        }
        let web = cluster.apply(&fixtures::composition(name, "web")).await?;
        for slice in ["needed", "garbage"] {
            cluster.apply(&fixtures::slice(&web, slice, "", &[fixtures::config_map(name, "web", 0)])).await?;
        }
        let status =
            json!({"currentSynthesis": fixtures::reconciled_synthesis("1", web.metadata.generation, &["needed"])});
        cluster.set_status(&fixtures::composition(name, "web"), &status).await?;
        Ok(Place { slices: cluster.eno("ResourceSlice", name), namespace })
    }
}

async fn delete(slices: &Api<DynamicObject>, name: &str, passes: bool) -> Result<std::time::Duration> {
    let dry_run = DeleteParams { dry_run: true, ..DeleteParams::default() };
    let begun = Instant::now();
    let answer = slices.delete(name, &dry_run).await;
    let took = begun.elapsed();
    ensure!(answer.is_ok() == passes, "deleting the {name} slice: {answer:?}");
    Ok(took)
}

/// A client that calls the webhook as the API server does.
fn client_of(webhook: &Webhook) -> Result<Client> {
    let mut config = Config::new(webhook.url().parse()?);
    config.root_cert_file = Some(webhook.ca().to_owned());
    Ok(Client::try_from(config)?)
}

/// The review of the garbage slice's deletion.
async fn review(place: &Place) -> Result<Value> {
    let slice = place.slices.get("garbage").await?;
    Ok(json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "eno.azure.io", "version": "v1", "kind": "ResourceSlice"},
            "resource": {"group": "eno.azure.io", "version": "v1", "resource": "resourceslices"},
            "name": "garbage", "namespace": place.namespace.name(), "operation": "DELETE",
            "userInfo": {"username": "bench"}, "object": null, "oldObject": slice, "dryRun": true,
        },
    }))
}

async fn call(client: &Client, review: &Value) -> Result<std::time::Duration> {
    let body = serde_json::to_vec(review)?;
    let request =
        http::Request::post("/slices-delete?timeout=5s").header("content-type", "application/json").body(body)?;
    let begun = Instant::now();
    let answer: Value = client.request(request).await?;
    let took = begun.elapsed();
    ensure!(answer["response"]["allowed"] == true, "the webhook answers {answer}");
    Ok(took)
}
