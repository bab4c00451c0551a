//! Slices that are being deleted though a live composition needs them.

use eno_shared::stuck::Blocker;

use super::check::Check;
use super::id::Id;
use crate::finding::Finding;
use crate::snapshot::Snapshot;

/// How many are named.
const FEW: usize = 5;

/// Are there any?
pub(super) fn terminating(snapshot: &Snapshot) -> Check {
    let findings = snapshot.slices.iter().map(|seen| Finding::of(seen, &snapshot.namespaces, snapshot.now));
    let needs_resynthesis = |blocker: &Blocker| {
        matches!(blocker, Blocker::ResynthesisNeeded { .. } | Blocker::SideEffectsIgnored { .. })
    };
    let lost: Vec<String> = findings
        .filter(|finding| finding.seen.metadata().is_deleting() && finding.blockers.iter().any(needs_resynthesis))
        .map(|finding| {
            let (namespace, name) = finding.seen.place();
            format!("{namespace}/{name}: {}", finding.message())
        })
        .collect();
    let unknown = snapshot.slices_incomplete.as_ref();
    match (lost.len(), unknown) {
        (0, None) => {
            let count = snapshot.slices.len();
            Check::passed(Id::SlicesTerminating, format!("of {count} slices, none is being deleted that a live composition needs"))
        }
        (0, Some(why)) => Check::skipped(Id::SlicesTerminating, why.clone()),
        (count, _) => {
            let more = count.saturating_sub(FEW);
            let message = format!("{count} being deleted that live compositions need: what their next synthesis lacks is orphaned");
            let more = (more > 0).then(|| format!("… {more} more"));
            Check::warning(Id::SlicesTerminating, message).with(lost.into_iter().take(FEW)).with(more)
        }
    }
}
