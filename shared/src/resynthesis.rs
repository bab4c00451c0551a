//! May Eno be asked for a new synthesis of a composition, and would it listen?
//!
//! A slice that is being deleted though a live composition needs it (B5) is set free by a new synthesis: that writes new
//! slices, and the old one is needed by nobody then. The synthesis must change nothing. What it no longer contained would
//! be orphaned, for the executor makes no tombstones from a terminating slice (L7).

use std::fmt;

use crate::api::{Composition, Metadata, Synthesis, Synthesizer};
use crate::names::{FORCE_RESYNTHESIS, IGNORE_SIDE_EFFECTS};

/// Why no synthesis is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The composition forbids automatic syntheses.
    SideEffectsIgnored,
    /// The composition, or its synthesizer, has changed since the current synthesis: a new one would change resources.
    WouldChangeResources,
    /// The synthesizer does not exist.
    NoSynthesizer,
    /// Labels choose the synthesizer: nobody can say which one made the current synthesis.
    SynthesizerUnknown,
    /// The composition is being deleted.
    Deleting,
    /// Eno's finalizer is not on the composition, and Eno starts no synthesis without.
    NoFinalizer,
    /// It was never synthesized: Eno does that by itself, when it can.
    NeverSynthesized,
    /// A synthesis is in flight.
    InFlight {
        /// Its uuid.
        uuid: String,
    },
    /// Inputs are missing, or not in lockstep (S22).
    InputsNotReady {
        /// What Eno calls it.
        status: String,
    },
    /// Other compositions block it.
    Blocked {
        /// What Eno calls it.
        reason: String,
    },
}

/// The sentence for people. It goes on from "because".
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::SideEffectsIgnored => write!(f, "its annotation {IGNORE_SIDE_EFFECTS} forbids it"),
            Refusal::WouldChangeResources => {
                f.write_str("composition or synthesizer have changed since the current synthesis")
            }
            Refusal::NoSynthesizer => f.write_str("its synthesizer does not exist"),
            Refusal::SynthesizerUnknown => {
                f.write_str("labels choose its synthesizer, and whether that has changed cannot be told")
            }
            Refusal::Deleting => f.write_str("it is being deleted, and Eno starts no synthesis then"),
            Refusal::NoFinalizer => f.write_str("Eno's finalizer is not on it, and Eno starts no synthesis without"),
            Refusal::NeverSynthesized => f.write_str("it was never synthesized; Eno does that by itself when it can"),
            Refusal::InFlight { uuid } => write!(f, "synthesis {uuid} is in flight already"),
            Refusal::InputsNotReady { status } => {
                write!(f, "its inputs are not ready ({status}), and Eno starts no synthesis before they are")
            }
            Refusal::Blocked { reason } => write!(f, "other compositions block it ({reason})"),
        }
    }
}

/// Would Eno start a synthesis, if it were asked now?
///
/// # Errors
/// Why it would ignore that.
pub fn heeded(composition: &Composition) -> Result<(), Refusal> {
    let Composition { metadata, status, .. } = composition;
    if metadata.is_deleting() {
        return Err(Refusal::Deleting);
    }
    if !metadata.has_cleanup_finalizer() {
        return Err(Refusal::NoFinalizer);
    }
    if let Some(dependencies) = status.dependency_status.as_ref().filter(|dependencies| dependencies.blocked) {
        return Err(Refusal::Blocked { reason: dependencies.reason.clone() });
    }
    // What was given up is asked for again as any other.
    if let Some(synthesis) = status.in_flight_synthesis.as_ref().filter(|synthesis| synthesis.canceled.is_none()) {
        return Err(Refusal::InFlight { uuid: synthesis.uuid.clone() });
    }
    if latest(composition).is_none() {
        return Err(Refusal::NeverSynthesized);
    }
    if INPUTS_NOT_READY.contains(&status.simplified.status.as_str()) {
        return Err(Refusal::InputsNotReady { status: status.simplified.status.clone() });
    }
    Ok(())
}

/// What Eno calls a composition whose inputs are missing, or not in lockstep.
const INPUTS_NOT_READY: [&str; 2] = ["MissingInputs", "MismatchedInputs"];

/// Would a new synthesis change nothing, as far as generations tell, and does the composition not forbid it? What needs no
/// synthesizer is told before one is read: `None` stands for one that was not read yet.
///
/// # Errors
/// Why it is not asked for without a person's word.
pub fn harmless(composition: &Composition, synthesizer: Option<&Synthesizer>) -> Result<(), Refusal> {
    let Composition { metadata, status, .. } = composition;
    if metadata.annotation(IGNORE_SIDE_EFFECTS) == Some("true") {
        return Err(Refusal::SideEffectsIgnored);
    }
    let Some(current) = &status.current_synthesis else { return Err(Refusal::WouldChangeResources) };
    let seen = |seen: i64, of: &Metadata| seen >= of.generation;
    let synthesizer_seen =
        synthesizer.is_none_or(|synthesizer| seen(current.observed_synthesizer_generation, &synthesizer.metadata));
    if !seen(current.observed_composition_generation, metadata) || !synthesizer_seen {
        return Err(Refusal::WouldChangeResources);
    }
    Ok(())
}

/// The synthesis whose uuid, as the annotation [`FORCE_RESYNTHESIS`], asks for the next: in flight, else current.
#[must_use]
pub fn latest(composition: &Composition) -> Option<&Synthesis> {
    composition.status.in_flight_synthesis.as_ref().or(composition.status.current_synthesis.as_ref())
}

/// Was it asked for already, and Eno has not begun?
#[must_use]
pub fn was_asked(composition: &Composition) -> bool {
    latest(composition)
        .is_some_and(|latest| composition.metadata.annotation(FORCE_RESYNTHESIS) == Some(latest.uuid.as_str()))
}
