//! Where facts come from: a cluster, or a dump. Commands cannot tell which.

use crate::cluster::Cluster;
use crate::dump::Dump;
use crate::failure::Failure;
use crate::query::Query;
use crate::snapshot::Snapshot;

/// Where facts come from.
pub enum Source {
    /// The files of `-f`.
    Dump(Dump),
    /// The API server.
    Cluster(Cluster),
}

impl Source {
    /// Reads what is asked for.
    ///
    /// # Errors
    /// Where the slices cannot be read.
    pub async fn snapshot(&self, query: &Query) -> Result<Snapshot, Failure> {
        match self {
            Source::Dump(dump) => dump.snapshot(query),
            Source::Cluster(cluster) => cluster.snapshot(query).await,
        }
    }
}
