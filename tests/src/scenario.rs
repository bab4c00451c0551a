//! A ground for a story about Eno: compositions in one namespace, their resources in another, and Eno at work.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube::api::ListParams;

use crate::cluster::Cluster;
use crate::controlplane::{ControlPlane, Options};
use crate::crds;
use crate::eno::{Eno, real};
use crate::eventually::eventually;
use crate::fixtures;
use crate::namespace::Namespace;
use crate::standin::Parts;

/// How long real Eno may take to synthesize all compositions.
const SYNTHESIS: Duration = Duration::from_secs(180);

/// A scenario. Dropping it stops Eno and removes the namespaces.
pub struct Scenario {
    // Dropped in this order.
    eno: Vec<Eno>,
    compositions: Namespace,
    targets: Namespace,
    cluster: Cluster,
    _own: Option<ControlPlane>,
}

impl Scenario {
    /// Two namespaces whose names begin with `hint`, on the shared control plane, and on one of its own where real Eno
    /// is used, which sees all namespaces.
    ///
    /// # Errors
    /// The server refuses them, or does not start.
    ///
    /// # Panics
    /// There is no shared control plane: says which command starts one.
    pub async fn new(hint: &str) -> Result<Self> {
        let own = match Eno::bin_dir() {
            Some(_) => Some(ControlPlane::start(Options::default()).await?),
            None => None,
        };
        let cluster = match &own {
            Some(controlplane) => Cluster::of(controlplane).await?,
            None => Cluster::connect().await,
        };
        Self::on(cluster, own, hint).await
    }

    /// The same on this control plane.
    ///
    /// # Errors
    /// The server refuses the namespaces or the CRDs.
    pub async fn on(cluster: Cluster, own: Option<ControlPlane>, hint: &str) -> Result<Self> {
        crds::install(&cluster).await?;
        let compositions = Namespace::new(&cluster, hint).await?;
        let targets = Namespace::new(&cluster, &format!("{hint}-targets")).await?;
        Ok(Self { eno: vec![], compositions, targets, cluster, _own: own })
    }

    /// The control plane.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The namespace of the compositions and their slices.
    pub fn namespace(&self) -> &str {
        self.compositions.name()
    }

    /// The namespace of their resources.
    pub fn targets(&self) -> &str {
        self.targets.name()
    }

    /// Starts Eno, or further parts of it, here.
    ///
    /// # Errors
    /// The real one cannot be started.
    pub async fn start_eno(&mut self, parts: Parts) -> Result<()> {
        self.eno.push(Eno::start(&self.cluster, None, &[self.compositions.name()], parts).await?);
        Ok(())
    }

    /// Stops Eno.
    pub fn stop_eno(&mut self) {
        self.eno.clear();
    }

    /// What the controllers of the stand-in were refused so far.
    pub fn refusals(&self) -> Vec<String> {
        let errors = |eno: &Eno| match eno {
            Eno::StandIn(standin) => standin.errors(),
            Eno::Real(_) => vec![],
        };
        self.eno.iter().flat_map(errors).collect()
    }

    /// Makes compositions `c0`, `c1`, … of `each` resources, reconciled. Real Eno, which must run, synthesizes them.
    ///
    /// # Errors
    /// The server refuses them, or Eno does not get them ready in time.
    pub async fn populate(&self, compositions: usize, each: usize) -> Result<()> {
        let (cluster, namespace, targets) = (&self.cluster, self.namespace(), self.targets());
        if Eno::bin_dir().is_none() {
            for index in 0..compositions {
                fixtures::reconciled_composition(cluster, namespace, &format!("c{index}"), targets, each).await?;
            }
            return Ok(());
        }
        cluster.apply(&real::synthesizer(namespace)).await?;
        for index in 0..compositions {
            cluster.apply(&real::composition(namespace, &format!("c{index}"), namespace, targets, each)).await?;
        }
        eventually("Eno to synthesize all compositions", SYNTHESIS, async || {
            let all = cluster.eno("Composition", namespace).list(&ListParams::default()).await?;
            let ready =
                all.iter().filter(|composition| composition.data["status"]["currentSynthesis"]["ready"].is_string());
            let ready = ready.count();
            ensure!(ready == compositions, "{ready} of {compositions} are ready");
            Ok(())
        })
        .await
    }

    /// How many resources of compositions exist.
    ///
    /// # Errors
    /// They cannot be listed.
    pub async fn resources(&self) -> Result<usize> {
        let api = self.cluster.api("v1", "ConfigMap", Some(self.targets()));
        Ok(api.list_metadata(&ListParams::default().labels("composition")).await?.items.len())
    }

    /// How many objects of one of Eno's kinds exist.
    ///
    /// # Errors
    /// They cannot be listed.
    pub async fn count(&self, kind: &str) -> Result<usize> {
        Ok(self.cluster.eno(kind, self.namespace()).list_metadata(&ListParams::default()).await?.items.len())
    }

    /// Waits until every slice is being deleted or is gone.
    ///
    /// # Errors
    /// Some are not in time.
    pub async fn slices_deleted(&self, limit: Duration) -> Result<()> {
        eventually("all slices to be deleted", limit, async || {
            let slices =
                self.cluster.eno("ResourceSlice", self.namespace()).list_metadata(&ListParams::default()).await?;
            let live = slices.iter().filter(|slice| slice.metadata.deletion_timestamp.is_none()).count();
            ensure!(live == 0, "{live} are not");
            Ok(())
        })
        .await
    }

    /// Waits until no composition and no slice is left, and returns how many resources are: those are orphaned.
    ///
    /// # Errors
    /// Some are left after `limit`.
    pub async fn orphaned(&self, limit: Duration) -> Result<usize> {
        eventually("Eno to finish", limit, async || {
            let (compositions, slices) = (self.count("Composition").await?, self.count("ResourceSlice").await?);
            ensure!(compositions + slices == 0, "{compositions} compositions and {slices} slices are left");
            Ok(())
        })
        .await?;
        self.resources().await
    }
}
