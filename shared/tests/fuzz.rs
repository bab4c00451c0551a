//! What arrives from outside is decoded whatever it is: nothing panics, and what is taken is what was meant.
//!
//! `cargo test` runs the corpus beside this file (`__fuzz__`) and some random cases; docs/reliability.md says how to run it long.

use std::collections::BTreeMap;

use eno_shared::api::{Composition, Content, Kind, Metadata, ResourceSlice, Symphony, decode, decode_value};
use eno_shared::fixtures::mutation::mutated;
use eno_shared::fixtures::now;
use eno_shared::names::{CLEANUP_FINALIZER, FORCE_ANNOTATION};
use eno_shared::pods::outbox::{self, Entry};
use eno_shared::{Compositions, Lookup, Verdict, judge, patch};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

fn slice() -> Value {
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "ResourceSlice",
        "metadata": {
            "namespace": "ns", "name": "s", "uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z",
            "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [CLEANUP_FINALIZER, "a/b"], "annotations": {"a": "b"},
            "ownerReferences": [{
                "apiVersion": "eno.azure.io/v1", "kind": "Composition", "name": "c", "uid": "v", "controller": true,
            }],
        },
        "spec": {"synthesisUUID": "1", "resources": [{"manifest": "{}", "deleted": false}]},
        "status": {"resources": [{"reconciled": true, "ready": "2026-01-01T00:00:00Z", "deleted": true}]},
    })
}

fn composition() -> Value {
    let synthesis = json!({
        "uuid": "1", "initialized": "2026-01-01T00:00:00Z", "synthesized": "2026-01-01T00:00:01Z",
        "reconciled": "2026-01-01T00:00:02Z", "observedCompositionGeneration": 1, "resourceSlices": [{"name": "s"}, null],
    });
    json!({
        "apiVersion": "eno.azure.io/v1", "kind": "Composition",
        "metadata": {"namespace": "ns", "name": "c", "uid": "v", "generation": 1, "finalizers": [CLEANUP_FINALIZER]},
        "spec": {"synthesizer": {"name": "any"}},
        "status": {"currentSynthesis": synthesis, "previousSynthesis": null, "inFlightSynthesis": synthesis},
    })
}

/// Where it decodes, it is JSON, and means what it means to a reader of all of it. In what is skipped, texts need not be Unicode.
fn decodes_as_a_whole<K: Kind + PartialEq + std::fmt::Debug>(text: &[u8]) -> Option<K> {
    let decoded = decode::<K>(text).ok()?;
    assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok(), "what is no JSON does not decode");
    if let Ok(whole) = serde_json::from_slice::<Value>(text) {
        assert_eq!(decode_value::<K>(whole).ok().as_ref(), Some(&decoded));
    }
    Some(decoded)
}

#[test]
fn objects_decode_to_what_they_say_or_not_at_all() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let composition = decodes_as_a_whole::<Composition>(&mutated(&composition(), bytes));
        let slice = decodes_as_a_whole::<ResourceSlice>(&mutated(&slice(), bytes));
        decodes_as_a_whole::<Symphony>(bytes);
        if let Some(slice) = slice {
            // What nobody could read frees nothing.
            let unread = Compositions::partial([("c".to_owned(), Lookup::Unknown("no".to_owned()))], "no");
            let verdict = judge(&slice, &unread, now()).verdict;
            let released = verdict == Verdict::Release && slice.metadata.has_cleanup_finalizer();
            assert!(verdict != Verdict::Collect && !released, "{verdict:?} of {slice:?}");
            if let Some(composition) = composition {
                let read = [(composition.metadata.name.clone(), Lookup::Found(composition.into()))];
                let _ = judge(&slice, &Compositions::whole(read), now());
            }
        }
    });
}

/// An object as it is stored, of the metadata that a patch is built from.
fn stored(metadata: &Metadata) -> Value {
    json!({"metadata": {
        "uid": metadata.uid, "resourceVersion": metadata.resource_version, "finalizers": metadata.finalizers,
        "annotations": metadata.annotations,
    }})
}

