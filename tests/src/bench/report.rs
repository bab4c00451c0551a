//! How long a browser needs to open the plugin's report, and to filter it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::cleanup::Table;
use crate::browser::Browser;
use crate::{plugin, workspace};

const RUNS: usize = 5;
/// When the dump is judged.
const NOW: &str = "2026-03-01T12:00:00Z";
const CREATED: &str = "2026-02-01T00:00:00Z";
/// Of each composition so many slices are garbage that nobody collects: they are stuck.
const GARBAGE: usize = 2;

/// Arguments of `cargo xtask bench report`.
#[derive(Debug, clap::Args)]
pub struct Report {
    /// How many slices
    #[arg(long, value_name = "N", default_value_t = 5000)]
    slices: usize,
    /// Of how many compositions
    #[arg(long, value_name = "N", default_value_t = 200)]
    compositions: usize,
}

impl Report {
    /// Measures, prints a table, and keeps it in docs/. No control plane is needed.
    ///
    /// # Errors
    /// The plugin or the browser fails.
    pub async fn run(&self) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (dump, file) = (folder.path().join("dump.json"), folder.path().join("report.html"));
        fs::write(&dump, self.dump().to_string())?;
        let mut table = Table::default();
        write(&dump, &file)?;
        let mut browser = Browser::open().await?;
        let mut times = vec![];
        for _ in 0..RUNS {
            times.push(browser.load(&file).await?);
        }
        let first = times[0];
        times.sort();
        let elements = browser.evaluate("document.querySelectorAll('*').length").await?;
        let filtered = filter(&mut browser).await?;
        table.row("open, until the first frame after all is loaded: median", &seconds(times[RUNS / 2]), "< 2 s");
        table.row("open, the first time", &seconds(first), "< 2 s");
        table.row("filter, until the next frame", &seconds(filtered), "");
        table.row("size", &format!("{:.1} MB", fs::metadata(&file)?.len() as f64 / 1e6), "");
        table.row("elements", &elements.to_string(), "");
        println!("{}", table.text);
        let head = format!(
            "# Figures of the report\n\n`cargo xtask bench report`: {} slices of {} compositions, in Chromium without a window, \
             on one machine of two cores.\n\n",
            self.slices, self.compositions
        );
        fs::write(workspace::root().join("docs/figures-report.md"), head + &table.text)?;
        Ok(())
    }

    /// Symphonies of ten compositions each, in ten namespaces.
    fn dump(&self) -> Value {
        let each = self.slices / self.compositions;
        let mut items = vec![];
        for index in 0..self.compositions {
            let (symphony, name) = (index / 10, format!("composition-{index}"));
            let namespace = format!("team-{}", symphony % 10);
            let metadata = |kind: &str, name: &str, owner: Option<(&str, String)>| {
                let owners = owner.into_iter().map(|(kind, name)| {
                    json!({"apiVersion": "eno.azure.io/v1", "kind": kind, "uid": format!("{kind}-{name}"), "name": name,
                        "controller": true})
                });
                json!({"name": name, "namespace": namespace, "uid": format!("{kind}-{name}"), "generation": 1,
                    "creationTimestamp": CREATED, "finalizers": ["eno.azure.io/cleanup"],
                    "ownerReferences": owners.collect::<Vec<_>>()})
            };
            let object = |kind: &str, metadata: Value, rest: Value| {
                let mut object = json!({"apiVersion": "eno.azure.io/v1", "kind": kind, "metadata": metadata});
                let more = rest.as_object().cloned().unwrap_or_default();
                object.as_object_mut().into_iter().for_each(|object| object.extend(more.clone()));
                object
            };
            let conductor = format!("symphony-{symphony}");
            if index % 10 == 0 {
                items.push(object("Symphony", metadata("Symphony", &conductor, None), json!({"spec": {}})));
            }
            let slices: Vec<String> = (0..each).map(|slice| format!("{name}-{slice:04}x")).collect();
            let current: Vec<Value> =
                slices.iter().take(each.saturating_sub(GARBAGE)).map(|name| json!({"name": name})).collect();
            items.push(object(
                "Composition",
                metadata("Composition", &name, Some(("Symphony", conductor))),
                json!({"spec": {"synthesizer": {"name": "s"}}, "status": {"currentSynthesis": {"uuid": "u",
                    "observedCompositionGeneration": 1, "synthesized": CREATED, "reconciled": CREATED, "ready": CREATED,
                    "resourceSlices": current}}}),
            ));
            items.extend(slices.iter().map(|slice| {
                let metadata = metadata("ResourceSlice", slice, Some(("Composition", name.clone())));
                object("ResourceSlice", metadata, json!({"spec": {"synthesisUUID": "u", "resources": []}}))
            }));
        }
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }
}

fn write(dump: &Path, file: &Path) -> Result<()> {
    let mut plugin = Command::new(plugin::binary()?);
    plugin.args(["report", "--complete", "--now", NOW, "-f"]).arg(dump).arg("--output-file").arg(file);
    let status = plugin.stdin(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "kubectl eno report ended with {status}");
    Ok(())
}

/// Types a word that few rows have.
async fn filter(browser: &mut Browser) -> Result<Duration> {
    browser.press("/").await?;
    let begun = Instant::now();
    browser.type_in("composition-7 0003").await?;
    browser.frame().await?;
    let took = begun.elapsed();
    let found = browser.evaluate("document.getElementById('found').textContent").await?;
    ensure!(found.as_str().is_some_and(|found| found.starts_with("Filtered: ")), "{found}");
    Ok(took)
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
