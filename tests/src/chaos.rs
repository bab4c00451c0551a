//! `cargo xtask chaos`: faults strike while users, Eno and the garbage collector are at work, and nothing may be lost.
//!
//! ```text
//!  actors ──▶ API server ──[wire]──▶ eno-webhook × 2      ledger: each call, and which faults explain those that failed
//!   (by seed)    │   ▲                    │                witness: each revision of Eno's objects, from etcd itself
//!               etcd └───────[wire]───────┘                receiver: the ends of pods that are told
//! ```
//! - [`stage`] sets it up: a control plane, two replicas of the manifests' Deployment as a kubelet would keep them ([`fleet`]), Eno.
//! - [`actors`] act at random, by a seed. [`fault`] is the table of faults, [`schedule`] says when they strike.
//! - [`witness`] and [`truth`] say what was lost, [`ledger`] what failed for no reason, [`audit`] what passed unasked,
//!   [`history`] how it came to that.
//!
//! # What must hold
//! 1. No slice that is needed is deleted, begins to be, or loses its finalizer; no composition goes before its resources.
//! 2. No resource is orphaned: when all compositions are deleted, all that they made is gone.
//! 3. Nothing is stuck: after a fault all is well again by itself, and at the end all is gone, namespaces included.
//! 4. No pod's end is told while it is there, and each that can be known is told.
//! 5. No call fails but by a fault that explains it, and none passes because nobody was asked.

pub mod actors;
pub mod audit;
pub mod fault;
mod faults;
pub mod fleet;
pub mod history;
mod impostor;
pub mod ledger;
mod pump;
pub mod report;
pub mod schedule;
pub mod stage;
pub mod truth;
pub mod wire;
pub mod witness;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use fastrand::Rng;
use futures::future::try_join_all;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use tokio::time::sleep;

use crate::controlplane::Binaries;
use crate::eventually::eventually;
use crate::manifests::ground::on_a_new_cluster;
use crate::workspace;
use actors::Actors;
use fault::{Fault, Pace, Strike};
use history::is_named_after;
use report::Report;
use schedule::Step;
use stage::{Stage, TARGETS};

/// How long all may take to go at the end: backoffs go to minutes.
const GOING: Duration = Duration::from_secs(420);

/// Arguments of `cargo xtask chaos`.
#[derive(Debug, clap::Args)]
pub struct Chaos {
    /// Chooses all that is chosen [default: a new one, which is printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// For how long faults strike at random
    #[arg(long, value_name = "M", default_value_t = 10)]
    minutes: u64,
    /// Only this fault, in full (can be repeated); `--fault all` is each, one after the other
    #[arg(long, value_name = "NAME", value_parser = faults_of)]
    fault: Vec<Faults>,
}

/// What `--fault` names.
#[derive(Debug, Clone)]
struct Faults(Vec<Fault>);

fn faults_of(name: &str) -> Result<Faults, String> {
    if name == "all" {
        return Ok(Faults(Fault::value_variants().to_vec()));
    }
    let known = || Fault::value_variants().iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ");
    Fault::from_str(name, false)
        .map(|fault| Faults(vec![fault]))
        .map_err(|_| format!("expected all, or one of {}", known()))
}

impl Chaos {
    /// Runs it, and prints a table of what struck.
    ///
    /// # Errors
    /// Something was lost, stuck, or failed for no reason; says which, and with which seed.
    pub async fn run(self) -> Result<()> {
        Binaries::ensure()?;
        build()?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
        println!("seed {seed}");
        let mut rng = Rng::with_seed(seed);
        let again = again(seed, self.minutes, &self.fault);
        let is_table = matches!(self.fault.as_slice(), [Faults(all)] if all.len() == Fault::value_variants().len());
        let named: Vec<Fault> = self.fault.into_iter().flat_map(|faults| faults.0).collect();
        let steps: Box<dyn Iterator<Item = Step> + Send> = match named.is_empty() {
            true => {
                let (end, steps) = (Duration::from_secs(self.minutes * 60), schedule::random(rng.fork()));
                let began = std::sync::OnceLock::new();
                Box::new(steps.take_while(move |_| began.get_or_init(Instant::now).elapsed() < end))
            }
            false => Box::new(schedule::each(&named, Pace::FULL, rng.fork()).collect::<Vec<_>>().into_iter()),
        };
        let report = run(rng, steps).await.with_context(|| format!("seed {seed}"))?;
        println!("{report}");
        if is_table {
            report.keep()?;
        }
        report.verdict().with_context(|| format!("again: {again}"))
    }
}

/// The command that lets the same strike again.
fn again(seed: u64, minutes: u64, faults: &[Faults]) -> String {
    let mut again = format!("cargo xtask chaos --seed {seed}");
    if faults.is_empty() {
        again += &format!(" --minutes {minutes}");
    }
    for Faults(faults) in faults {
        let name = match faults.as_slice() {
            [one] => one.name(),
            _ => "all".to_owned(),
        };
        again += &format!(" --fault {name}");
    }
    again
}

/// The program that is tried, in the profile of this one.
fn build() -> Result<()> {
    const PROGRAM: &str = "--package=eno-webhook";
    workspace::build(if cfg!(debug_assertions) { &[PROGRAM] } else { &[PROGRAM, "--release"] })
}

