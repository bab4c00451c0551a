//! What the watches say, and which of their lists is believed.

use std::time::Duration;

use anyhow::Result;
use eno_shared::pods::tracker::{Listed, Scope};
use futures::FutureExt;
use tokio::time::sleep;
use tracing::{debug, info, warn};

use super::{Session, now};
use crate::pods::cluster::cluster_uid;
use crate::pods::namespaces::Change;
use crate::pods::watch::{Said, What};

/// After how long a list that nobody believes is read again.
const LIST_AGAIN: Duration = Duration::from_secs(5);

/// A list that is not believed yet.
#[derive(Debug)]
pub(super) enum Doubt {
    /// Of pods: it lacks too many.
    Pods(Scope),
    /// Of namespaces. They are listed so seldom that each list is doubted.
    Namespaces,
}

impl Session {
    pub(super) fn observe(&mut self, said: Said) {
        let now = now();
        match said.what {
            What::Relist => self.tracker.list_begins(&said.scope),
            What::Seen(seen) => self.tracker.seen(seen, now),
            What::Gone(seen) => self.tracker.gone(seen, now),
            What::Failed(error) => {
                self.reporter.watch_restarted("pods");
                warn!(what = "pods", %error, "a watch failed; it begins again");
            }
            What::Listed => match self.tracker.listed(&said.scope, now) {
                Listed::Lacks(lacks) => {
                    self.metrics.relisted("read");
                    debug!(lacks, "a list of pods was read");
                }
                Listed::Shrunk { missing, of } => {
                    self.metrics.relisted("doubted");
                    warn!(
                        missing,
                        of, "a list lacks many of the pods that are followed; it is read again before that is believed"
                    );
                    self.doubt(Doubt::Pods(said.scope), Duration::ZERO);
                }
            },
        }
    }

    pub(super) fn observe_namespaces(&mut self, change: Change) {
        match change {
            Change::Joined(namespace) if self.watches.covers(&namespace) => {}
            Change::Joined(namespace) => {
                info!(%namespace, "follows the pods of another namespace");
                self.watches.begin(Some(namespace), Duration::ZERO);
            }
            Change::Left(namespace) => {
                self.watches.end(&namespace);
                self.keep_to_watches();
            }
            Change::Listed => self.doubt(Doubt::Namespaces, Duration::ZERO),
            Change::Failed(error) => {
                self.reporter.watch_restarted("namespaces");
                warn!(what = "namespaces", %error, "a watch failed; it begins again");
            }
        }
    }

    /// Only pods that a watch tells of are followed.
    pub(super) fn keep_to_watches(&mut self) {
        let others = self.tracker.keep_to(|namespace| self.watches.covers(namespace), now());
        if others > 0 {
            info!(pods = others, "pods of namespaces that are not followed any more are looked at once more");
        }
    }

    /// Asks, after a pause, whether this is still the same cluster.
    fn doubt(&mut self, doubt: Doubt, pause: Duration) {
        let client = self.client.clone();
        let ask = async move {
            sleep(pause).await;
            (doubt, cluster_uid(&client).await)
        };
        self.doubts.push(ask.boxed());
    }

    /// A list was doubted: is it of another cluster? If not, it is read again, or believed.
    pub(super) fn is_another_cluster(&mut self, doubt: Doubt, cluster: Result<String>) -> bool {
        match (doubt, cluster) {
            (_, Ok(cluster)) if cluster != self.cluster => return true,
            (Doubt::Pods(scope), Ok(_)) => self.watches.begin(scope, LIST_AGAIN),
            // The list that is being read by now will be doubted, too.
            (Doubt::Namespaces, Ok(_)) if !self.namespaces.is_whole() => {}
            (Doubt::Namespaces, Ok(_)) => {
                let watched = self.watches.namespaces();
                let left: Vec<_> = watched.filter(|namespace| !self.namespaces.has(namespace)).cloned().collect();
                left.iter().for_each(|namespace| self.watches.end(namespace));
                self.keep_to_watches();
            }
            // Nobody knows yet which cluster it is of.
            (doubt, Err(error)) => {
                debug!(error = format!("{error:#}"), ?doubt, "a list is not believed yet");
                self.doubt(doubt, LIST_AGAIN);
            }
        }
        false
    }
}
