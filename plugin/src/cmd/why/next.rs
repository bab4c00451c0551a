//! What to do next: commands that exist, of this plugin or of kubectl.

mod against;

use eno_shared::api::{Composition, Kind, ResourceSlice};
use eno_shared::names::ENO_GROUP;
use eno_shared::stuck::Blocker;
use eno_shared::{Reason, Verdict};
use serde::Serialize;

use super::shell::quoted;
use crate::finding::Finding;
use against::against;

/// One thing to do.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// What it is good for.
    pub what: String,
    /// The command line; null where it takes more than one.
    pub command: Option<String>,
}

impl Step {
    fn new(what: &str, command: String) -> Self {
        Step { what: what.to_owned(), command: Some(command) }
    }
}

/// What to advise about objects of a namespace.
pub(super) struct Advice {
    /// Quoted.
    namespace: String,
    offline: String,
}

impl Advice {
    /// `offline` are the flags that lead to the dump, empty for a cluster.
    pub(super) fn new(namespace: &str, offline: String) -> Self {
        Advice { namespace: quoted(namespace), offline }
    }

    /// About a slice, which has waited for long where it is stuck.
    pub(super) fn for_slice(&self, finding: &Finding<'_>, stuck: bool) -> Vec<Step> {
        let (metadata, namespace) = (finding.seen.metadata(), &self.namespace);
        let slice = quoted(&format!("{}/{}", ResourceSlice::SINGULAR, metadata.name));
        let object = quoted(&format!("{}.{ENO_GROUP}/{}", ResourceSlice::PLURAL, metadata.name));
        if finding.seen.unreadable.is_some() {
            return vec![Step::new("see what it is", format!("kubectl get {object} -n {namespace} -o yaml"))];
        }
        let mut steps = self.against_all(&finding.blockers);
        match finding.judgement.verdict {
            Verdict::Keep => {}
            Verdict::Unknown => steps.extend(self.for_unknown()),
            // A dump does not grow older.
            Verdict::Wait if !self.offline.is_empty() => {}
            Verdict::Wait => {
                steps.push(Step::new("look again in a few seconds", self.why(ResourceSlice::SINGULAR, &metadata.name)));
            }
            Verdict::Collect => {
                let command = format!("kubectl eno cleanup -n {namespace}");
                steps.push(Step::new("nothing needs it: it may be deleted", command));
            }
            Verdict::Hold => {
                let composition = finding.judgement.reason.composition();
                steps.extend(composition.map(|name| {
                    Step::new("see what the composition waits for", self.why(Composition::SINGULAR, name))
                }));
                // Nobody is led to force what only takes its time.
                if stuck {
                    let what = "last resort, which orphans what is left; this only tries it";
                    let command = format!("kubectl eno release {slice} -n {namespace} --force --dry-run=server");
                    steps.push(Step::new(what, command));
                }
            }
            Verdict::Release if finding.judgement.reason == Reason::NoFinalizer => {}
            Verdict::Release => {
                let what = "nothing needs it: Eno's finalizer may come off, and only that";
                steps.push(Step::new(what, format!("kubectl eno release {slice} -n {namespace}")));
            }
        }
        steps
    }

    /// About a composition.
    pub(super) fn for_composition(&self, composition: &Composition, blockers: &[Blocker]) -> Vec<Step> {
        let (name, namespace) = (quoted(&composition.metadata.name), &self.namespace);
        let mut steps = self.against_all(blockers);
        if composition.metadata.is_deleting() {
            let command = format!("kubectl eno slices -n {namespace} --composition={name} -o wide{}", self.offline);
            steps.push(Step::new("see how far its slices are", command));
        }
        steps
    }

    /// About what could not be read.
    pub(super) fn for_unknown(&self) -> Vec<Step> {
        let kind = format!("{}.{ENO_GROUP}", Composition::PLURAL);
        if self.offline.is_empty() {
            let command = format!("kubectl auth can-i list {kind} -n {}", self.namespace);
            return vec![Step::new("see whether you may read what decides", command)];
        }
        let command = format!("kubectl get {kind},{}.{ENO_GROUP} -A -o yaml > dump.yaml", ResourceSlice::PLURAL);
        vec![Step::new("take a dump that has everything, and read it with --complete", command)]
    }

    /// One step for each command: blockers may share it.
    pub(super) fn against_all(&self, blockers: &[Blocker]) -> Vec<Step> {
        let mut steps: Vec<Step> = vec![];
        for step in blockers.iter().filter_map(|blocker| against(blocker, &self.namespace)) {
            if step.command.is_none() || steps.iter().all(|other| other.command != step.command) {
                steps.push(step);
            }
        }
        steps
    }

    /// Leads to the explanation of a composition.
    pub(super) fn why_composition(&self, what: &str, name: &str) -> Step {
        Step::new(what, self.why(Composition::SINGULAR, name))
    }

    fn why(&self, kind: &str, name: &str) -> String {
        format!("kubectl eno why {} -n {}{}", quoted(&format!("{kind}/{name}")), self.namespace, self.offline)
    }
}
