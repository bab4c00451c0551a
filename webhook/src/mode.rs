//! What an answer comes to: enforced, only told, or only recorded. Applied after the rules and the override.

use eno_shared::admission::Outcome;

use crate::admission::Judged;
use crate::response::Response;
use crate::review::Request;

/// How far denials go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// A denial is a denial.
    Enforce,
    /// Everything passes; what would be denied is a warning.
    Warn,
    /// Everything passes unchanged and unremarked; the audit log has the decision.
    Audit,
}

impl Mode {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Warn => "warn",
            Mode::Audit => "audit",
        }
    }

    /// Puts the answer in words for the API server.
    #[must_use]
    pub fn respond(self, request: &Request<'_>, judged: Judged) -> Response {
        let answer = &judged.answer;
        let passes = answer.outcome == Outcome::Allow;
        let warnings = answer.warnings.iter().map(String::as_str);
        let response = Response::allow(request)
            .annotate("decision", Some(answer.outcome.as_str()))
            .annotate("reason", Some(answer.ground.as_str()))
            .annotate("composition", answer.composition.as_deref())
            .annotate("evidence", Some(judged.evidence.as_str()))
            .annotate("override", judged.forced.as_str());
        match self {
            Mode::Enforce if passes => response.patch(judged.patch.as_ref()).warn(warnings),
            Mode::Enforce => response.warn(warnings).refuse(request, &judged),
            Mode::Warn if passes => {
                response.patch(judged.patch.as_ref()).warn(warnings).annotate("mode", Some(self.as_str()))
            }
            Mode::Warn => {
                let denial = format!("would be denied: {}", answer.message);
                response.warn(warnings.chain([denial.as_str()])).annotate("mode", Some(self.as_str()))
            }
            Mode::Audit => response.annotate("mode", Some(self.as_str())),
        }
    }
}
