//! Pods on a real API server, without kubelets: their status is set by hand, and the last deletion is by force.
//!
//! One program, since most of these tests wait for the sweep.

mod answer_admission;
mod ground;
mod keep_on_doubt;
mod survive_restarts;
mod survive_store;
mod tell_destroys;
mod tell_sandboxes;
