//! Pods on a real API server, without kubelets: their status is set by hand, and the last deletion is by force.
//!
//! One program, since most of these tests wait for the sweep. D4 (a pod on another node) is not among them: no API server lets
//! a bound pod move, so that only the pure test of the tracker can show it.

mod answer_admission;
mod choose_namespaces;
mod ground;
mod hint_cleanup;
mod keep_on_doubt;
mod keep_outbox;
mod survive_restarts;
mod survive_store;
mod tell_destroys;
mod tell_mirrors;
mod tell_sandboxes;
mod tell_sinks;
