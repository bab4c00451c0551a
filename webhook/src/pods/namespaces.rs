//! The namespaces of a label, as they come and go.

use std::collections::HashSet;
use std::sync::Arc;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};

use super::selection::{Namespaces, Selection};

type Seen = watcher::Result<Event<PartialObjectMeta<Namespace>>>;

/// What changed.
#[derive(Debug)]
pub(super) enum Change {
    /// A namespace has the label.
    Joined(Arc<str>),
    /// One has lost it, or is gone.
    Left(Arc<str>),
    /// All were listed: no other [has](Chosen::has) it.
    Listed,
    /// The watch failed, and begins again.
    Failed(watcher::Error),
}

/// The namespaces of a label. Without one nothing ever changes.
pub(super) struct Chosen {
    seen: BoxStream<'static, Seen>,
    known: HashSet<Arc<str>>,
    whole: bool,
}

impl Chosen {
    pub(super) fn new(client: &Client, selection: &Selection) -> Self {
        let Namespaces::Labelled(labels) = &selection.namespaces else { return Chosen::of(stream::pending()) };
        let config = watcher::Config::default().labels_from(&labels.clone().into_iter().collect());
        Chosen::of(watcher(Api::all(client.clone()), config).default_backoff())
    }

    fn of(seen: impl Stream<Item = Seen> + Send + 'static) -> Self {
        Chosen { seen: seen.boxed(), known: HashSet::new(), whole: false }
    }

    /// What changes next.
    pub(super) async fn next(&mut self) -> Change {
        loop {
            let name = |namespace: PartialObjectMeta<Namespace>| Arc::from(namespace.name_any());
            match self.seen.next().await {
                Some(Ok(Event::Init)) => {
                    self.known.clear();
                    self.whole = false;
                }
                Some(Ok(Event::InitApply(namespace) | Event::Apply(namespace))) => {
                    let name: Arc<str> = name(namespace);
                    self.known.insert(Arc::clone(&name));
                    return Change::Joined(name);
                }
                Some(Ok(Event::Delete(namespace))) => {
                    let name = name(namespace);
                    self.known.remove(&name);
                    return Change::Left(name);
                }
                Some(Ok(Event::InitDone)) => {
                    self.whole = true;
                    return Change::Listed;
                }
                Some(Err(error)) => return Change::Failed(error),
                // A watch never ends.
                None => std::future::pending().await,
            }
        }
    }

    /// Are all known? Not while they are being listed.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Is the namespace known to have the label?
    pub(super) fn has(&self, namespace: &str) -> bool {
        self.known.contains(namespace)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn namespace(name: &str) -> PartialObjectMeta<Namespace> {
        serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
    }

    async fn told(chosen: &mut Chosen) -> String {
        match chosen.next().await {
            Change::Joined(name) => format!("+{name}"),
            Change::Left(name) => format!("-{name}"),
            Change::Listed => "all".to_owned(),
            Change::Failed(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn what_a_list_lacks_is_known_only_once_the_list_has_ended() {
        let events = [
            Event::Init,
            Event::InitApply(namespace("a")),
            Event::InitApply(namespace("b")),
            Event::InitDone,
            Event::Delete(namespace("b")),
            // It begins again: a is gone by then.
            Event::Init,
            Event::InitApply(namespace("c")),
            Event::InitDone,
        ];
        let mut chosen = Chosen::of(stream::iter(events.map(Ok)));
        for (expected, whole, known) in [
            ("+a", false, [true, false, false]),
            ("+b", false, [true, true, false]),
            ("all", true, [true, true, false]),
            ("-b", true, [true, false, false]),
            ("+c", false, [false, false, true]),
            ("all", true, [false, false, true]),
        ] {
            assert_eq!(told(&mut chosen).await, expected);
            let got = ["a", "b", "c"].map(|name| chosen.has(name));
            assert_eq!((chosen.is_whole(), got), (whole, known), "after {expected}");
        }
    }
}
