//! The self-managed certificate on a real API server: the replicas run in this process, so that tests move their clock.

mod clients;
mod clock;
mod ground;
mod lead;
mod lose;
mod roll;
mod rotate;
mod tell;
