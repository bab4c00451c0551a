//! The rules of kubectl-eno: what may happen to a ResourceSlice and to a pod, and why.
//!
//! ```text
//!  api ──▶ Compositions ─┐
//!  (what was read)       ├─▶ judge ─▶ Judgement ─▶ admission   (may this request pass?)
//!  api ──▶ ResourceSlice ┘            (verdict,  ─▶ patch       (the guarded write that follows)
//!                                      reason)   ─▶ stuck       (who holds it up)
//!  pods: the same for a pod that is going
//! ```
//!
//! Facts go in, a verdict comes out. There is no client in here, no clock and no I/O, by dependency. The webhook, its
//! controllers and the plugin ask these functions and nothing else decides. Read [`judge`] first.
//!
//! What webhook and plugin both need of the API server lives in `client`, behind the feature of that name.

pub mod admission;
pub mod api;
#[cfg(feature = "client")]
pub mod client;
pub mod compositions;
#[cfg(feature = "fixtures")]
pub mod fixtures;
pub mod judge;
pub mod lookup;
pub mod names;
pub mod owner;
pub mod patch;
pub mod pods;
pub mod resynthesis;
pub mod state;
pub mod stuck;
pub mod usage;
pub mod verdict;

pub use compositions::Compositions;
pub use judge::judge;
pub use lookup::Lookup;
pub use state::CompositionState;
pub use verdict::{Judgement, Reason, Verdict};
