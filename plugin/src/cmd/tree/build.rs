//! What hangs below what.

use std::collections::{HashMap, HashSet};

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind, ResourceSlice, Symphony, Synthesis};
use eno_shared::owner::{composition_owner, symphony_owner};

use super::node::Node;
use crate::finding::Finding;
use crate::finding::composition::CompositionFinding;
use crate::item::composition::UNKNOWN;
use crate::resources::{Held, held};
use crate::snapshot::{Seen, Snapshot};
use crate::surroundings::{owned_by, symphony_state};

/// All that was read.
pub(super) struct Forest<'a> {
    pub snapshot: &'a Snapshot,
    symphonies: &'a [Symphony],
    /// The only namespace that is asked for.
    namespace: Option<&'a str>,
    /// By namespace and name of the composition that owns them.
    owned: HashMap<(&'a str, &'a str), Vec<&'a Seen>>,
}

impl<'a> Forest<'a> {
    /// Of one namespace, or of all.
    pub(super) fn of(snapshot: &'a Snapshot, symphonies: &'a [Symphony], namespace: Option<&'a str>) -> Self {
        let mut owned: HashMap<_, Vec<_>> = HashMap::new();
        for seen in &snapshot.slices {
            if let Some(owner) = composition_owner(seen.metadata()) {
                owned.entry((seen.place().0, owner.name.as_str())).or_default().push(seen);
            }
        }
        Forest { snapshot, symphonies, namespace, owned }
    }

    /// All symphonies, and the compositions that none of them owns.
    pub(super) fn all(&self) -> Vec<Node> {
        let symphonies = self.symphonies.iter().map(|symphony| self.symphony(symphony));
        let is_owned = |home: &str, name: &str| {
            let compositions = self.snapshot.namespaces.compositions(home);
            let owner = compositions.get(name).found().and_then(|found| symphony_owner(&found.metadata));
            owner.is_some_and(|owner| {
                let mut symphonies = self.symphonies.iter().map(|symphony| &symphony.metadata);
                symphonies.any(|symphony| symphony.namespace == home && symphony.name == owner.name)
            })
        };
        let alone = self.namespaces().flat_map(|home| {
            let names = self.snapshot.namespaces.compositions(home).names();
            names.filter(move |name| !is_owned(home, name)).filter_map(move |name| self.composition(home, name))
        });
        symphonies.chain(alone).collect()
    }

