//! The test harness: a real control plane, a stand-in for Eno's controllers, and what `cargo xtask` runs.
//!
//! - [`controlplane`] builds and starts etcd, kube-apiserver and kube-controller-manager; nothing outlives its owner.
//! - [`cluster`] is the client's side: the shared control plane of the tests, temporary namespaces, CRDs, `kubectl`.
//! - [`fixtures`] builds compositions and slices; [`eno`] runs Eno on them: real binaries, or the [`standin`].
//! - [`check`] is `cargo xtask test`, [`demo`] `cargo xtask demo`, [`bench`] `cargo xtask bench`.
//! - [`plugin`] runs `kubectl eno` as kubectl does, and in a [`terminal`] where it asks.
//! - [`webhook`] runs the real `eno-webhook` for a namespace; [`proxy`] stands between it and the API server.
//! - [`eventually`] is how tests wait; [`collector`] is what some wait for; [`receiver`] is told of destroyed pods.
//! - [`peer`] is the webhook in Go that ours is measured against; [`replay`] makes dumps real, so that two can be asked the same.
//! - [`manifests`] renders and installs what is in `manifests/`; [`modules`] has the CRDs of others.
//! - [`rollout`] replaces replicas and authorities under load; [`chaos`] has faults strike, `cargo xtask chaos`.
//! - [`instructions`] is `cargo xtask instructions`: what the hot paths cost.
//! - [`release`] is `cargo xtask release`.
//! - [`reference`] is `cargo xtask reference`: docs/reference.md from the code.
//! - [`browser`] opens the plugin's report; [`picture`] is what the docs show of it.
//! - [`netns`] is a network of a test's own, for webhooks behind a Service.

pub mod bench;
pub mod browser;
pub mod captures;
pub mod chaos;
pub mod check;
pub mod cluster;
pub mod collector;
pub mod controlplane;
pub mod crds;
pub mod demo;
pub mod eno;
pub mod eventually;
pub mod fixtures;
pub mod instructions;
pub mod manifests;
pub mod modules;
pub mod namespace;
pub mod netns;
pub mod page;
pub mod peer;
pub mod picture;
pub mod plugin;
pub mod process;
pub mod proxy;
pub mod receiver;
pub mod reference;
pub mod release;
pub mod replay;
pub mod rollout;
pub mod scenario;
pub mod standin;
pub mod terminal;
pub mod webhook;
pub mod workspace;
