//! The serving certificate where nobody else makes one: the replicas share it in a Secret, with the authority behind it.
//!
//! ```text
//!  Secret ─▶ stored ─▶ what it becomes next ─▶ Secret        (the leader)
//!    │          └─▶ caBundle of both configurations          (the leader)
//!    └─▶ what this process serves                            (each replica)
//! ```
//!
//! # Guarantees
//! - At each moment the configurations trust what any replica serves: a new authority is told to the API server before
//!   anything that it signs is served, and stays told until nothing of the old one is left.
//! - Only the leader writes, and each write demands the version that was read. Where there is no Secret yet, any replica may
//!   create it; of two, one wins.
//! - A Secret that was deleted, or spoilt, is made anew by a change of authorities, and no call fails.
//! - The webhook configurations are never created.
//!
//! # Caveats
//! - Where the Secret is gone and no replica remembers it, calls fail until the leader has told the API server.
//! - Certificates begin and end by this machine's clock. One that is wrong by more than an hour makes some that the API server
//!   refuses; they are replaced within a minute of its being put right.

use std::time::Duration;

use eno_shared::names::WEBHOOK_NAME;
use jiff::SignedDuration;

mod changes;
mod configurations;
mod keeper;
mod secret;
pub mod signed;
pub mod stored;

pub use keeper::Keeper;
use stored::Wanted;

/// How the certificate is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What certificates are wanted.
    pub wanted: Wanted,
    /// Name of both webhook configurations.
    pub configuration: String,
    /// For how long the API server must know an authority before what it signs is served: each API server learns of it by
    /// a watch.
    pub settle: Duration,
    /// How often to look at the clock and at all else, for what slipped.
    pub period: Duration,
}

impl Options {
    /// The defaults of the command line, with this Secret.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Options {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            wanted: Wanted {
                hosts: vec![format!("{WEBHOOK_NAME}.{namespace}.svc")],
                validity: SignedDuration::from_hours(7 * 24),
                authority_validity: SignedDuration::from_hours(365 * 24),
            },
            configuration: WEBHOOK_NAME.to_owned(),
            settle: Duration::from_secs(30),
            period: Duration::from_secs(60),
        }
    }
}
