//! Requests on compositions and symphonies: C4, C5.

use eno_shared::admission::composition::{self, drops_finalizer};
use eno_shared::admission::{Answer, Ground, Outcome};
use eno_shared::api::{Composition, Symphony};

use super::Judged;
use crate::deadline::Deadline;
use crate::facts::Facts;
use crate::review::{Request, Undecodable};

/// C4.
pub(super) async fn update(request: &Request<'_>, facts: &Facts, deadline: Deadline) -> Result<Judged, Undecodable> {
    let (old, new): (Composition, Composition) = (request.decode_old()?, request.decode_new()?);
    if !drops_finalizer(&old, &new) {
        let answer = Answer {
            outcome: Outcome::Allow,
            ground: Ground::NothingDropped,
            composition: Some(old.metadata.name.clone()),
            message: "the composition keeps its finalizer".into(),
            warnings: vec![],
        };
        return Ok(Judged::from_review(&old, answer));
    }
    let evidence = facts.evidence_of(&old, deadline).await;
    let answer = composition::update(&old, &evidence);
    let judged = if evidence.symphony.is_none() && evidence.slices.is_empty() {
        Judged::from_review(&old, answer)
    } else {
        Judged::live(&old, answer)
    };
    Ok(judged.or_overridden_by(&new.metadata))
}

/// C5, of a composition.
pub(super) fn delete(request: &Request<'_>, facts: &Facts) -> Result<Judged, Undecodable> {
    let composition: Composition = request.decode_old()?;
    let dependents = facts.dependents_of(&composition);
    let answer = composition::delete(&composition, request.propagation(), &dependents);
    Ok(Judged::from_review(&composition, answer))
}

/// C5, of a symphony.
pub(super) fn delete_symphony(request: &Request<'_>) -> Result<Judged, Undecodable> {
    let symphony: Symphony = request.decode_old()?;
    Ok(Judged::from_review(&symphony, composition::delete_symphony(&symphony, request.propagation())))
}
