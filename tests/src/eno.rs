//! Eno on a control plane: the real one where `ENO_BIN_DIR` names its binaries, else the stand-in.

mod kubelet;
pub mod real;

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::cluster::Cluster;
use crate::standin::{Parts, StandIn};

pub use real::Real;

/// Names the folder of `eno-controller` and `eno-reconciler`.
const BIN_DIR: &str = "ENO_BIN_DIR";

/// Eno, running. Dropping it stops it.
#[derive(Debug)]
pub enum Eno {
    /// The real binaries. They see the whole cluster, so it must be the test's own.
    Real(Real),
    /// The stand-in, for some namespaces.
    StandIn(StandIn),
}

impl Eno {
    /// The folder of the real binaries, where one is named.
    pub fn bin_dir() -> Option<PathBuf> {
        env::var_os(BIN_DIR).map(PathBuf::from)
    }

    /// Starts these parts for these namespaces, from inside a network namespace where one is named. Of the real one,
    /// `reconciler` is a process, and all else another.
    ///
    /// # Errors
    /// A binary cannot be started.
    pub async fn start(cluster: &Cluster, netns: Option<&str>, namespaces: &[&str], parts: Parts) -> Result<Self> {
        match Self::bin_dir() {
            Some(bin_dir) => Ok(Self::Real(Real::start(cluster, netns, &bin_dir, parts)?)),
            None => Ok(Self::StandIn(StandIn::start(&cluster.client(), namespaces, parts))),
        }
    }
}
