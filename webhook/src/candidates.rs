//! Which compositions refer to a slice, and which depend on a composition: names from a watch, never facts.
//!
//! The watch may be behind, so a name is only a hint whom to read live. Of a composition nothing is kept but its name and
//! the names it refers to. Where the watch has not delivered a whole list yet, or has failed for long, it says nothing, and
//! the caller lists live instead.

mod index;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use eno_shared::api::Composition;
use eno_shared::client::Watched;
use eno_shared::names::ENO_API_VERSION;
use futures::StreamExt;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, Client, Resource, ResourceExt};

use index::{Index, References};

/// How many objects a list brings at once: its text and what is parsed of it are the peak of memory at the start.
pub(crate) const PAGE: u32 = 125;
/// A watch that has failed for so long is not asked for names any more.
const STALE_AFTER: Duration = Duration::from_secs(60);
/// A watch that goes on where it was says nothing until something changes. One that is still broken fails again before this:
/// a request that hangs ends after five minutes, and the longest pause is half a minute.
const HEALED_AFTER: Duration = Duration::from_secs(400);

/// The names that the watches know.
#[derive(Clone)]
pub struct Candidates {
    scopes: Arc<[Scope]>,
}

/// What one watch covers, and what it knows.
struct Scope {
    /// `None` for all namespaces.
    namespace: Option<String>,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    index: Index,
    synced: bool,
    attempted: bool,
    failing: Option<Failing>,
}

/// The failures since something was heard last.
struct Failing {
    since: Instant,
    last: Instant,
}

impl Candidates {
    /// Of these namespaces, or of all where none is named. Nothing is known before [`Candidates::watch`] runs.
    #[must_use]
    pub fn new(namespaces: &[String]) -> Self {
        let scope = |namespace| Scope { namespace, state: RwLock::default() };
        let scopes = if namespaces.is_empty() {
            Arc::from([scope(None)])
        } else {
            namespaces.iter().cloned().map(Some).map(scope).collect()
        };
        Candidates { scopes }
    }

    /// Watches for ever.
    pub async fn watch(self, client: Client) {
        futures::future::join_all(self.scopes.iter().map(|scope| scope.watch(client.clone()))).await;
    }

    /// Compositions of the namespace that may refer to the slice; `None` where the watch cannot say.
    #[must_use]
    pub fn referrers(&self, namespace: &str, slice: &str) -> Option<Vec<String>> {
        self.index(namespace, |index| index.referrers(namespace, slice))
    }

    /// Compositions, as `NAMESPACE/NAME`, that depend on this one, as far as is known.
    #[must_use]
    pub fn dependents(&self, namespace: &str, name: &str) -> Vec<String> {
        let of_scope = |scope: &Scope| scope.read(|state| state.index.dependents(namespace, name));
        self.scopes.iter().flat_map(of_scope).collect()
    }

    /// Has each watch tried? One that fails is replaced by live lists.
    #[must_use]
    pub fn have_started(&self) -> bool {
        self.scopes.iter().all(|scope| scope.read(|state| state.attempted))
    }

    fn index<T>(&self, namespace: &str, ask: impl FnOnce(&Index) -> T) -> Option<T> {
        let covers = |scope: &&Scope| scope.namespace.as_deref().is_none_or(|covered| covered == namespace);
        self.scopes.iter().find(covers)?.read(|state| state.is_usable().then(|| ask(&state.index)))
    }
}

impl State {
    fn is_usable(&self) -> bool {
        self.synced && self.failing.as_ref().is_none_or(|failing| !failing.is_stale(Instant::now()))
    }
}

impl Failing {
    fn is_stale(&self, now: Instant) -> bool {
        let (lasts, quiet) = (now.duration_since(self.since), now.duration_since(self.last));
        lasts >= STALE_AFTER && quiet < HEALED_AFTER
    }
}

impl Scope {
    fn read<T>(&self, ask: impl FnOnce(&State) -> T) -> T {
        ask(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner));
    }

    async fn watch(&self, client: Client) {
        let api: Api<Watched<Composition>> = match &self.namespace {
            Some(namespace) => Api::namespaced(client, namespace),
            None => Api::all(client),
        };
        let mut events = std::pin::pin!(watch(api, watcher::Config::default().page_size(PAGE)).default_backoff());
        // A list is gathered aside: until it is whole, the old one is the better hint.
        let mut listed = Index::default();
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => self.observe(event, &mut listed),
                Err(error) => self.fail(&error),
            }
        }
    }

    fn observe(&self, event: Event<Watched<Composition>>, listed: &mut Index) {
        match event {
            Event::Init => *listed = Index::default(),
            Event::InitApply(composition) => apply(listed, &composition),
            Event::InitDone => {
                let index = std::mem::take(listed);
                tracing::debug!(
                    namespace = self.namespace,
                    compositions = index.len(),
                    "knows which slices compositions refer to"
                );
                self.write(|state| *state = State { index, synced: true, attempted: true, failing: None });
            }
            Event::Apply(composition) => self.write(|state| {
                state.failing = None;
                apply(&mut state.index, &composition);
            }),
            Event::Delete(composition) => self.write(|state| {
                state.failing = None;
                state.index.remove(namespace_of(&composition), &composition.name_any());
            }),
        }
    }

    fn fail(&self, error: &watcher::Error) {
        tracing::warn!(
            %error, api_version = ENO_API_VERSION, namespace = self.namespace,
            "cannot watch compositions; where this lasts, each slice's namespace is listed live"
        );
        self.write(|state| {
            state.attempted = true;
            let now = Instant::now();
            state.failing.get_or_insert(Failing { since: now, last: now }).last = now;
        });
    }
}

fn apply(index: &mut Index, composition: &Watched<Composition>) {
    let references = composition.object.found().map(|composition| References::of(composition));
    index.apply(namespace_of(composition), &composition.name_any(), references);
}

fn namespace_of(composition: &Watched<Composition>) -> &str {
    composition.meta().namespace.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_not_asked_while_it_fails_for_long_and_again_when_it_has_been_quiet() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let is_stale = |last, now| Failing { since: began, last: after(last) }.is_stale(after(now));
        assert!(!is_stale(0, 59), "a short outage");
        assert!(is_stale(0, 60), "it has not been heard of since");
        assert!(is_stale(900, 1_200), "it fails again and again");
        assert!(!is_stale(0, 400), "one that is still broken would have failed again");
    }
}
