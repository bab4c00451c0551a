//! The write itself, tried on the server first.

use eno_shared::api::{Composition, Metadata, ResourceSlice};
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::{FORCE_ANNOTATION, HOOK_DOMAIN};
use eno_shared::patch::{force_finalizer_off, remove_finalizer};
use json_patch::Patch;

use super::assess::Assessment;
use super::target::Kind;
use crate::cli::ReleaseFlags;
use crate::failure::{Failure, REFUSED};
use crate::writer::Writer;

/// A patch that the server has said it would take.
pub(super) struct Release<'a> {
    kind: Kind,
    metadata: &'a Metadata,
    patch: Patch,
    writer: &'a Writer,
}

impl<'a> Release<'a> {
    /// Tries the removal. Where our webhook denies it, and only there, the object is marked for the override too.
    ///
    /// # Errors
    /// The server would not take it.
    pub async fn tried(assessment: &'a Assessment, flags: &ReleaseFlags, writer: &'a Writer) -> Result<Self, Failure> {
        let (kind, metadata) = (assessment.kind, &assessment.metadata);
        let missing = || Failure::local(format_args!("finalizer {} is not on {}", flags.finalizer, assessment.shown()));
        let patch = remove_finalizer(metadata, &flags.finalizer).ok_or_else(missing)?;
        let mut release = Release { kind, metadata, patch, writer };
        match release.send(Effect::DryRun).await {
            Ok(written) => return release.taken(&written, assessment),
            Err(error) if !is_our_denial(&error) => return Err(release.failure(&error)),
            // The verdict has changed since it was shown, or the webhook knows more.
            Err(error) if !flags.force => return Err(release.failure(&error).with_code(REFUSED)),
            Err(_) => {
                writer.dialogue.say(format_args!("The webhook denies it; {FORCE_ANNOTATION} is set to override that."))
            }
        }
        release.patch = force_finalizer_off(metadata, &flags.finalizer).ok_or_else(missing)?;
        match release.send(Effect::DryRun).await {
            Ok(written) => release.taken(&written, assessment),
            Err(error) => Err(release.failure(&error)),
        }
    }

    /// Only what was done, if only to try it, is a promise.
    fn taken(self, tried: &Written, assessment: &Assessment) -> Result<Self, Failure> {
        match tried {
            Written::Done(_) | Written::Gone => Ok(self),
            Written::Changed => Err(super::changed(assessment)),
        }
    }

    /// Takes the finalizer off.
    ///
    /// # Errors
    /// The request fails.
    pub async fn carry_out(&self) -> Result<Written, Failure> {
        self.send(Effect::Real).await.map_err(|error| self.failure(&error))
    }

    async fn send(&self, effect: Effect) -> Result<Written, ReadError> {
        let (client, patch, limit) = (&self.writer.cluster.client, self.patch.clone(), self.writer.timeout());
        match self.kind {
            Kind::Slice => client::patch::<ResourceSlice>(client, self.metadata, patch, effect, limit).await,
            Kind::Composition => client::patch::<Composition>(client, self.metadata, patch, effect, limit).await,
        }
    }

    fn failure(&self, error: &ReadError) -> Failure {
        let host = &self.writer.cluster.host;
        if let ReadError::Api(status) = error
            && status.message.contains("failed calling webhook")
            && status.message.contains(HOOK_DOMAIN)
        {
            return Failure::verbatim(format!(
                "Error from server ({}): {}\nThe webhook does not answer, and nothing passes without it. Next: kubectl \
                 eno doctor",
                status.reason, status.message
            ));
        }
        self.kind.failure(error, host)
    }
}

/// Is it a denial of our webhook, which the override is for?
fn is_our_denial(error: &ReadError) -> bool {
    matches!(error, ReadError::Api(status)
        if status.code == 403 && status.message.contains(HOOK_DOMAIN) && status.message.contains("denied the request"))
}
