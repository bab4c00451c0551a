//! The second look, at the API server itself, and the write that follows if it agrees with the preview.

use eno_shared::api::ResourceSlice;
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::CLEANUP_FINALIZER;
use eno_shared::patch::remove_finalizer;
use eno_shared::{Compositions, Judgement};
use jiff::Timestamp;

use super::live::Live;
use super::outcome::Outcome;
use super::plan::{Step, action};
use crate::cli::{CleanupAction, CleanupFlags, DryRun};
use crate::cluster::Cluster;
use crate::failure::Failure;

/// Carries steps out.
pub(super) struct Actor<'a> {
    pub cluster: &'a Cluster,
    pub flags: &'a CleanupFlags,
    pub live: Live<'a>,
}

impl Actor<'_> {
    /// Carries one step out. What changes between look and write is looked at once more.
    pub async fn act(&self, step: &Step) -> Outcome {
        for _ in 0..2 {
            match self.attempt(step).await {
                Ok(Some(outcome)) => return outcome,
                Ok(None) => {}
                Err(error) => return Outcome::Failed(Failure::read::<ResourceSlice>(&error, &self.cluster.host)),
            }
        }
        Outcome::Skipped("it keeps changing".to_owned())
    }

    /// `None` where the slice has changed since it was read.
    async fn attempt(&self, step: &Step) -> Result<Option<Outcome>, ReadError> {
        let Cluster { client, timeout, .. } = self.cluster;
        let compositions = self.live.compositions(&step.namespace).await?;
        let slice = client::get::<ResourceSlice>(client, Some(&step.namespace), &step.name, *timeout).await?;
        let Some(slice) = slice else { return Ok(Some(Outcome::Gone)) };
        if slice.metadata.uid != step.uid {
            return Ok(Some(Outcome::Skipped("it is another object now".to_owned())));
        }
        let (judgement, wanted) = action(&slice, &compositions, Timestamp::now(), self.flags);
        match (step.action, wanted) {
            (CleanupAction::Collect, Some(CleanupAction::Collect)) => self.collect(&slice, &compositions).await,
            // Somebody else has deleted it since: what collecting would have ended in is left to do.
            (CleanupAction::Collect | CleanupAction::Release, Some(CleanupAction::Release)) => {
                self.release(&slice).await
            }
            (CleanupAction::Release, Some(CleanupAction::Collect)) | (_, None) => {
                Ok(Some(Outcome::Skipped(format!("now {judgement}"))))
            }
        }
    }

    /// The effect of a write; `None` where nothing is to be sent.
    fn effect(&self) -> Option<Effect> {
        match self.flags.write.dry_run {
            DryRun::None => Some(Effect::Real),
            DryRun::Client => None,
            DryRun::Server => Some(Effect::DryRun),
        }
    }

    async fn collect(&self, slice: &ResourceSlice, compositions: &Compositions) -> Result<Option<Outcome>, ReadError> {
        let done = |released| Ok(Some(Outcome::Done { action: CleanupAction::Collect, released }));
        let Some(effect) = self.effect() else { return done(false) };
        let Cluster { client, timeout, .. } = self.cluster;
        let after = match client::delete::<ResourceSlice>(client, &slice.metadata, effect, *timeout).await? {
            Written::Done(after) => after,
            Written::Gone => return Ok(Some(Outcome::Gone)),
            Written::Changed => return Ok(None),
        };
        if effect == Effect::DryRun {
            return done(false);
        }
        // The answer is the slice as it is now: where the rules say so, its finalizer comes off at once.
        let Some(terminating) = after else { return done(true) };
        let terminating = ResourceSlice { metadata: *terminating, content: slice.content.clone() };
        let next: (Judgement, _) = action(&terminating, compositions, Timestamp::now(), self.flags);
        if next.1 != Some(CleanupAction::Release) {
            return done(false);
        }
        // What fails here fails no deletion: the slice is Release for the next cleanup, or for Eno.
        done(matches!(self.release(&terminating).await, Ok(Some(Outcome::Done { .. } | Outcome::Gone))))
    }

    async fn release(&self, slice: &ResourceSlice) -> Result<Option<Outcome>, ReadError> {
        let done = Outcome::Done { action: CleanupAction::Release, released: true };
        let Some(effect) = self.effect() else { return Ok(Some(done)) };
        let Some(patch) = remove_finalizer(&slice.metadata, CLEANUP_FINALIZER) else { return Ok(None) };
        let Cluster { client, timeout, .. } = self.cluster;
        Ok(match client::patch::<ResourceSlice>(client, &slice.metadata, patch, effect, *timeout).await? {
            Written::Done(_) => Some(done),
            Written::Gone => Some(Outcome::Gone),
            Written::Changed => None,
        })
    }
}
