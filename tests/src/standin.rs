//! A stand-in for Eno's own controllers: just enough of Azure/eno 25d8283 to lose what the real one loses.
//!
//! What it does as Eno does (files under `internal/controllers/`):
//! - [`cleanup`]: deletes unreferenced slices from 5 s of age on, by name and ignoring uids, behind a guard against
//!   syntheses in flight that never fires; strips *all* finalizers of a slice that is being deleted, unless its
//!   composition's current synthesis refers to it and is not reconciled (`resourceslice/slicecleanup.go:72-206`).
//! - [`composition`]: the finalizer; on deletion the bump (new uuid, `reconciled` and `ready` cleared), then the wait
//!   for `reconciled`, then the finalizer's removal (`composition/controller.go:143-151,286-315`).
//! - [`aggregation`]: the states of the slices into `reconciled` and `ready`; a missing slice is ignored while the
//!   composition is being deleted, and asks for a new synthesis else (`resourceslice/slice.go:36-199`).
//! - [`reconciler`]: fills its memory with all slices of a synthesis or none, keyed by uuid; then creates or deletes
//!   their resources and writes slice status (`reconciliation/reconstitution.go:83-162`, `reconciliation/controller.go`).
//! - [`synthesis`]: what the executor writes, step by step (`execution/executor.go:218-318`, `resource/slicing.go:56-87`).
//!
//! Each controller handles one object at a time from a watch cache of its own, and retries errors with backoff.
//! Nothing is delayed or ordered on purpose: what is lost is lost to the same races.
//!
//! What it does not do: schedule syntheses, run pods, dependencies between compositions, symphonies, readiness checks,
//! repair of drift, deletion groups, tombstones, previous syntheses downstream, or a limit of requests per second.

pub mod aggregation;
pub mod cleanup;
pub mod composition;
mod controller;
pub mod reconciler;
pub mod synthesis;

use std::sync::{Arc, Mutex};

use kube::Client;
use tokio::task::JoinSet;

use controller::{Main, run};

/// Which controllers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// [`cleanup`].
    pub cleanup: bool,
    /// [`composition`].
    pub composition: bool,
    /// [`aggregation`].
    pub aggregation: bool,
    /// [`reconciler`].
    pub reconciler: bool,
}

impl Parts {
    /// All of them.
    pub const ALL: Self = Self { cleanup: true, composition: true, aggregation: true, reconciler: true };
    /// None, to switch on one by one.
    pub const NONE: Self = Self { cleanup: false, composition: false, aggregation: false, reconciler: false };
}

/// The running controllers. Dropping it stops them.
#[derive(Debug)]
pub struct StandIn {
    // Aborted on drop.
    _controllers: JoinSet<()>,
    errors: Errors,
}

/// What the controllers were told when a request failed, oldest first.
pub(crate) type Errors = Arc<Mutex<Vec<String>>>;

impl StandIn {
    /// Starts them for these namespaces, on the current runtime.
    pub fn start(client: &Client, namespaces: &[&str], parts: Parts) -> Self {
        let errors = Errors::default();
        let mut controllers = JoinSet::new();
        for &namespace in namespaces {
            let (client, errors) = (|| client.clone(), || errors.clone());
            if parts.cleanup {
                controllers.spawn(run(client(), namespace.to_owned(), Main::Slices, errors(), cleanup::reconcile));
            }
            if parts.composition {
                let main = Main::Compositions;
                controllers.spawn(run(client(), namespace.to_owned(), main, errors(), composition::reconcile));
            }
            if parts.aggregation {
                let main = Main::Compositions;
                controllers.spawn(run(client(), namespace.to_owned(), main, errors(), aggregation::reconcile));
            }
            if parts.reconciler {
                let memory = reconciler::Memory::default();
                let reconcile = move |view, object| reconciler::reconcile(view, object, memory.clone());
                controllers.spawn(run(client(), namespace.to_owned(), Main::Compositions, errors(), reconcile));
            }
        }
        Self { _controllers: controllers, errors }
    }

    /// What the controllers were refused so far, a denial of a webhook for instance.
    pub fn errors(&self) -> Vec<String> {
        self.errors.lock().expect("no controller panics while it holds this").clone()
    }
}
