//! The controllers on a real control plane: what they collect and release, and what they never touch.
//!
//! One program, since most of these tests wait for slices to grow 5 s old.

mod brake_collecting;
mod collect_garbage;
mod elect_leader;
mod release_slices;
mod survive_stale_caches;
