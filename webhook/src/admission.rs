//! One review: what is asked → the facts → the rules → the answer.
//!
//! # Guarantees
//! - The rules of `eno_shared` decide, on live reads, and on nothing else. Who asks does not matter, but for an override.
//! - What cannot be read, or does not decode, is refused by the hooks that guard, and passes those that only remark (C7).
//! - A dry run gets the same answer and causes nothing.
//!
//! # Assumptions
//! - The caller is the API server. Any other caller learns a decision, and causes nothing: no answer changes an object.

use std::sync::Arc;
use std::time::Instant;

use eno_shared::admission::{Answer, Ground, Outcome};
use eno_shared::names::WEBHOOK_NAME;
use eno_shared::pods::tracker::Place;
use tokio::sync::mpsc;

use crate::controllers::Hint;
use crate::deadline::Deadline;
use crate::events::Events;
use crate::facts::Facts;
use crate::force::Force;
use crate::hooks::{Hook, OnFailure};
use crate::metrics::Metrics;
use crate::mode::Mode;
use crate::pods;
use crate::response::Response;
use crate::review::{Request, Undecodable};
use crate::store::Key;

mod compositions;
pub(crate) mod definitions;
mod judged;
mod log;
mod pod;
mod slices;

pub use judged::{Evidence, Forced, Judged, Subject};

/// Answers reviews.
#[derive(Clone)]
pub struct Admission {
    facts: Facts,
    force: Force,
    mode: Mode,
    events: Events,
    metrics: Metrics,
    cleanup: Cleanup,
}

/// What admission knows of the controllers.
#[derive(Clone, Default)]
pub struct Cleanup {
    /// The slices of finished compositions are collected (A1), by this process or by another replica.
    pub runs: bool,
    /// Where to name slices that may soon have to be looked at; `None` where nobody looks.
    pub hints: Option<mpsc::Sender<Hint>>,
    /// Where to name pods that may soon be going; `None` where nobody follows them.
    pub pods: Option<mpsc::Sender<pods::Hint>>,
}

impl Admission {
    /// Everything that an answer needs.
    #[must_use]
    pub fn new(
        facts: Facts,
        force: Force,
        mode: Mode,
        events: Events,
        metrics: Metrics,
        cleanup: Cleanup,
    ) -> Arc<Self> {
        Arc::new(Admission { facts, force, mode, events, metrics, cleanup })
    }

    /// Answers one review.
    pub async fn review(&self, hook: Hook, request: &Request<'_>, deadline: Deadline) -> Response {
        let started = Instant::now();
        let judged = self.judge(hook, request, deadline).await;
        let judged = self.force.over(hook, request, judged, deadline).await;
        self.metrics.reviewed(hook, &judged, started.elapsed());
        log::reviewed(hook, request, &judged, started.elapsed());
        if !request.is_dry_run() {
            self.events.tell(hook, request, &judged);
            self.hint(hook, &judged);
        }
        self.mode.respond(request, judged)
    }

    async fn judge(&self, hook: Hook, request: &Request<'_>, deadline: Deadline) -> Judged {
        let facts = &self.facts;
        let judged = match hook {
            Hook::SlicesDelete => slices::delete(request, facts, deadline).await,
            Hook::SlicesUpdate => slices::update(request, facts, deadline, self.cleanup.runs).await,
            Hook::SlicesCreate => slices::create(request),
            Hook::CompositionsUpdate => compositions::update(request, facts, deadline).await,
            Hook::CompositionsDelete => compositions::delete(request, facts),
            Hook::SymphoniesDelete => compositions::delete_symphony(request),
            Hook::DefinitionsDelete => definitions::delete(request, facts, deadline).await,
            Hook::PodsDelete => pod::delete(request),
            Hook::PodsEvict => Ok(pod::evict(request)),
        };
        judged.unwrap_or_else(|why| undecodable(hook, request, &why))
    }

    /// Names the slice or the pod to the controllers. They look for themselves; a hint that is lost loses nothing.
    fn hint(&self, hook: Hook, judged: &Judged) {
        let Subject { namespace, name, uid, .. } = &judged.subject;
        match hook {
            Hook::SlicesDelete | Hook::SlicesUpdate => {
                let hint = || Hint::Slice(Key::new(namespace, name));
                let _ = self.cleanup.hints.as_ref().map(|hints| hints.try_send(hint()));
            }
            Hook::PodsDelete | Hook::PodsEvict => {
                let uid = (!uid.is_empty()).then(|| uid.as_str().into());
                let hint = || pods::Hint { place: Place::new(namespace, name), uid };
                let _ = self.cleanup.pods.as_ref().map(|hints| hints.try_send(hint()));
            }
            Hook::SlicesCreate
            | Hook::CompositionsUpdate
            | Hook::CompositionsDelete
            | Hook::SymphoniesDelete
            | Hook::DefinitionsDelete => {}
        }
    }

    /// The metrics.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

/// C7, of an object that does not decode.
fn undecodable(hook: Hook, request: &Request<'_>, why: &Undecodable) -> Judged {
    let subject = Subject::of_request(request);
    let (outcome, what, next) = match hook.rule().on_failure {
        OnFailure::Fail => {
            (Outcome::Retry, "cannot be judged", "Nothing was changed; try again. If this stays, see the logs of")
        }
        OnFailure::Ignore => (Outcome::Allow, "passes unseen", "See the logs of"),
    };
    let ground = Ground::EvidenceUnknown;
    let message = format!("{} {what} ({ground}): {why}. {next} {WEBHOOK_NAME}", subject.title());
    let answer = Answer { outcome, ground, composition: None, message, warnings: vec![] };
    Judged::new(subject, answer, Evidence::None)
}