/// Lets these steps strike, one after the other, on a control plane of their own.
///
/// # Errors
/// Something could not be made; what must hold and did not is in the report.
pub async fn run(rng: Rng, steps: impl Iterator<Item = Step> + Send + 'static) -> Result<Report> {
    let (done, report) = tokio::sync::oneshot::channel();
    on_a_new_cluster(move |ground| async move {
        let stage = Arc::new(Stage::set(ground).await?);
        // The receiver waits below.
        let _ = done.send(perform(&stage, rng, steps).await?);
        Ok(())
    })
    .await?;
    report.await.context("there is a report")
}

async fn perform(stage: &Arc<Stage>, mut rng: Rng, steps: impl Iterator<Item = Step>) -> Result<Report> {
    let mut report = Report::default();
    for _ in 0..2 {
        stage.found().await?;
    }
    let actors = Actors::start(stage, &mut rng);
    for step in steps {
        sleep(step.calm).await;
        println!("{:?}", step.faults);
        let before = stage.ledger.sums();
        let windows: Vec<_> =
            step.faults.iter().map(|fault| stage.ledger.open(fault.row().explains, fault.blinds())).collect();
        let strikes = step.faults.iter().enumerate().map(|(index, fault)| {
            let rng = Rng::with_seed(step.seed.wrapping_add(index as u64));
            fault.strike(Strike { stage, rng, pace: step.pace })
        });
        let struck = try_join_all(strikes).await;
        let well = stage.well().await;
        windows.into_iter().for_each(|window| stage.ledger.close(window));
        report.struck(&step, stage.ledger.sums().since(&before), &struck, &well);
        if let Err(error) = struck.map(drop).and(well.map(drop)) {
            stage.ledger.violated(format!("after {:?}: {error:#}", step.faults));
            break;
        }
    }
    let began = Instant::now();
    let say = |what: &str| println!("{:.0} s: {what}", began.elapsed().as_secs_f64());
    if let Err(error) = actors.pods.one_is_sure(&stage.ledger).await {
        stage.ledger.violated(format!("at the end: {error:#}"));
    }
    let pods = actors.stop().await;
    say("the actors have ended");
    let ended = async {
        stage.well().await?;
        say("all is well");
        pods.verify(stage).await?;
        say("each end of a pod was told");
        end(stage, say).await
    };
    if let Err(error) = ended.await {
        stage.ledger.violated(format!("at the end: {error:#}"));
    }
    stage.ground.lock().await.controlplane().check()?;
    let log = stage.cluster.audit_log().context("no audit log")?;
    report.ended(stage, &pods, &audit::read(&log)?);
    Ok(report)
}

/// Deletes all compositions, then all namespaces: all must go, and nothing be left of what they made.
async fn end(stage: &Stage, say: impl Fn(&str)) -> Result<()> {
    for town in stage.every_town() {
        stage.eno("Composition", &town).delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    }
    stage.forget_what_is_gone().await?;
    eventually("compositions and slices to be gone", GOING, async || {
        for town in stage.every_town() {
            for kind in ["Composition", "ResourceSlice"] {
                let left = stage.eno(kind, &town).list(&ListParams::default()).await?.items;
                if let Some(object) = left.first() {
                    bail!("{} of {kind} in {town}, for instance {}", left.len(), serde_json::to_string(object)?);
                }
            }
        }
        Ok(())
    })
    .await?;
    say("compositions and slices are gone");
    let resources = stage.cluster.api("v1", "ConfigMap", Some(TARGETS));
    let left = resources.list_metadata(&ListParams::default().labels("composition")).await?.items;
    let overtaken = stage.witness.overtaken();
    let is_excused = |name: &String| overtaken.iter().any(|of| is_named_after(name, of));
    let names: Vec<_> = left.iter().map(ResourceExt::name_any).filter(|name| !is_excused(name)).collect();
    let never_held = stage.witness.never_held();
    let log = stage.cluster.audit_log().context("no audit log")?;
    let of: BTreeSet<_> =
        names.iter().filter_map(|name| name.split_once('-')).map(|(composition, _)| composition).collect();
    for composition in of {
        let history = [stage.witness.history(composition), audit::of(&log, composition)?].concat();
        eprintln!("Of {composition}, by the store and by the audit log:\n{}", history.join("\n"));
    }
    ensure!(
        names.is_empty(),
        "{} resources are orphaned: {names:?}; compositions that went before Eno had put its finalizer on: {never_held:?}",
        names.len()
    );
    let namespaces = stage.cluster.api("v1", "Namespace", None);
    for town in stage.every_town() {
        // Some are going already.
        if let Err(error) = namespaces.delete(&town, &DeleteParams::default()).await {
            ensure!(matches!(&error, kube::Error::Api(status) if [404, 409].contains(&status.code)), error);
        }
    }
    eventually("all namespaces to be gone", GOING, async || {
        stage.forget_what_is_gone().await?;
        let left = stage.every_town();
        ensure!(left.is_empty(), "{left:?} are left");
        Ok(())
    })
    .await?;
    say("all namespaces are gone");
    eventually("the witness to have seen all", GOING, || stage.witness.has_seen_all()).await?;
    Ok(())
}
