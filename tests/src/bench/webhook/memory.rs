//! Memory and start of the whole process, its controllers included, with many slices.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::bench::load::{Load, peak_of, status_of};
use crate::bench::performance::{self, Table};
use crate::cluster::Cluster;
use crate::eventually::eventually;
use crate::namespace::Namespace;
use crate::webhook::{Profile, Webhook, WebhookOptions};

/// Slices of a composition.
const EACH: usize = 50;
/// How long until all are known.
const LIMIT: Duration = Duration::from_secs(300);

/// The table.
pub struct Rows(Table);

impl Default for Rows {
    fn default() -> Self {
        Self(Table::new(&["slices", "start to ready", "all are known", "memory", "at its peak", "must"]))
    }
}

impl Rows {
    /// With so many slices.
    ///
    /// # Errors
    /// The control plane refuses something, or the webhook does not start.
    pub async fn measure(&mut self, cluster: &Cluster, slices: usize) -> Result<()> {
        eprintln!("making {slices} slices …");
        let namespace = Namespace::new(cluster, "memory").await?;
        let load = Load { cluster, namespace: namespace.name(), size: 100 };
        load.make_referenced(slices / EACH, slices).await?;
        let begun = Instant::now();
        let options = WebhookOptions {
            namespace: namespace.name().to_owned(),
            profile: Profile::Release,
            controllers: "*",
            unregistered: true,
            ..WebhookOptions::default()
        };
        let webhook = Webhook::start(cluster, options).await?;
        let ready = begun.elapsed();
        let pid = webhook.pid().unwrap_or_default();
        eventually("all slices to be known", LIMIT, async || {
            let kept = webhook.count("eno_webhook_slices", &["verdict=\"Keep\""]).await?;
            ensure!(kept as usize == slices, "{kept} are kept");
            Ok(())
        })
        .await?;
        let known = begun.elapsed();
        let memory = [status_of(pid, "VmRSS:")?, peak_of(pid)?];
        let of_memory = |must| performance::must(must, memory[1]);
        let must = match slices {
            10_000 => {
                let ready = performance::must("ready in < 3 s", ready.as_secs_f64())?;
                format!("{}, {ready}", of_memory("peak ≤ 24 MiB")?)
            }
            100_000 => of_memory("peak ≤ 96 MiB")?,
            _ => String::new(),
        };
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        let mib = |mib: f64| format!("{mib:.1} MiB");
        let memory = memory.map(mib);
        let cells = [&slices.to_string(), &seconds(ready), &seconds(known), &memory[0], &memory[1], must.as_str()];
        eprintln!("{}", cells.join(" | "));
        self.0.row(&cells);
        Ok(())
    }

    /// Prints and keeps the table.
    ///
    /// # Errors
    /// The document cannot be written.
    pub fn keep(&self) -> Result<()> {
        performance::keep("memory", &self.0)
    }
}
