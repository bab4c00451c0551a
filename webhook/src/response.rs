//! The answer, as the API server reads it. It is built from the request, whose uid it echoes: an answer with another uid, or
//! none, counts as a failed call.

use std::collections::BTreeMap;

use eno_shared::admission::{Answer, Outcome};
use eno_shared::names::ENO_GROUP;
use json_patch::Patch;
use k8s_openapi::ByteString;
use serde::Serialize;

use crate::admission::{Judged, Subject};
use crate::review::{API_VERSION, KIND, Request};

/// The longest warning. Of longer ones the API server keeps this much when there are many.
const LONGEST_WARNING: usize = 256;
/// What all warnings of an answer may hold together.
const ALL_WARNINGS: usize = 4096;

/// An AdmissionReview that answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    api_version: &'static str,
    kind: &'static str,
    response: Body,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    uid: String,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    audit_annotations: BTreeMap<&'static str, String>,
}

/// Patch and type belong together: the API server refuses one without the other.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    patch: ByteString,
    patch_type: &'static str,
}

#[derive(Debug, Serialize)]
struct Status {
    status: &'static str,
    code: u16,
    reason: &'static str,
    message: String,
    details: Details,
}

#[derive(Debug, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    causes: Vec<Cause>,
}

#[derive(Debug, Serialize)]
struct Cause {
    reason: String,
    message: String,
}

impl Response {
    /// Lets the request pass.
    #[must_use]
    pub fn allow(request: &Request<'_>) -> Self {
        Response {
            api_version: API_VERSION,
            kind: KIND,
            response: Body {
                uid: request.uid.clone(),
                allowed: true,
                status: None,
                change: None,
                warnings: vec![],
                audit_annotations: BTreeMap::new(),
            },
        }
    }

    /// Refuses the request, with 403 for good or with 503 where trying again may help.
    ///
    /// 503 carries no `Retry-After`: with one, client-go would try ten times in silence, which keeps the sentence from the
    /// person at kubectl and blocks the workers of the garbage collector. Controllers try again by themselves.
    #[must_use]
    pub fn refuse(mut self, request: &Request<'_>, judged: &Judged) -> Self {
        let Judged { subject, answer, .. } = judged;
        let (code, reason) = match answer.outcome {
            Outcome::Retry => (503, "ServiceUnavailable"),
            Outcome::Deny | Outcome::Allow => (403, "Forbidden"),
        };
        let message = one_line(&answer.message);
        let details = Details::of(request, subject, answer, &message);
        self.response.allowed = false;
        self.response.status = Some(Status { status: "Failure", code, reason, message, details });
        self
    }

    /// Changes the object.
    #[must_use]
    pub fn patch(mut self, patch: Option<&Patch>) -> Self {
        self.response.change = patch.map(|patch| Change {
            patch: ByteString(serde_json::to_vec(patch).expect("a JSON patch is JSON")),
            patch_type: "JSONPatch",
        });
        self
    }

    /// Tells the requester something. Long warnings become several.
    #[must_use]
    pub fn warn<'w>(mut self, warnings: impl IntoIterator<Item = &'w str>) -> Self {
        let mut room = ALL_WARNINGS;
        for piece in warnings.into_iter().flat_map(|warning| pieces(&one_line(warning))) {
            let Some(left) = room.checked_sub(piece.chars().count()) else { break };
            room = left;
            self.response.warnings.push(piece);
        }
        self
    }

    /// Says something in the audit log. The API server puts the hook's name before the key.
    #[must_use]
    pub fn annotate(mut self, key: &'static str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            self.response.audit_annotations.insert(key, value.to_owned());
        }
        self
    }
}

impl Details {
    fn of(request: &Request<'_>, subject: &Subject, answer: &Answer, message: &str) -> Self {
        Details {
            name: subject.name.clone(),
            group: if request.resource.group == ENO_GROUP { ENO_GROUP } else { "" },
            kind: request.resource.resource.clone(),
            uid: subject.uid.clone(),
            causes: vec![Cause { reason: answer.ground.as_str().to_owned(), message: message.to_owned() }],
        }
    }
}

/// Without line breaks and other control characters: the API server drops a warning that has one, and a reader of logs would
/// take what follows one for a line of its own.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Cut between words, where there are words.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![];
    let mut rest = text.trim();
    while let Some((limit, _)) = rest.char_indices().nth(LONGEST_WARNING) {
        let cut = rest[..limit].rfind(' ').filter(|&at| at > 0).unwrap_or(limit);
        pieces.push(rest[..cut].trim_end().to_owned());
        rest = rest[cut..].trim_start();
    }
    if !rest.is_empty() {
        pieces.push(rest.to_owned());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(warnings: &[&str]) -> Vec<String> {
        let request: Request<'_> = serde_json::from_str(r#"{"uid": "u"}"#).unwrap();
        Response::allow(&request).warn(warnings.iter().copied()).response.warnings
    }

    #[test]
    fn a_long_warning_becomes_several_cut_between_words() {
        let long = "word ".repeat(100);
        let warnings = warned(&[&long]);
        assert_eq!(warnings.iter().map(|warning| warning.len()).collect::<Vec<_>>(), [254, 244]);
        assert_eq!(warnings.join(" "), long.trim_end());
    }

    #[test]
    fn a_long_word_is_cut_where_it_must_be() {
        assert_eq!(warned(&[&"é".repeat(300)]).iter().map(|w| w.chars().count()).collect::<Vec<_>>(), [256, 44]);
    }

    #[test]
    fn warnings_hold_no_control_characters() {
        assert_eq!(warned(&["a\nb\tc\u{7f}d"]), ["a b c d"]);
    }

    #[test]
    fn warnings_stay_below_what_the_api_server_takes() {
        let warnings = warned(&[&"x".repeat(10_000)]);
        assert_eq!(warnings.iter().map(String::len).sum::<usize>(), 4096);
    }
}
