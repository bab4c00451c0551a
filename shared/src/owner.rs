//! Which composition a slice belongs to.

use crate::api::{Composition, Kind, Metadata, OwnerReference, Symphony};
use crate::names::ENO_GROUP;

/// The slice's controller owner, where that is a composition of Eno's.
///
/// Any other controller owner, or none, is an answer of its own: the slice is unowned. Eno dereferences the missing owner
/// and panics (S3).
#[must_use]
pub fn composition_owner(slice: &Metadata) -> Option<&OwnerReference> {
    controller_of_kind(slice, Composition::KIND)
}

/// The composition's controller owner, where that is a symphony.
#[must_use]
pub fn symphony_owner(composition: &Metadata) -> Option<&OwnerReference> {
    controller_of_kind(composition, Symphony::KIND)
}

fn controller_of_kind<'a>(metadata: &'a Metadata, kind: &str) -> Option<&'a OwnerReference> {
    metadata.controller().filter(|owner| owner.group() == ENO_GROUP && owner.kind == kind)
}
