//! What to do next: commands that exist, of this plugin or of kubectl.

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::names::{
    CLEANUP_FINALIZER, ENO_GROUP, FORCE_RESYNTHESIS, FOREGROUND_FINALIZER, IGNORE_SIDE_EFFECTS, ORPHAN_FINALIZER,
};
use eno_shared::patch::remove_finalizer;
use eno_shared::stuck::Blocker;
use eno_shared::{Reason, Verdict};
use serde::Serialize;

use crate::finding::Finding;

/// One thing to do.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// What it is good for.
    pub what: String,
    /// The command line; null where it takes more than one.
    pub command: Option<String>,
}

/// What to advise about objects of a namespace.
pub(super) struct Advice<'a> {
    namespace: &'a str,
    offline: String,
}

impl<'a> Advice<'a> {
    /// `offline` are the flags that lead to the dump, empty for a cluster.
    pub(super) fn new(namespace: &'a str, offline: String) -> Self {
        Advice { namespace, offline }
    }

    /// About a slice.
    pub(super) fn for_slice(&self, finding: &Finding<'_>) -> Vec<Step> {
        let metadata = finding.seen.metadata();
        let object = format!("{}.{ENO_GROUP}/{}", ResourceSlice::PLURAL, metadata.name);
        if finding.seen.unreadable.is_some() {
            let command = format!("kubectl get {object} -n {} -o yaml", self.namespace);
            return vec![self.step("see what it is", command)];
        }
        if finding.judgement.verdict == Verdict::Unknown {
            return self.for_unknown();
        }
        let mut steps = self.against_all(&finding.blockers);
        match finding.judgement.verdict {
            Verdict::Collect => {
                steps.push(self.step(
                    "nothing needs it: it may be deleted",
                    format!("kubectl delete {object} -n {}", self.namespace),
                ))
            }
            Verdict::Release if finding.judgement.reason != Reason::NoFinalizer => {
                if let Some(patch) = remove_finalizer(metadata, CLEANUP_FINALIZER)
                    && let Ok(patch) = serde_json::to_string(&patch)
                {
                    let command = format!("kubectl patch {object} -n {} --type=json -p '{patch}'", self.namespace);
                    steps.push(self.step("nothing needs it: Eno's finalizer may come off, and only that", command));
                }
            }
            Verdict::Hold => {
                steps.extend(finding.judgement.reason.composition().map(|name| {
                    self.step("see what the composition waits for", self.why(Composition::SINGULAR, name))
                }));
            }
            Verdict::Wait => {
                steps.push(self.step("look again in a few seconds", self.why(ResourceSlice::SINGULAR, &metadata.name)))
            }
            Verdict::Keep | Verdict::Release | Verdict::Unknown => {}
        }
        steps
    }

    /// About a composition.
    pub(super) fn for_composition(&self, composition: &Composition, blockers: &[Blocker]) -> Vec<Step> {
        let name = &composition.metadata.name;
        let mut steps = self.against_all(blockers);
        if composition.metadata.is_deleting() {
            let slices =
                format!("kubectl eno slices -n {} --composition={name} -o wide{}", self.namespace, self.offline);
            steps.push(self.step("see how far its slices are", slices));
        }
        steps
    }

    /// About what could not be read.
    pub(super) fn for_unknown(&self) -> Vec<Step> {
        let kinds = format!("{}.{ENO_GROUP},{}.{ENO_GROUP}", Composition::PLURAL, ResourceSlice::PLURAL);
        if self.offline.is_empty() {
            let command = format!("kubectl auth can-i list {}.{ENO_GROUP} -n {}", Composition::PLURAL, self.namespace);
            return vec![self.step("see whether you may read what decides", command)];
        }
        vec![self.step(
            "take a dump that has everything, and read it with --complete",
            format!("kubectl get {kinds} -A -o yaml > dump.yaml"),
        )]
    }

    /// One step for each command: blockers may share it.
    fn against_all(&self, blockers: &[Blocker]) -> Vec<Step> {
        let mut steps: Vec<Step> = vec![];
        for step in blockers.iter().filter_map(|blocker| self.against(blocker)) {
            if step.command.is_none() || steps.iter().all(|other| other.command != step.command) {
                steps.push(step);
            }
        }
        steps
    }

    fn against(&self, blocker: &Blocker) -> Option<Step> {
        let pods = |name: &str| format!("kubectl get pods -A -l app={name}");
        let namespace = self.namespace;
        Some(match blocker {
            Blocker::DeletionNotObserved => self.step("see whether eno-controller runs", pods("eno-controller")),
            Blocker::NobodyActs | Blocker::NoOwner => self.step("see whether eno-controller runs", pods("eno-controller")),
            Blocker::NoReconcilerSeen => self.step("see whether eno-reconciler runs", pods("eno-reconciler")),
            Blocker::ResourcesLeft { .. } => self.step("see what eno-reconciler does", pods("eno-reconciler")),
            Blocker::ReconcileError { .. } | Blocker::StatusMismatch { .. } => {
                self.step("mend what the error says; eno-reconciler tries again by itself", pods("eno-reconciler"))
            }
            Blocker::DependentsExist { dependents } => {
                let (home, name) = dependents.first()?.split_once('/')?;
                let command = format!("kubectl delete {}.{ENO_GROUP} {name} -n {home}", Composition::PLURAL);
                self.step("delete what depends on it first, where that is meant to go too", command)
            }
            Blocker::CircularDependency { .. } => self.step(
                "break the circle: drop one of the dependencies",
                format!("kubectl edit {}.{ENO_GROUP} -n {namespace}", Composition::PLURAL),
            ),
            Blocker::ResynthesisNeeded { composition } => self.step(
                "ask for a new synthesis, which replaces the slice",
                format!("kubectl annotate {}.{ENO_GROUP} {composition} -n {namespace} --overwrite {FORCE_RESYNTHESIS}=\"$(kubectl get {}.{ENO_GROUP} {composition} -n {namespace} -o jsonpath='{{.status.currentSynthesis.uuid}}')\"", Composition::PLURAL, Composition::PLURAL),
            ),
            Blocker::SideEffectsIgnored { composition } => self.step(
                "allow new syntheses again, if that is meant",
                format!("kubectl annotate {}.{ENO_GROUP} {composition} -n {namespace} {IGNORE_SIDE_EFFECTS}-", Composition::PLURAL),
            ),
            Blocker::SynthesisInFlight { .. } => {
                self.step("see whether the synthesizer's pod runs", "kubectl get pods -A -l app.kubernetes.io/managed-by=eno".to_owned())
            }
            Blocker::ForeignFinalizer { finalizers } => {
                let foreign = |finalizer: &&String| !matches!(finalizer.as_str(), FOREGROUND_FINALIZER | ORPHAN_FINALIZER);
                let foreign: Vec<&str> = finalizers.iter().filter(foreign).map(String::as_str).collect();
                let what = if foreign.is_empty() {
                    "Kubernetes' garbage collector takes its finalizer off, once what it waits for is gone".to_owned()
                } else {
                    format!("find who is to take off {}: Eno never does", foreign.join(", "))
                };
                Step { what, command: None }
            }
            Blocker::MissingSlice { .. } | Blocker::NamespaceTerminating => return None,
        })
    }

    fn step(&self, what: &str, command: String) -> Step {
        Step { what: what.to_owned(), command: Some(command) }
    }

    fn why(&self, kind: &str, name: &str) -> String {
        format!("kubectl eno why {kind}/{name} -n {}{}", self.namespace, self.offline)
    }
}
