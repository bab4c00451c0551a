//! What the figures are held against: a follower that promises nothing, and the way of the monitor that was the model.

use std::future::ready;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL};
use futures::stream::TryStreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Config, ResourceExt};
use serde_json::json;

use super::super::figures::Times;
use super::ends::times;
use super::ground::{Chosen, Ground};
use crate::receiver::Receiver;

/// A sweep of the model.
pub(super) struct Sweep {
    pub(super) took: Duration,
    pub(super) reads: usize,
    pub(super) times: Times,
}

impl Ground<'_> {
    /// Ends so many of the pods at once, and follows them by the least that finds out, makes sure and tells: one watch, one
    /// GET for each pod that went, so many in flight, and one POST. It keeps nothing, orders nothing, tries nothing again, and
    /// reads no node.
    pub(super) async fn bare(&self, ends: usize, in_flight: usize) -> Result<Times> {
        let receiver = Receiver::start().await?;
        let sink = Client::try_from(Config::new(receiver.url().parse()?))?;
        let chosen = self.choose(ends).await?;
        let following = tokio::spawn(follow(self.pods(), sink, chosen.version.clone(), ends, in_flight));
        let gone = self.end(&chosen).await?;
        following.await??;
        times(&receiver, &gone.at, ends)
    }

    /// One GET for each pod, in sequence, while some of them have just ended.
    pub(super) async fn sweep(&self, ends: usize) -> Result<Sweep> {
        let api = self.pods();
        let all = api.list_metadata(&ListParams::default()).await?;
        let names: Vec<_> = all.iter().map(ResourceExt::name_any).collect();
        let Chosen { names: chosen, .. } = self.choose(ends).await?;
        self.delete(&chosen).await?;
        let (begun, mut times) = (Instant::now(), Times::default());
        for name in &names {
            if api.get_opt(name).await?.is_none() {
                times.add(begun.elapsed());
            }
        }
        Ok(Sweep { took: begun.elapsed(), reads: names.len(), times })
    }
}

async fn follow(api: Api<Pod>, sink: Client, version: String, ends: usize, in_flight: usize) -> Result<()> {
    let params = WatchParams::default().labels(&format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}"));
    let events = api.watch_metadata(&params, &version).await?;
    let gone = events.try_filter_map(|event| {
        ready(Ok(match event {
            WatchEvent::Deleted(pod) => Some(pod),
            WatchEvent::Added(_) | WatchEvent::Modified(_) | WatchEvent::Bookmark(_) | WatchEvent::Error(_) => None,
        }))
    });
    let tell = async |pod: PartialObjectMeta<Pod>| {
        let name = pod.name_any();
        ensure!(api.get_opt(&name).await?.is_none(), "{name} lives");
        let event = json!({"data": {"pod": {"name": name, "uid": pod.uid()}}});
        sink.request_text(http::Request::post("/").body(serde_json::to_vec(&event)?)?).await?;
        Ok(())
    };
    futures::StreamExt::take(gone, ends).err_into().try_for_each_concurrent(in_flight, tell).await
}
