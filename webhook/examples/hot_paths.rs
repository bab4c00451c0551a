//! The two hot paths, so many times: `cargo xtask instructions` counts what they cost.
//!
//! ```sh
//! cargo run --profile harness --package eno-webhook --example hot_paths -- review 1000
//! ```

use std::hint::black_box;
use std::sync::Arc;

use eno_shared::admission::slice::delete;
use eno_shared::api::{Metadata, OwnerReference, ResourceSlice};
use eno_shared::fixtures::{composition, synthesis};
use eno_shared::names::{CLEANUP_FINALIZER, ENO_API_VERSION};
use eno_shared::{Compositions, Lookup, Verdict, judge};
use eno_webhook::body::Skimmed;
use eno_webhook::hooks::Hook;
use eno_webhook::review::parse;
use eno_webhook::store::{Key, Store, scopes};
use jiff::Timestamp;
use serde_json::{Value, json};

/// As much of a body as arrives at once.
const PIECE: usize = 16 * 1024;
/// Slices of a composition.
const SLICES: usize = 10;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, times] = args.as_slice() else { panic!("hot_paths review|store TIMES") };
    let times = times.parse().expect("a number");
    match path.as_str() {
        "review" => reviews(times),
        "store" => updates(times),
        other => panic!("review or store, and not {other}"),
    }
}

/// A review of 20 kB arrives, is parsed and judged.
fn reviews(times: usize) {
    let manifest =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "some \"text\" ".repeat(70)}}).to_string();
    let slice = json!({
        "apiVersion": ENO_API_VERSION, "kind": "ResourceSlice", "metadata": metadata(0),
        "spec": {"synthesisUUID": "a", "resources": vec![json!({"manifest": manifest}); 20]},
    });
    let body = review(&slice).to_string();
    let mut web = composition("web");
    web.metadata.uid = "uid-web".into();
    web.status.current_synthesis = Some(synthesis("a", &["web-0"]));
    let compositions = Compositions::whole([("web".to_owned(), Lookup::Found(Arc::new(web)))]);
    for _ in 0..times {
        let mut kept = Skimmed::with_capacity(body.len());
        body.as_bytes().chunks(PIECE).for_each(|piece| kept.push(black_box(piece)));
        let body = kept.into_bytes();
        let request = parse(Hook::SlicesDelete, &body).expect("a review");
        let slice: ResourceSlice = request.decode_old().expect("a slice");
        black_box(delete(&slice, &compositions, Timestamp::UNIX_EPOCH));
    }
}

/// A watch shows slices of a composition and then itself, and each is judged.
fn updates(times: usize) {
    let names: Vec<_> = (0..SLICES).map(|index| format!("web-{index}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut web = composition("web");
    web.metadata.uid = "uid-web".into();
    web.status.current_synthesis = Some(synthesis("a", &names));
    let web = Arc::new(web);
    let mut store = Store::new(&scopes(&[]));
    for scope in scopes(&[]) {
        store.slices_listed(&scope);
        store.compositions_listed(&scope);
    }
    for _ in 0..times {
        for index in 0..SLICES {
            store.slice_seen(black_box(of_watch(index)));
        }
        for key in store.composition_seen(Key::new("ns", "web"), Lookup::Found(Arc::clone(&web))) {
            let slice = store.slice(&key).expect("it was seen");
            let known = store.compositions("ns").expect("all is known");
            let judgement = judge(&slice, known, Timestamp::UNIX_EPOCH);
            assert_eq!(judgement.verdict, Verdict::Keep);
            store.judged(&key, judgement.verdict, judgement.reason.as_str());
        }
    }
}

fn metadata(index: usize) -> Value {
    json!({
        "namespace": "ns", "name": format!("web-{index}"), "uid": format!("uid-{index}"), "resourceVersion": "1",
        "creationTimestamp": "2026-05-04T06:00:10Z", "finalizers": [CLEANUP_FINALIZER],
        "ownerReferences": [{
            "apiVersion": ENO_API_VERSION, "kind": "Composition", "name": "web", "uid": "uid-web", "controller": true,
        }],
    })
}

fn of_watch(index: usize) -> Metadata {
    Metadata {
        namespace: "ns".into(),
        name: format!("web-{index}"),
        uid: format!("uid-{index}"),
        resource_version: "1".into(),
        creation_timestamp: Some(Timestamp::UNIX_EPOCH),
        finalizers: vec![CLEANUP_FINALIZER.into()],
        owner_references: vec![OwnerReference {
            api_version: ENO_API_VERSION.into(),
            kind: "Composition".into(),
            name: "web".into(),
            uid: "uid-web".into(),
            controller: true,
        }],
        ..Metadata::default()
    }
}

fn review(slice: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5", "resource": {"group": "eno.azure.io", "version": "v1", "resource": "resourceslices"},
            "name": "web-0", "namespace": "ns", "operation": "DELETE", "userInfo": {"username": "alice"}, "oldObject": slice,
        },
    })
}
