//! Asks Eno for a new synthesis that sets a slice free: one that is being deleted though a live composition needs it (B5).
//!
//! Eno would release it, and what the next synthesis no longer contains would then be orphaned (L7). A synthesis that
//! changes nothing writes new slices; the old one is needed by nobody then. It must change nothing: so it is asked for only
//! where the current one has seen the present generations of composition and synthesizer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::{Composition, Metadata, ResourceSlice, Synthesizer};
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::FORCE_RESYNTHESIS;
use eno_shared::patch::annotate;
use eno_shared::resynthesis::{Refusal, harmless, latest, was_asked};
use eno_shared::{Compositions, Judgement, Lookup, Reason, Verdict};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use tracing::{info, warn};

use super::note::Note;
use super::report::Reporter;
use crate::leader::Leadership;
use crate::store::Key;

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);

/// What came of asking, or of deciding to.
#[derive(Debug)]
pub struct Asked {
    key: Key,
    /// What was told before.
    told: Option<Refusal>,
    composition: Arc<Composition>,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    /// It was asked for now.
    Asked,
    /// Somebody has asked for it before.
    WasAsked,
    /// In a dry run: it would have been asked for.
    WouldAsk,
    /// It must not be asked for.
    Refused(Refusal),
    /// The composition has changed, or is gone.
    Changed,
    /// This process does not lead any more.
    NotLeading,
    /// A request failed.
    Failed(ReadError),
}

/// Asks once per slice.
pub struct Resynthesis {
    client: Client,
    dry_run: bool,
    leadership: Leadership,
    /// The slices for which it was asked, or is being asked, or was refused: their uids, and why it was refused.
    asked: HashMap<Key, (String, Option<Refusal>)>,
}

impl Resynthesis {
    /// In a dry run it only says what it would ask.
    #[must_use]
    pub fn new(client: Client, dry_run: bool, leadership: Leadership) -> Self {
        Resynthesis { client, dry_run, leadership, asked: HashMap::new() }
    }

    /// Was it asked for this slice, or is it being asked? What was refused may be granted when things have changed.
    #[must_use]
    pub fn has_asked_for(&self, key: &Key, slice: &ResourceSlice) -> bool {
        self.asked.get(key).is_some_and(|(uid, refusal)| *uid == slice.metadata.uid && refusal.is_none())
    }

    /// The slice is gone.
    pub fn forget(&mut self, key: &Key) {
        self.asked.remove(key);
    }

    /// Asking for a synthesis, where the slice waits for one and it was not asked for yet.
    pub fn wanted(
        &mut self,
        key: &Key,
        slice: &ResourceSlice,
        judgement: &Judgement,
        compositions: &Compositions,
    ) -> Option<BoxFuture<'static, Asked>> {
        let Reason::ReferencedByCurrent { composition } = &judgement.reason else { return None };
        if judgement.verdict != Verdict::Hold {
            return None;
        }
        let Lookup::Found(composition) = compositions.get(composition) else { return None };
        if self.has_asked_for(key, slice) {
            return None;
        }
        let refused = self.asked.insert(key.clone(), (slice.metadata.uid.clone(), None));
        let told = refused.filter(|(uid, _)| *uid == slice.metadata.uid).and_then(|(_, refusal)| refusal);
        let asking = Asking {
            client: self.client.clone(),
            dry_run: self.dry_run,
            leadership: self.leadership.clone(),
            composition: Arc::new(composition.clone()),
        };
        let key = key.clone();
        Some(
            async move {
                let outcome = asking.ask().await.unwrap_or_else(Outcome::Refused);
                Asked { key, told, composition: asking.composition, outcome }
            }
            .boxed(),
        )
    }

    /// Takes note of what came of it. Returns the slice if it is to be looked at again: what failed, or met a change, is
    /// asked again then.
    pub fn asked(&mut self, asked: Asked, reporter: &Reporter) -> Option<Key> {
        let Asked { key, told, composition, outcome } = asked;
        match outcome {
            Outcome::Asked => reporter.note(Note::resynthesis_asked(&composition)),
            Outcome::WasAsked | Outcome::WouldAsk => {}
            Outcome::NotLeading => self.forget(&key),
            Outcome::Refused(refusal) => {
                if told.as_ref() != Some(&refusal) {
                    reporter.note(Note::resynthesis_refused(&composition, &refusal));
                }
                if let Some((_, refused)) = self.asked.get_mut(&key) {
                    *refused = Some(refusal);
                }
            }
            Outcome::Changed | Outcome::Failed(_) => {
                if let Outcome::Failed(error) = outcome {
                    let Metadata { namespace, name, .. } = &composition.metadata;
                    warn!(%namespace, composition = %name, %error, "cannot ask for a new synthesis; it is tried again");
                }
                self.forget(&key);
                return Some(key);
            }
        }
        None
    }
}

struct Asking {
    client: Client,
    dry_run: bool,
    leadership: Leadership,
    composition: Arc<Composition>,
}

impl Asking {
    async fn ask(&self) -> Result<Outcome, Refusal> {
        let Composition { metadata, spec, .. } = &*self.composition;
        harmless(&self.composition, None)?;
        let synthesizer = match client::get::<Synthesizer>(&self.client, None, &spec.synthesizer.name, REQUEST).await {
            Ok(synthesizer) => synthesizer.ok_or(Refusal::NoSynthesizer)?,
            Err(error) => return Ok(Outcome::Failed(error)),
        };
        harmless(&self.composition, Some(&synthesizer))?;
        if was_asked(&self.composition) {
            return Ok(Outcome::WasAsked);
        }
        let latest = latest(&self.composition).ok_or(Refusal::NeverSynthesized)?;
        let Metadata { namespace, name, .. } = metadata;
        if !self.leadership.leads() {
            return Ok(Outcome::NotLeading);
        }
        if self.dry_run {
            info!(%namespace, composition = %name, synthesis = %latest.uuid, "dry run: would ask for a new synthesis");
            return Ok(Outcome::WouldAsk);
        }
        let patch = annotate(metadata, FORCE_RESYNTHESIS, &latest.uuid);
        Ok(match client::patch::<Composition>(&self.client, metadata, patch, Effect::Real, REQUEST).await {
            Ok(Written::Done(_)) => {
                info!(%namespace, composition = %name, synthesis = %latest.uuid, "asked for a new synthesis");
                Outcome::Asked
            }
            Ok(Written::Gone | Written::Changed) => Outcome::Changed,
            Err(error) => Outcome::Failed(error),
        })
    }
}