    /// The namespaces that have a composition of the name.
    pub(super) fn homes(&self, name: &str) -> Vec<&'a str> {
        let has = |home: &&str| self.snapshot.namespaces.compositions(home).names().any(|found| found == name);
        self.namespaces().filter(has).collect()
    }

    fn namespaces(&self) -> impl Iterator<Item = &'a str> {
        let asked = self.namespace;
        self.snapshot.namespaces.names().filter(move |name| asked.is_none_or(|asked| asked == *name))
    }

    /// A symphony and its compositions.
    pub(super) fn symphony(&self, symphony: &Symphony) -> Node {
        let metadata = &symphony.metadata;
        let compositions = self.snapshot.namespaces.compositions(&metadata.namespace);
        let names = owned_by(&metadata.name, compositions).map(|composition| composition.metadata.name.as_str());
        Node {
            creation_timestamp: metadata.creation_timestamp,
            children: names.filter_map(|name| self.composition(&metadata.namespace, name)).collect(),
            ..Node::new(Symphony::KIND, &metadata.namespace, &metadata.name, symphony_state(symphony).0)
        }
    }

    /// A composition, what it depends on, its syntheses, and the slices of none of them.
    pub(super) fn composition(&self, namespace: &str, name: &str) -> Option<Node> {
        let finding = CompositionFinding::of(self.snapshot, namespace, name)?;
        let state = finding.state().map_or(UNKNOWN, |state| state.as_str());
        let node = Node::new(Composition::KIND, namespace, name, state);
        let Ok(composition) = finding.composition else {
            return Some(Node { reason: Some(finding.message()), ..node });
        };
        let codes: Vec<&str> = finding.blockers.iter().map(|blocker| blocker.code()).collect();
        let mut children: Vec<Node> =
            composition.spec.depends_on.iter().map(|on| self.dependency(namespace, &on.namespace, &on.name)).collect();
        children.extend(self.syntheses(composition, namespace));
        Some(Node {
            reason: crate::item::first_and_more(&codes),
            creation_timestamp: composition.metadata.creation_timestamp,
            children,
            ..node
        })
    }

    fn dependency(&self, home: &str, namespace: &str, name: &str) -> Node {
        let namespace = if namespace.is_empty() { home } else { namespace };
        let finding = CompositionFinding::of(self.snapshot, namespace, name);
        let state = match &finding {
            None => "Missing",
            Some(finding) => finding.state().map_or(UNKNOWN, |state| state.as_str()),
        };
        Node::new("DependsOn", namespace, name, state)
    }

    fn syntheses(&self, composition: &Composition, namespace: &str) -> Vec<Node> {
        let status = &composition.status;
        let known = [
            ("inFlight", &status.in_flight_synthesis),
            ("current", &status.current_synthesis),
            ("previous", &status.previous_synthesis),
        ];
        let known = known.into_iter().filter_map(|(which, synthesis)| Some((which, synthesis.as_ref()?)));
        let mut nodes: Vec<Node> = known
            .clone()
            .map(|(which, synthesis)| {
                let slices = synthesis.resource_slices.iter();
                let slice = |name: &str| self.slice(namespace, name, which == "current");
                Node {
                    children: slices.map(|reference| slice(&reference.name)).collect(),
                    ..Node::new("Synthesis", namespace, &format!("{which}/{}", synthesis.uuid), state(which, synthesis))
                }
            })
            .collect();
        let listed: HashSet<&str> = known
            .clone()
            .flat_map(|(_, synthesis)| &synthesis.resource_slices)
            .map(|reference| &*reference.name)
            .collect();
        let owned = self.owned.get(&(namespace, composition.metadata.name.as_str())).into_iter().flatten();
        let others = owned.map(|seen| seen.metadata().name.as_str()).filter(|name| !listed.contains(name));
        let others: Vec<Node> = others.map(|name| self.slice(namespace, name, false)).collect();
        if !others.is_empty() {
            nodes.push(Node { children: others, ..Node::new("Synthesis", namespace, "none", "Unreferenced") });
        }
        nodes
    }

    fn slice(&self, namespace: &str, name: &str, with_resources: bool) -> Node {
        let node = Node::new(ResourceSlice::KIND, namespace, name, UNKNOWN);
        match self.snapshot.look_up(namespace, name) {
            Lookup::Missing => Node { state: "Missing", ..node },
            Lookup::Unknown(why) => Node { reason: Some(why), ..node },
            Lookup::Found(seen) => {
                let finding = Finding::of(seen, &self.snapshot.namespaces, self.snapshot.now);
                let resources = held(seen).filter(|_| with_resources).unwrap_or_default();
                Node {
                    state: finding.judgement.verdict.as_str(),
                    reason: Some(finding.judgement.reason.as_str().to_owned()),
                    creation_timestamp: seen.metadata().creation_timestamp,
                    children: resources.into_iter().map(resource).collect(),
                    ..node
                }
            }
        }
    }
}

fn state(which: &str, synthesis: &Synthesis) -> &'static str {
    match (which, synthesis.canceled, synthesis.reconciled, synthesis.ready) {
        ("inFlight", Some(_), _, _) => "Retrying",
        ("inFlight", None, _, _) => "Synthesizing",
        (_, _, None, _) => "Unreconciled",
        (_, _, Some(_), None) => "Reconciled",
        (_, _, Some(_), Some(_)) => "Ready",
    }
}

fn resource(held: Held) -> Node {
    let error = held.state.as_ref().map(|state| state.reconciliation_error.clone());
    let state = held.word();
    let Held { resource, .. } = held;
    Node {
        reason: error.filter(|error| !error.is_empty()),
        resource: Some(resource.clone()),
        ..Node::new(&resource.kind, &resource.namespace, &resource.name, state)
    }
}
