//! Admission for Eno: the API server asks, `eno_shared` decides, on live reads.
//!
//! ```text
//!  connection ─▶ router ─▶ review ─▶ admission ─▶ facts ─▶ eno_shared ─▶ force ─▶ mode ─▶ response
//!  (TLS, drain)  (a path    (parsed               (live reads;                 (override)
//!                per hook)  loosely)               candidates say of whom)
//! ```
//!
//! [`hooks`] is the table that router and configuration share. Read [`admission`] first.
//!
//! On the leader, [`controllers`] finish what an admission or a watch has started: they collect garbage slices and release
//! finalizers. They ask the same rules. [`certificates`] keeps what the replicas serve, where it is not from files.

pub mod admission;
mod args;
pub mod body;
pub mod candidates;
pub mod certificates;
pub mod clock;
pub mod config;
pub mod connection;
pub mod control;
pub mod controllers;
pub mod deadline;
pub mod events;
pub mod facts;
pub mod force;
pub mod health;
pub mod hooks;
pub mod leader;
pub mod listener;
pub mod metrics;
pub mod mode;
pub mod pods;
pub mod response;
pub mod review;
pub mod router;
mod run;
pub mod server;
pub mod store;
mod telemetry;
pub mod tls;
mod uninstall;

pub use args::Args;
pub use run::{exit, run};
pub use server::{Certificate, Options, Server};
