//! A cluster to write to: what every writing command has in common.

use std::time::Duration;

use crate::cli::{Cli, WriteFlags};
use crate::cluster::{Cluster, goes_into_url};
use crate::context::Context;
use crate::dialogue::Dialogue;
use crate::failure::Failure;
use crate::warnings::{Warnings, say};

/// A cluster to write to, and the namespace.
pub struct Writer {
    /// To read by.
    pub cluster: Cluster,
    /// The namespace of the flags, or of the context.
    pub namespace: String,
    /// Whom the command talks to.
    pub dialogue: Dialogue,
}

impl Writer {
    /// Opens the cluster that the flags name, and says on stderr which it is.
    ///
    /// # Errors
    /// There are no credentials, or files are named: nothing can be written to a dump.
    pub fn open(flags: &WriteFlags, cli: &Cli) -> Result<Self, Failure> {
        if !flags.filenames.is_empty() {
            return Err(Failure::local(
                "-f cannot be used here: this command writes to a cluster, and files are only for commands that read",
            ));
        }
        let warnings = Warnings::default();
        let Context { client, host, namespace, timeout, identity } =
            Context::new(&cli.connection, cli.global.verbosity, &warnings)?;
        let cluster = Cluster { client, host, timeout, concurrency: usize::from(flags.concurrency), warnings };
        let named = cli.global.namespace.clone().filter(|namespace| !namespace.is_empty());
        let namespace = named.unwrap_or(namespace);
        goes_into_url("namespace", &namespace)?;
        say(&identity);
        Ok(Writer { cluster, namespace, dialogue: Dialogue::Terminal })
    }

    /// The time for one request.
    pub fn timeout(&self) -> Duration {
        self.cluster.timeout
    }
}
