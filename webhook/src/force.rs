//! The override: an annotation with the object's own uid, and the right to `force`. Both are needed.

use eno_shared::admission::Outcome;
use eno_shared::client::ReadError;
use eno_shared::names::{ENO_GROUP, FORCE_ANNOTATION, FORCE_VERB};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};

use crate::admission::{Forced, Judged, Subject};
use crate::deadline::Deadline;
use crate::facts::in_time;
use crate::hooks::Hook;
use crate::metrics::Metrics;
use crate::review::Request;

/// Asks the API server who may override.
#[derive(Clone)]
pub struct Force {
    client: Client,
    metrics: Metrics,
}

impl Force {
    /// Asks by this client.
    #[must_use]
    pub fn new(client: Client, metrics: Metrics) -> Self {
        Force { client, metrics }
    }

    /// Turns a denial into an answer that passes, where the object says so and the requester may.
    pub(crate) async fn over(&self, hook: Hook, request: &Request<'_>, judged: Judged, deadline: Deadline) -> Judged {
        let passes = judged.answer.outcome == Outcome::Allow;
        if passes || !hook.can_be_forced() || !judged.subject.carries_override {
            return judged;
        }
        let user = &request.user_info.username;
        match self.may(request, &judged.subject, deadline).await {
            Ok(true) => granted(judged, user),
            Ok(false) => refused(judged, request),
            Err(why) => {
                let told = format!("Whether {user} may {FORCE_VERB} could not be told: {why}.");
                still_refused(judged, Forced::Unknown, &told)
            }
        }
    }

    /// May the requester force the object?
    async fn may(&self, request: &Request<'_>, subject: &Subject, deadline: Deadline) -> Result<bool, ReadError> {
        let user = request.user_info.clone();
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: Some(user.username),
                groups: Some(user.groups),
                uid: Some(user.uid),
                extra: Some(user.extra),
                resource_attributes: Some(ResourceAttributes {
                    verb: Some(FORCE_VERB.into()),
                    group: Some(ENO_GROUP.into()),
                    version: Some(request.resource.version.clone()),
                    resource: Some(request.resource.resource.clone()),
                    namespace: Some(subject.namespace.clone()),
                    name: Some(subject.name.clone()),
                    ..ResourceAttributes::default()
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let answer = in_time(deadline, api.create(&PostParams::default(), &review)).await;
        self.metrics.read("subjectaccessreviews", if answer.is_ok() { "found" } else { "unknown" });
        Ok(answer?.status.is_some_and(|status| status.allowed && status.denied != Some(true)))
    }
}

fn granted(mut judged: Judged, user: &str) -> Judged {
    let answer = &mut judged.answer;
    answer.outcome = Outcome::Allow;
    answer.message = format!("forced by {user} ({FORCE_ANNOTATION}), although {}", answer.message);
    answer.warnings.push(answer.message.clone());
    judged.forced = Forced::Granted;
    judged
}

fn refused(judged: Judged, request: &Request<'_>) -> Judged {
    let (user, resource) = (&request.user_info.username, &request.resource.resource);
    let namespace = &judged.subject.namespace;
    let told = format!(
        "{FORCE_ANNOTATION} is set, but {user} may not {FORCE_VERB} {resource}.{ENO_GROUP} in namespace {namespace}; \
         to grant it: kubectl create role eno-{FORCE_VERB} -n {namespace} --verb={FORCE_VERB} --resource={resource}.{ENO_GROUP}, \
         and bind it."
    );
    still_refused(judged, Forced::Refused, &told)
}

fn still_refused(mut judged: Judged, forced: Forced, told: &str) -> Judged {
    judged.answer.message = format!("{}. {told}", judged.answer.message.trim_end_matches('.'));
    judged.forced = forced;
    judged
}
