//! The cluster that Eno's resources are in: do they exist there?
//!
//! Eno may reconcile into another cluster than the one that holds its objects, and nothing in the objects says which. So
//! nothing is assumed: it is looked at where a flag says where it is.

mod lookup;

use std::collections::BTreeSet;
use std::fmt;

use eno_shared::api::ResourceRef;
use serde::{Serialize, Serializer};

use crate::cli::{Cli, Connection, DownstreamFlags};
use crate::context::Context;
use crate::dump::Dump;
use crate::failure::Failure;
use crate::source::Source;
use crate::warnings::Warnings;
use lookup::Cluster;

/// Where resources are looked for.
pub enum Downstream<'s> {
    /// Nowhere: nobody said where they are.
    NotLookedAt,
    /// Among the objects of the dump. What is not among them may exist.
    Dump(&'s Dump),
    /// In a cluster.
    Cluster(Cluster),
}

/// What became of looking for a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It exists.
    Exists,
    /// It exists, and is being deleted.
    Terminating {
        /// What holds it.
        finalizers: Vec<String>,
    },
    /// It does not exist.
    Gone,
    /// That cannot be told.
    Unknown(String),
    /// Nobody looked.
    NotLookedAt,
}

impl Presence {
    /// The word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Presence::Exists => "Exists",
            Presence::Terminating { .. } => "Terminating",
            Presence::Gone => "Gone",
            Presence::Unknown(_) => "Unknown",
            Presence::NotLookedAt => "NotLookedAt",
        }
    }

    /// Is it there, going or not?
    pub fn is_there(&self) -> bool {
        match self {
            Presence::Exists | Presence::Terminating { .. } => true,
            Presence::Gone | Presence::Unknown(_) | Presence::NotLookedAt => false,
        }
    }
}

/// For people.
impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Presence::Exists => f.write_str("exists"),
            Presence::Terminating { finalizers } if finalizers.is_empty() => f.write_str("is being deleted"),
            Presence::Terminating { finalizers } => {
                write!(f, "is being deleted, held by {}", finalizers.join(", "))
            }
            Presence::Gone => f.write_str("gone"),
            Presence::Unknown(why) => write!(f, "unknown: {why}"),
            Presence::NotLookedAt => f.write_str("not looked at"),
        }
    }
}

impl Serialize for Presence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A resource, and whether it exists.
#[derive(Debug, Clone, Serialize)]
pub struct Resource {
    /// Which one.
    #[serde(flatten)]
    pub of: ResourceRef,
    /// Does it exist?
    pub presence: Presence,
}

/// What is said where nobody looked whether resources exist. Offline nobody can.
pub const NOT_LOOKED_AT: &str = "whether they exist was not looked at (see --target-same)";

impl From<ResourceRef> for Resource {
    fn from(of: ResourceRef) -> Self {
        Resource { of, presence: Presence::NotLookedAt }
    }
}

/// `apps/Deployment team-a/web (exists)`
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.presence {
            Presence::NotLookedAt => self.of.fmt(f),
            presence => write!(f, "{} ({presence})", self.of),
        }
    }
}

impl<'s> Downstream<'s> {
    /// Opens what the flags name.
    ///
    /// # Errors
    /// As for [`Context::new`].
    pub fn open(flags: &DownstreamFlags, cli: &Cli, source: &'s Source) -> Result<Self, Failure> {
        if let Source::Dump(dump) = source {
            return Ok(Downstream::Dump(dump));
        }
        if flags.target_same {
            let Source::Cluster(cluster) = source else { return Ok(Downstream::NotLookedAt) };
            return Ok(Downstream::Cluster(Cluster::new(cluster.client.clone(), cluster.timeout, cluster.concurrency)));
        }
        if !flags.is_given() {
            return Ok(Downstream::NotLookedAt);
        }
        let connection = Connection {
            kubeconfig: flags.target_kubeconfig.clone().or_else(|| cli.connection.kubeconfig.clone()),
            context: flags.target_context.clone(),
            request_timeout: cli.connection.request_timeout,
            ..Connection::default()
        };
        let Context { client, timeout, .. } = Context::new(&connection, cli.global.verbosity, &Warnings::default())?;
        let concurrency = match source {
            Source::Cluster(cluster) => cluster.concurrency,
            Source::Dump(_) => 1,
        };
        Ok(Downstream::Cluster(Cluster::new(client, timeout, concurrency)))
    }

    /// Is a cluster looked at?
    pub fn is_looked_at(&self) -> bool {
        match self {
            Downstream::Cluster(_) => true,
            Downstream::NotLookedAt | Downstream::Dump(_) => false,
        }
    }

    /// Looks for resources. The answers are in the order of the questions.
    pub async fn look(&self, resources: Vec<ResourceRef>) -> Vec<Resource> {
        let answered = |of: ResourceRef, presence| Resource { of, presence };
        match self {
            Downstream::NotLookedAt => resources.into_iter().map(|of| answered(of, Presence::NotLookedAt)).collect(),
            Downstream::Dump(_) if resources.is_empty() => vec![],
            Downstream::Dump(dump) => {
                let objects = dump.resources();
                let known: BTreeSet<_> = objects.iter().map(ResourceRef::identity).collect();
                let presence = |of: &ResourceRef| match known.contains(&of.identity()) {
                    true => Presence::Exists,
                    false => Presence::NotLookedAt,
                };
                resources.into_iter().map(|of| answered(of.clone(), presence(&of))).collect()
            }
            Downstream::Cluster(cluster) => cluster.look(resources).await,
        }
    }
}
