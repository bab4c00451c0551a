//! What is watched, and by which watches.

use std::time::Duration;

use eno_shared::api::{Composition, Kind, ResourceSlice, Symphony};
use eno_shared::names::{MANAGED_BY_ENO, MANAGED_BY_LABEL, POD_COMPOSITION_NAMESPACE};

use super::Place;
use super::watch::{Subject, Watch};
use crate::outbox;
use crate::query::Query;

/// What is watched.
#[derive(Debug, Default)]
pub struct Wants {
    /// Namespace, selectors of slices, depth. Slices that it does not want are watched and not read.
    pub query: Query,
    /// Symphonies, too?
    pub symphonies: bool,
    /// The pods of synthesizers, too? Those that work for compositions of the namespace, wherever they run.
    pub pods: bool,
    /// This pod, whatever its labels, in place of those.
    pub pod: Option<Place>,
    /// What eno-webhook keeps of pods, too?
    pub outbox: Option<Home>,
    /// Pods and that alone; the namespace of the query is theirs then.
    pub only_pods: bool,
}

/// Where the outbox of pods is.
#[derive(Debug, Clone)]
pub struct Home {
    /// The path of its ConfigMaps.
    pub path: String,
    /// The uid of the cluster, which is written in each of them.
    pub cluster_uid: String,
}

impl Wants {
    /// The watches that are wanted.
    pub(super) fn watches(&self, limit: Duration) -> Vec<Watch> {
        let Query { namespace, labels, fields, names, composition, .. } = &self.query;
        let namespace = namespace.as_deref();
        let plain = |subject, path, metadata_only| {
            let (labels, fields, only) = (None, None, None);
            Watch { subject, path, metadata_only, labels, fields, only, limit }
        };
        let named = match names.as_slice() {
            // Any slice of a composition may matter.
            [name] if composition.is_none() => Some(format!("metadata.name={name}")),
            _ => None,
        };
        let outbox = self
            .outbox
            .iter()
            .map(|home| Watch { labels: Some(outbox::selector()), ..plain(Subject::Outbox, home.path.clone(), false) });
        if self.only_pods {
            let path =
                namespace.map_or_else(|| "/api/v1/pods".to_owned(), |name| format!("/api/v1/namespaces/{name}/pods"));
            let labels = Some(format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}"));
            return outbox.chain([Watch { labels, ..plain(Subject::Pods, path, false) }]).collect();
        }
        let mut watches = vec![
            Watch {
                labels: labels.clone(),
                fields: fields.clone().or(named),
                ..plain(Subject::Slices, ResourceSlice::path(namespace), true)
            },
            plain(Subject::Compositions, Composition::path(namespace), false),
            Watch {
                fields: namespace.map(|name| format!("metadata.name={name}")),
                only: namespace.map(ToOwned::to_owned),
                // Of one namespace all is kept; of all only whether they are being deleted.
                ..plain(Subject::Namespaces, "/api/v1/namespaces".to_owned(), namespace.is_none())
            },
        ];
        if self.symphonies {
            watches.push(plain(Subject::Symphonies, Symphony::path(namespace), false));
        }
        let pods = |namespace: &str| format!("/api/v1/namespaces/{namespace}/pods");
        if let Some((home, name)) = &self.pod {
            let (fields, only) = (Some(format!("metadata.name={name}")), Some(name.clone()));
            watches.push(Watch { fields, only, ..plain(Subject::Pods, pods(home), false) });
        } else if self.pods {
            let mut labels = format!("{MANAGED_BY_LABEL}={MANAGED_BY_ENO}");
            if let Some(namespace) = namespace {
                labels += &format!(",{POD_COMPOSITION_NAMESPACE}={namespace}");
            }
            let all = plain(Subject::Pods, "/api/v1/pods".to_owned(), false);
            watches.push(Watch { labels: Some(labels), ..all });
        }
        watches.extend(outbox);
        watches
    }
}

impl Subject {
    pub(super) fn plural(self) -> &'static str {
        match self {
            Subject::Slices => ResourceSlice::PLURAL,
            Subject::Compositions => Composition::PLURAL,
            Subject::Symphonies => Symphony::PLURAL,
            Subject::Namespaces => "namespaces",
            Subject::Pods => "pods",
            Subject::Outbox => "configmaps",
        }
    }
}
