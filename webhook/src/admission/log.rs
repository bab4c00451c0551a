//! One line for each answer that stops or bends something; the others are for debugging.

use std::time::Duration;

use eno_shared::admission::Outcome;

use super::{Forced, Judged};
use crate::hooks::Hook;
use crate::response::one_line;
use crate::review::Request;

/// Logs an answer.
pub(super) fn reviewed(hook: Hook, request: &Request<'_>, judged: &Judged, took: Duration) {
    let Judged { subject, answer, evidence, forced, .. } = judged;
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                hook = hook.as_str(),
                operation = hook.rule().operation.as_str(),
                namespace = subject.namespace,
                name = subject.name,
                composition = answer.composition,
                decision = answer.outcome.as_str(),
                reason = answer.ground.as_str(),
                evidence = evidence.as_str(),
                r#override = forced.as_str(),
                user = request.user_info.username,
                dry_run = request.is_dry_run(),
                duration_ms = took.as_micros() as f64 / 1000.0,
                "{}",
                one_line(&answer.message)
            )
        };
    }
    match (answer.outcome, forced) {
        (Outcome::Allow, Forced::No) => line!(debug),
        (Outcome::Allow | Outcome::Deny | Outcome::Retry, _) => line!(info),
    }
}
