//! What is to be done: the first look, at what was listed.

use eno_shared::api::{Kind, ResourceSlice};
use eno_shared::judge::unowned_and_unreferred;
use eno_shared::{Compositions, Judgement, Reason, Verdict, judge};
use jiff::{SignedDuration, Timestamp};

use crate::age::age;
use crate::cli::{CleanupAction, CleanupFlags};
use crate::finding::Finding;
use crate::output::table::Table;
use crate::snapshot::Snapshot;

/// One slice, and what is to be done to it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// Empty where no composition owns it.
    pub composition: String,
    pub action: CleanupAction,
    /// The reason of the verdict.
    pub reason: Reason,
    /// It has no owner: a person says that it is garbage.
    pub unowned: bool,
    pub created: Option<Timestamp>,
}

impl Step {
    /// `resourceslice.eno.azure.io/NAME`.
    pub fn resource_name(&self) -> String {
        format!("{}.{}/{}", ResourceSlice::SINGULAR, eno_shared::names::ENO_GROUP, self.name)
    }
}

/// What the verdict on a slice asks for, if the flags ask for it too.
pub(super) fn action(
    slice: &ResourceSlice,
    compositions: &Compositions,
    now: Timestamp,
    flags: &CleanupFlags,
) -> (Judgement, Option<CleanupAction>) {
    let judgement = judge(slice, compositions, now);
    let action = match judgement.verdict {
        Verdict::Collect => Some(CleanupAction::Collect),
        Verdict::Release if judgement.reason != Reason::NoFinalizer => Some(CleanupAction::Release),
        Verdict::Keep if flags.unowned && unowned_and_unreferred(slice, compositions, now) => {
            Some(CleanupAction::Collect)
        }
        Verdict::Release | Verdict::Keep | Verdict::Wait | Verdict::Hold | Verdict::Unknown => None,
    };
    let wanted = action.filter(|action| flags.only.is_empty() || flags.only.contains(action));
    (judgement, wanted)
}

/// All steps, and how many slices are left as they are.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
    kept: usize,
    unowned: usize,
    too_new: usize,
    held: usize,
    unknown: usize,
    /// The verdict says so, the flags do not.
    left_out: usize,
}

impl Plan {
    /// From what was listed.
    pub fn of(snapshot: &Snapshot, flags: &CleanupFlags) -> Self {
        let mut plan = Plan::default();
        let now = snapshot.now;
        for seen in &snapshot.slices {
            let finding = Finding::of(seen, &snapshot.namespaces, now);
            let metadata = seen.metadata();
            let compositions = snapshot.namespaces.compositions(&metadata.namespace);
            let (judgement, wanted) = match seen.unreadable {
                Some(_) => (finding.judgement, None),
                None => action(&seen.slice, compositions, now, flags),
            };
            let Some(action) = wanted else {
                plan.count(&judgement);
                continue;
            };
            let limit = flags.limit.is_none_or(|limit| plan.steps.len() < limit);
            if !limit || !old_enough(metadata.creation_timestamp, now, flags) {
                plan.left_out += 1;
                continue;
            }
            plan.steps.push(Step {
                namespace: metadata.namespace.clone(),
                name: metadata.name.clone(),
                uid: metadata.uid.clone(),
                composition: finding.owner.map(|owner| owner.name).unwrap_or_default(),
                action,
                unowned: judgement.verdict == Verdict::Keep,
                reason: judgement.reason,
                created: metadata.creation_timestamp,
            });
        }
        plan
    }

    fn count(&mut self, judgement: &Judgement) {
        let counter = match judgement.verdict {
            Verdict::Keep if judgement.reason == Reason::Unowned => &mut self.unowned,
            Verdict::Keep => &mut self.kept,
            Verdict::Wait => &mut self.too_new,
            Verdict::Hold => &mut self.held,
            Verdict::Unknown => &mut self.unknown,
            // Nothing to release, though others may hold it.
            Verdict::Release if judgement.reason == Reason::NoFinalizer => &mut self.kept,
            Verdict::Collect | Verdict::Release => &mut self.left_out,
        };
        *counter += 1;
    }

    /// The lines that a person reads before saying yes.
    pub fn preview(&self, namespace: Option<&str>, now: Timestamp) -> Vec<String> {
        let mut headers = vec!["NAME", "COMPOSITION", "ACTION", "REASON", "AGE"];
        if namespace.is_none() {
            headers.insert(0, "NAMESPACE");
        }
        let row = |step: &Step| {
            let composition = if step.composition.is_empty() { "<none>" } else { &step.composition };
            let cells = [&step.name, composition, step.action.as_str(), step.reason.as_str()].map(str::to_owned);
            let first = namespace.is_none().then(|| step.namespace.clone());
            first.into_iter().chain(cells).chain([age(step.created, now)]).collect()
        };
        let table = Table::new(&headers, self.steps.iter().map(row).collect());
        let mut lines = table.lines(true, "", |_, cell| cell.to_owned());
        let scope = namespace.map_or("-A".to_owned(), |namespace| format!("-n {namespace}"));
        lines.push(format!("{} (see: kubectl eno slices {scope})", self.summary()));
        lines
    }

    fn summary(&self) -> String {
        let mut parts = vec![match self.steps.len() {
            0 => "nothing to change".to_owned(),
            some => format!("{some} to change"),
        }];
        parts.extend([
            format!("{} kept", self.kept),
            format!("{} held", self.held),
            format!("{} unknown", self.unknown),
        ]);
        for (count, what) in [
            (self.too_new, "too new to tell"),
            (self.unowned, "without an owner kept (--unowned)"),
            (self.left_out, "left out by the flags"),
        ] {
            parts.extend((count > 0).then(|| format!("{count} {what}")));
        }
        parts.join(", ")
    }
}

impl CleanupAction {
    /// The word: that of the verdict.
    pub fn as_str(self) -> &'static str {
        match self {
            CleanupAction::Collect => Verdict::Collect.as_str(),
            CleanupAction::Release => Verdict::Release.as_str(),
        }
    }
}

fn old_enough(created: Option<Timestamp>, now: Timestamp, flags: &CleanupFlags) -> bool {
    let Some(least) = flags.min_age else { return true };
    let least = SignedDuration::try_from(least).unwrap_or(SignedDuration::MAX);
    created.is_some_and(|created| now.duration_since(created) >= least)
}
