//! Asks Eno for a new synthesis that sets a slice free: one that is being deleted though a live composition needs it (B5).
//!
//! Eno would release it, and what the next synthesis no longer contains would then be orphaned (L7). A synthesis that
//! changes nothing writes new slices; the old one is needed by nobody then. It must change nothing: so it is asked for only
//! where the current one has seen the present generations of composition and synthesizer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::{Composition, ResourceSlice, Synthesizer};
use eno_shared::client::{self, Effect, ReadError, Written};
use eno_shared::names::{FORCE_RESYNTHESIS, IGNORE_SIDE_EFFECTS};
use eno_shared::patch::annotate;
use eno_shared::{Compositions, Judgement, Lookup, Reason, Verdict};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use tracing::info;

use super::report::{Note, Reporter};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(10);

/// Why no synthesis is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The composition forbids automatic syntheses.
    SideEffectsIgnored,
    /// The composition, or its synthesizer, has changed since the current synthesis: a new one would change resources.
    WouldChangeResources,
    /// The synthesizer could not be read, or does not exist.
    SynthesizerUnknown,
}

impl Refusal {
    /// The sentence for people.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Refusal::SideEffectsIgnored => "its annotation eno.azure.io/ignore-side-effects forbids it",
            Refusal::WouldChangeResources => "composition or synthesizer have changed since the current synthesis",
            Refusal::SynthesizerUnknown => "its synthesizer could not be read",
        }
    }
}

/// What came of asking, or of deciding to.
#[derive(Debug)]
pub struct Asked {
    slice_uid: String,
    composition: Arc<Composition>,
    outcome: Result<Result<Written, ReadError>, Refusal>,
}

/// Asks once per slice.
pub struct Resynthesis {
    client: Client,
    dry_run: bool,
    /// Uids of slices for which it was asked, or is being asked.
    asked: HashSet<String>,
}

impl Resynthesis {
    /// In a dry run it only says what it would ask.
    #[must_use]
    pub fn new(client: Client, dry_run: bool) -> Self {
        Resynthesis { client, dry_run, asked: HashSet::new() }
    }

    /// Was it asked for this slice, or is it being asked?
    #[must_use]
    pub fn has_asked_for(&self, slice: &ResourceSlice) -> bool {
        self.asked.contains(&slice.metadata.uid)
    }

    /// Asking for a synthesis, where the slice waits for one and it was not asked for yet.
    pub fn wanted(
        &mut self,
        slice: &ResourceSlice,
        judgement: &Judgement,
        compositions: &Compositions,
    ) -> Option<BoxFuture<'static, Asked>> {
        let Reason::ReferencedByCurrent { composition } = &judgement.reason else { return None };
        if judgement.verdict != Verdict::Hold {
            return None;
        }
        let Lookup::Found(composition) = compositions.get(composition) else { return None };
        if !self.asked.insert(slice.metadata.uid.clone()) {
            return None;
        }
        let (client, dry_run) = (self.client.clone(), self.dry_run);
        let (composition, slice_uid) = (Arc::new(composition.clone()), slice.metadata.uid.clone());
        Some(
            async move {
                let outcome = ask(&client, &composition, dry_run).await;
                Asked { slice_uid, composition, outcome }
            }
            .boxed(),
        )
    }

    /// Takes note of what came of it. What failed, or met a change, is asked again at the next look.
    pub fn asked(&mut self, asked: Asked, reporter: &Reporter) {
        let Asked { slice_uid, composition, outcome } = asked;
        match outcome {
            Ok(Ok(Written::Done(_))) => reporter.note(Note::resynthesis_asked(&composition)),
            Ok(Ok(Written::Gone | Written::Changed) | Err(_)) => {
                self.asked.remove(&slice_uid);
            }
            Err(Refusal::SynthesizerUnknown) => {
                self.asked.remove(&slice_uid);
            }
            Err(refusal) => reporter.note(Note::resynthesis_refused(&composition, refusal.as_str())),
        }
    }
}

async fn ask(client: &Client, composition: &Composition, dry_run: bool) -> Result<Result<Written, ReadError>, Refusal> {
    let metadata = &composition.metadata;
    if metadata.annotation(IGNORE_SIDE_EFFECTS) == Some("true") {
        return Err(Refusal::SideEffectsIgnored);
    }
    let status = &composition.status;
    let Some(current) = &status.current_synthesis else { return Err(Refusal::WouldChangeResources) };
    if current.observed_composition_generation < metadata.generation {
        return Err(Refusal::WouldChangeResources);
    }
    let name = &composition.spec.synthesizer.name;
    let synthesizer = client::lookup::<Synthesizer>(client, None, name, REQUEST).await;
    let Lookup::Found(synthesizer) = synthesizer else { return Err(Refusal::SynthesizerUnknown) };
    if current.observed_synthesizer_generation < synthesizer.metadata.generation {
        return Err(Refusal::WouldChangeResources);
    }
    let latest = status.in_flight_synthesis.as_ref().unwrap_or(current);
    if metadata.annotation(FORCE_RESYNTHESIS) == Some(latest.uuid.as_str()) {
        return Ok(Ok(Written::Done(None)));
    }
    let effect = if dry_run { Effect::DryRun } else { Effect::Real };
    let patch = annotate(metadata, FORCE_RESYNTHESIS, &latest.uuid);
    let written = client::patch::<Composition>(client, metadata, patch, effect, REQUEST).await;
    if matches!(written, Ok(Written::Done(_))) {
        info!(namespace = %metadata.namespace, composition = %metadata.name, synthesis = %latest.uuid, dry_run, "asked for a new synthesis");
    }
    Ok(written)
}
