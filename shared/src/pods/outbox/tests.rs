use serde_json::json;

use super::super::pod::Pod;
use super::super::{DestroyCause, Sandbox};
use super::*;
use crate::pods::destroy::PodRef;

fn pod() -> Pod {
    serde_json::from_value(json!({
        "metadata": {
            "namespace": "a", "name": "p", "uid": "u", "labels": {"app.kubernetes.io/name": "x", "empty": ""},
            "deletionTimestamp": "2026-01-01T00:00:30Z",
        },
        "spec": {"nodeName": "n", "serviceAccountName": "s"},
        "status": {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
    }))
    .unwrap()
}

fn destroy() -> Destroy {
    Destroy {
        id: "1".into(),
        sequence: 1,
        cause: DestroyCause::Gone,
        pod: PodRef { namespace: "a".into(), name: "p".into(), uid: "u".into() },
        node: Some("n".into()),
        sandbox: Some(Sandbox { source: "calico".into(), id: "c".into() }),
        pod_ips: vec!["10.0.0.1".into()],
        labels: [("k".to_owned(), "v".to_owned())].into(),
        service_account: None,
        observed_at: "2026-01-01T00:00:31Z".parse().unwrap(),
        deleted_at: None,
        confirmed: true,
    }
}

fn going() -> Entry {
    let sandbox = Sandbox { source: "calico".into(), id: "c".into() };
    let record = Record::of(&pod(), vec![sandbox]);
    let since = "2026-01-01T00:00:00Z".parse().unwrap();
    let dead = Delivery::Dead { why: "400 Bad Request".into(), at: since };
    let sinks = [("http".to_owned(), dead), ("log".to_owned(), Delivery::Pending)].into();
    Entry {
        namespace: "a".into(),
        name: "p".into(),
        following: Some(Following { going_since: Some(since), ends: 1, record: Some(record), ..Following::default() }),
        undelivered: vec![Undelivered { destroy: destroy(), sinks }],
    }
}

fn shard(entries: &[(&str, String)]) -> BTreeMap<String, String> {
    entries.iter().map(|(uid, entry)| ((*uid).to_owned(), entry.clone())).collect()
}

#[test]
fn what_is_written_is_read() {
    let entry = going();
    let shard = decode(&annotations("c"), &shard(&[("u", entry.encode().unwrap())]), "c").unwrap();
    assert_eq!(shard, Shard { entries: vec![("u".into(), entry.clone())], aside: vec![] });
    let labels = entry.following.unwrap().record.unwrap().labels();
    assert_eq!(labels, pod().metadata.labels);
}

/// Other versions of this program read it.
#[test]
fn the_format_is_this() {
    let living = Following { node: Some("n".into()), ..Following::default() };
    let checkpoint = Entry { following: Some(living), undelivered: vec![], ..going() };
    assert_eq!(checkpoint.encode().unwrap(), r#"{"namespace":"a","name":"p","following":{"node":"n"}}"#);
    let composition = Following { composition: Some("b/c".into()), ..checkpoint.following.unwrap() };
    let checkpoint = Entry { following: Some(composition), undelivered: vec![], ..going() };
    let expected = r#"{"namespace":"a","name":"p","following":{"node":"n","composition":"b/c"}}"#;
    assert_eq!(checkpoint.encode().unwrap(), expected);
    let expected = json!({
        "namespace": "a", "name": "p",
        "following": {
            "goingSince": "2026-01-01T00:00:00Z", "ends": 1,
            "record": {
                "node": "n", "serviceAccount": "s", "labels": "app.kubernetes.io/name=x,empty=",
                "podIPs": ["10.0.0.1", "fd00::1"], "sandboxes": [{"source": "calico", "id": "c"}],
                "deletedAt": "2026-01-01T00:00:30Z",
            },
        },
        "undelivered": [{
            "destroy": {
                "id": "1", "sequence": 1, "cause": "Gone", "pod": {"namespace": "a", "name": "p", "uid": "u"},
                "node": "n", "sandbox": {"source": "calico", "id": "c"}, "podIPs": ["10.0.0.1"], "labels": {"k": "v"},
                "observedAt": "2026-01-01T00:00:31Z", "confirmed": true,
            },
            "sinks": {
                "http": {"state": "dead", "why": "400 Bad Request", "at": "2026-01-01T00:00:00Z"},
                "log": {"state": "pending"},
            },
        }],
    });
    let written: serde_json::Value = serde_json::from_str(&going().encode().unwrap()).unwrap();
    assert_eq!(written, expected);
}

#[test]
fn a_shard_of_another_format_or_cluster_is_refused_whole() {
    let data = shard(&[("u", going().encode().unwrap())]);
    let mut newer = annotations("c");
    newer.insert(OUTBOX_FORMAT.into(), "2".into());
    assert_eq!(decode(&newer, &data, "c"), Err(Refused::Format("2".into())));
    assert_eq!(decode(&BTreeMap::new(), &data, "c"), Err(Refused::Format(String::new())));
    assert_eq!(decode(&annotations("other"), &data, "c"), Err(Refused::Cluster("other".into())));
}

#[test]
fn an_entry_that_cannot_be_read_stops_no_other() {
    let data = shard(&[("bad", r#"{"namespace":1}"#.into()), ("u", going().encode().unwrap())]);
    let shard = decode(&annotations("c"), &data, "c").unwrap();
    assert_eq!(shard.entries.len(), 1);
    assert_eq!(shard.aside[0].0, "bad");
}

#[test]
fn an_entry_with_nothing_to_keep_is_not_stored() {
    assert_eq!(Entry { following: None, undelivered: vec![], ..going() }.encode(), None);
}

#[test]
fn requests_name_destroys() {
    let request = |key: &str, value: &str| Request::of(&[(key.to_owned(), value.to_owned())].into());
    let some = request("redeliver", " a\nb ");
    assert_eq!(some.redeliver, Which::Ids(vec!["a".into(), "b".into()]));
    assert_eq!(some.drop, Which::Ids(vec![]));
    assert_eq!(request("drop", "*\n").drop, Which::All);
    assert_eq!(Request::of(&BTreeMap::new()), Request::default());
    assert_eq!(request("redeliver", ""), Request::default());
}
