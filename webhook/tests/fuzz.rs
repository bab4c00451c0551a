//! A review is parsed whatever it is: nothing panics, and what is taken is what was meant.
//!
//! `cargo test` runs the corpus beside this file (`__fuzz__`) and some random cases; docs/reliability.md says how to run it long.

use eno_shared::api::{Composition, Kind, ResourceSlice, decode_value};
use eno_shared::fixtures::mutation::mutated;
use eno_webhook::body::Skimmed;
use eno_webhook::hooks::{Hook, Operation};
use eno_webhook::review::{API_VERSION, KIND, Request, Undecodable, parse};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

fn review(hook: Hook) -> Value {
    let rule = hook.rule();
    let object = json!({
        "apiVersion": "eno.azure.io/v1",
        "kind": if rule.resource == "compositions" { "Composition" } else { "ResourceSlice" },
        "metadata": {"namespace": "ns", "name": "s", "uid": "u", "finalizers": ["eno.azure.io/cleanup"]},
        "spec": {"resources": [{"manifest": "{\"kind\":\"ConfigMap\"}"}]},
        "status": {"resources": []},
    });
    json!({
        "apiVersion": API_VERSION, "kind": KIND,
        "request": {
            "uid": "review-1", "resource": {"group": rule.group, "version": rule.version, "resource": rule.resource},
            "subResource": rule.subresource, "name": "s", "namespace": "ns", "operation": rule.operation.as_str(),
            "userInfo": {"username": "alice", "uid": "1", "groups": ["dev"], "extra": {"k": ["v"]}},
            "oldObject": if rule.operation == Operation::Create { Value::Null } else { object.clone() },
            "object": if rule.operation == Operation::Delete { Value::Null } else { object },
            "dryRun": false, "options": {"propagationPolicy": "Background"},
        },
    })
}

/// The body as the server has it: it has come in pieces, of these sizes, and its manifests are left out.
fn skimmed(mut body: &[u8], sizes: &[u8]) -> Vec<u8> {
    let mut skimmed = Skimmed::with_capacity(body.len());
    let mut sizes = sizes.iter().chain(&[u8::MAX]).cycle();
    while !body.is_empty() {
        let size = sizes.next().map_or(1, |size| usize::from(*size) + 1);
        let (piece, rest) = body.split_at(size.min(body.len()));
        skimmed.push(piece);
        body = rest;
    }
    skimmed.into_bytes()
}

/// An object of the review decodes to what a reader of all of it would see.
fn decodes_as_a_whole<K: Kind + PartialEq + std::fmt::Debug>(decoded: Result<K, Undecodable>, whole: &Value) {
    if let Ok(decoded) = decoded {
        assert_eq!(decode_value::<K>(whole.clone()).ok(), Some(decoded));
    }
}

fn is_what_it_says(hook: Hook, request: &Request<'_>, whole: &Value) {
    let (said, rule) = (&whole["request"], hook.rule());
    assert_eq!(said["uid"], json!(request.uid), "the answer echoes the uid of the question");
    assert_eq!(said["operation"], rule.operation.as_str());
    assert_eq!(said["resource"]["resource"], rule.resource);
    assert_eq!(said["dryRun"].as_bool().unwrap_or_default(), request.is_dry_run());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert_eq!((text(&said["namespace"]), text(&said["name"])), (request.namespace.clone(), request.name.clone()));
    decodes_as_a_whole::<ResourceSlice>(request.decode_old(), &said["oldObject"]);
    decodes_as_a_whole::<ResourceSlice>(request.decode_new(), &said["object"]);
    decodes_as_a_whole::<Composition>(request.decode_old(), &said["oldObject"]);
}

#[test]
fn reviews_are_what_they_say_or_refused() {
    for hook in Hook::ALL {
        let whole = review(hook);
        assert!(parse(hook, whole.to_string().as_bytes()).is_ok(), "what is mutated is a review of {hook}");
    }
    bolero::check!().for_each(|bytes: &[u8]| {
        let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let hook = Hook::ALL[usize::from(*first) % Hook::ALL.len()];
        for body in [mutated(&review(hook), rest), rest.to_vec()] {
            let kept = skimmed(&body, rest);
            // In what is skipped a text need not be Unicode; but a whole that is not is no JSON.
            let is_json = std::str::from_utf8(&body).is_ok_and(|body| serde_json::from_str::<IgnoredAny>(body).is_ok());
            let parsed = parse(hook, &body);
            match parse(hook, &kept) {
                Ok(_) if !is_json => {} // what is wrong within a manifest is dropped with it
                Ok(request) => {
                    assert!(parsed.is_ok(), "what is left out makes no review of what is none");
                    if let Ok(whole) = serde_json::from_slice(&body) {
                        is_what_it_says(hook, &request, &whole);
                    }
                }
                Err(_) => assert!(parsed.is_err(), "what is left out is missed by nobody"),
            }
            let Ok(request) = parsed else { continue };
            assert!(serde_json::from_slice::<IgnoredAny>(&body).is_ok(), "what is no JSON is no review");
            // In what is skipped, texts need not be Unicode.
            if let Ok(whole) = serde_json::from_slice(&body) {
                is_what_it_says(hook, &request, &whole);
            }
        }
    });
}