#[test]
fn patches_take_off_one_finalizer_and_leave_all_others_in_their_order() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let Ok(slice) = decode::<ResourceSlice>(&mutated(&slice(), bytes)) else { return };
        let metadata = slice.metadata;
        let before = stored(&metadata);
        let at = metadata.finalizers.iter().position(|finalizer| finalizer == CLEANUP_FINALIZER);
        let expected: Vec<_> =
            metadata.finalizers.iter().enumerate().filter(|(nth, _)| Some(*nth) != at).map(|(_, one)| one).collect();
        for (patch, forced) in [
            (patch::remove_finalizer(&metadata, CLEANUP_FINALIZER), false),
            (patch::force_finalizer_off(&metadata, CLEANUP_FINALIZER), true),
        ] {
            assert_eq!(patch.is_some(), at.is_some());
            let Some(patch) = patch else { continue };
            let mut after = before.clone();
            json_patch::patch(&mut after, &patch).expect("it fits the object that it was built from");
            assert_eq!(after["metadata"]["finalizers"], json!(expected));
            assert_eq!(
                forced,
                after["metadata"]["annotations"][FORCE_ANNOTATION] == json!(metadata.uid) && {
                    forced || !metadata.annotations.contains_key(FORCE_ANNOTATION)
                }
            );
            // It does not fit another object, nor a later state of this one.
            for field in ["uid", "resourceVersion"] {
                let mut other = before.clone();
                other["metadata"][field] = json!("another");
                if other != before {
                    assert!(json_patch::patch(&mut other, &patch).is_err(), "{field}");
                }
            }
        }
        let created = patch::add_cleanup_finalizer(&metadata);
        assert_eq!(created.is_none(), at.is_some());
        if let Some(patch) = created {
            let mut after = before;
            json_patch::patch(&mut after, &patch).expect("it fits the object that it was built from");
            let expected: Vec<_> = metadata.finalizers.iter().map(String::as_str).chain([CLEANUP_FINALIZER]).collect();
            assert_eq!(after["metadata"]["finalizers"], json!(expected));
        }
    });
}

fn entry() -> Value {
    let time = "2026-01-01T00:00:00Z";
    let pod = json!({"namespace": "a", "name": "p", "uid": "u"});
    let destroy = json!({
        "id": "1", "sequence": 1, "cause": "Gone", "pod": pod, "node": "n", "podIPs": ["10.0.0.1"], "labels": {"k": "v"},
        "sandbox": {"source": "calico", "id": "c"}, "observedAt": time, "confirmed": true,
    });
    let record = json!({"node": "n", "labels": "a=b", "podIPs": ["10.0.0.1"], "sandboxes": [], "deletedAt": time});
    json!({
        "namespace": "a", "name": "p", "following": {"goingSince": time, "ends": 1, "record": record},
        "undelivered": [{"destroy": destroy, "sinks": {
            "http": {"state": "dead", "why": "400", "at": time}, "log": {"state": "pending"},
        }}],
    })
}

#[test]
fn the_outbox_loses_no_entry_and_writes_what_it_has_read() {
    assert!(serde_json::from_value::<Entry>(entry()).is_ok(), "what is mutated is an entry");
    bolero::check!().for_each(|bytes: &[u8]| {
        let (one, other) = bytes.split_at(bytes.len() / 2);
        let text = |bytes| String::from_utf8_lossy(&mutated(&entry(), bytes)).into_owned();
        let data = BTreeMap::from([("u".to_owned(), text(one)), ("v".to_owned(), text(other))]);
        let shard = outbox::decode(&outbox::annotations("c"), &data, "c").expect("of this format and cluster");
        assert_eq!(shard.entries.len() + shard.aside.len(), data.len(), "each is read or set aside");
        for (uid, entry) in shard.entries {
            let Some(written) = entry.encode() else { continue };
            let again = outbox::decode(&outbox::annotations("c"), &[(uid.clone(), written)].into(), "c");
            assert_eq!(again.map(|shard| shard.entries), Ok(vec![(uid, entry)]));
        }
        let request = [("redeliver".to_owned(), text(one)), ("drop".to_owned(), text(other))].into();
        let _ = outbox::Request::of(&request);
    });
}

/// The fuzzer has something to work with: no bytes leave a document as it is, and some bytes do not.
#[test]
fn mutations_begin_with_what_decodes() {
    let content = |bytes: &[u8]| decode::<ResourceSlice>(&mutated(&slice(), bytes)).map(|slice| slice.content);
    assert!(matches!(content(&[]), Ok(Content::Read { resources: 1, .. })));
    let outcomes: Vec<_> = (0..=255).map(|byte| content(&[byte; 24])).collect();
    assert!(outcomes.iter().any(Result::is_ok) && outcomes.iter().any(Result::is_err));
}
