//! Slices that are being deleted though a live composition needs them.

use eno_shared::Verdict;
use eno_shared::stuck::Blocker;

use super::check::Check;
use super::id::Id;
use crate::finding::Finding;
use crate::snapshot::Snapshot;

/// Are there any?
pub(super) fn terminating(snapshot: &Snapshot) -> Check {
    let deleting = snapshot.slices.iter().filter(|seen| seen.metadata().is_deleting());
    let findings: Vec<Finding<'_>> =
        deleting.map(|seen| Finding::of(seen, &snapshot.namespaces, snapshot.now)).collect();
    let unknown = findings.iter().filter(|finding| finding.judgement.verdict == Verdict::Unknown).count();
    let needs_resynthesis =
        |blocker: &Blocker| matches!(blocker, Blocker::ResynthesisNeeded { .. } | Blocker::SideEffectsIgnored { .. });
    let lost: Vec<String> = findings
        .iter()
        .filter(|finding| finding.blockers.iter().any(needs_resynthesis))
        .map(|finding| {
            let (namespace, name) = finding.seen.place();
            format!("{namespace}/{name}: {}", finding.message())
        })
        .collect();
    match (lost.len(), unknown) {
        (0, 0) => {
            let count = snapshot.slices.len();
            Check::passed(
                Id::SlicesTerminating,
                format!("of {count} slices, none is being deleted that a live composition needs"),
            )
        }
        (0, unknown) => {
            let message =
                format!("of {unknown} being deleted nobody can say whether they are needed: see kubectl eno slices");
            Check::skipped(Id::SlicesTerminating, message)
        }
        (count, _) => {
            let message = format!(
                "{count} being deleted that live compositions need: what their next synthesis lacks is orphaned"
            );
            Check::warning(Id::SlicesTerminating, message).with_few(lost)
        }
    }
}
