//! What the controllers' store needs for many slices.

use std::sync::Arc;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Metadata, OwnerReference, SliceRef, Synthesis};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use eno_webhook::store::{Key, Store, scopes};

use super::load::status_of;

/// MiB that so many slices of so many compositions take, each referred to once.
pub fn resident(slices: usize, compositions: usize) -> f64 {
    let now = || status_of(std::process::id(), "VmRSS:").unwrap_or_default();
    let before = now();
    let mut store = Store::new(&scopes(&[]));
    for index in 0..slices {
        let composition = index % compositions;
        store.slice_seen(Metadata {
            namespace: format!("team-{}", composition % 50),
            name: format!("composition-{composition}-{index:05x}"),
            uid: uid(index),
            resource_version: index.to_string(),
            creation_timestamp: Some(jiff::Timestamp::UNIX_EPOCH),
            finalizers: vec![CLEANUP_FINALIZER.to_owned()],
            owner_references: vec![OwnerReference {
                api_version: ENO_API_VERSION.to_owned(),
                kind: "Composition".to_owned(),
                name: format!("composition-{composition}"),
                uid: uid(slices + composition),
                controller: true,
            }],
            ..Metadata::default()
        });
    }
    for index in 0..compositions {
        let names = (index..slices).step_by(compositions).map(|slice| format!("composition-{index}-{slice:05x}"));
        let current = Synthesis {
            uuid: uid(index),
            resource_slices: names.map(|name| SliceRef { name: name.into() }).collect(),
            ..Synthesis::default()
        };
        let (namespace, name) = (format!("team-{}", index % 50), format!("composition-{index}"));
        let mut composition = Composition::default();
        composition.metadata.uid = uid(slices + index);
        composition.status.current_synthesis = Some(current);
        store.composition_seen(Key::new(&namespace, &name), Lookup::Found(Arc::new(composition)));
    }
    let after = now();
    assert_eq!(store.len(), slices);
    after - before
}

fn uid(index: usize) -> String {
    format!("{index:08x}-6393-11e8-b7cc-42010a800002")
}
