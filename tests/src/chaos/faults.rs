//! How the faults are made.

pub(super) mod bursts;
pub(super) mod cluster;
pub(super) mod processes;
pub(super) mod wires;
