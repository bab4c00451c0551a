use serde_json::json;

use super::*;

fn told(pod: serde_json::Value, boot_id: Option<&str>, cilium: Option<&str>) -> Vec<(String, String)> {
    let pod: Pod = serde_json::from_value(pod).unwrap();
    sandboxes(&Evidence { pod: &pod, boot_id, cilium }).into_iter().map(|one| (one.source, one.id)).collect()
}

fn of(pairs: &[(&str, &str)]) -> Vec<Sandbox> {
    pairs.iter().map(|(source, id)| Sandbox { source: (*source).into(), id: (*id).into() }).collect()
}

#[test]
fn each_source_is_asked_in_order_of_confidence() {
    let everything = json!({
        "metadata": {"annotations": {
            "cni.projectcalico.org/containerID": "c1",
            "k8s.v1.cni.cncf.io/network-status":
                "[{\"interface\":\"net1\",\"mac\":\"m1\",\"ips\":[\"b\"]},{\"interface\":\"eth0\",\"mac\":\"m0\",\"ips\":[\"a\"]}]",
        }},
        "status": {
            "podIPs": [{"ip": "10.0.0.2"}, {"ip": "10.0.0.1"}],
            "conditions": [{"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        },
    });
    let told = told(everything, Some("boot"), Some("c2"));
    let expected = [
        ("calico", "c1"),
        ("cilium", "c2"),
        ("ready-to-start", "2026-01-01T00:00:00Z"),
        ("pod-ips", "10.0.0.1,10.0.0.2"),
        ("node-boot", "boot"),
        ("multus", "eth0 m0 a;net1 m1 b;"),
    ];
    assert_eq!(told, expected.map(|(source, id)| (source.to_owned(), id.to_owned())));
    let confidences = CHAIN.map(Extractor::confidence);
    assert!(confidences.is_sorted_by(|a, b| a >= b), "{confidences:?}");
}

#[test]
fn what_is_blank_or_shared_with_the_node_tells_nothing() {
    let blank = json!({
        "metadata": {"annotations": {
            "cni.projectcalico.org/containerID": "", "k8s.v1.cni.cncf.io/network-status": "no JSON",
        }},
        "status": {
            "podIPs": [{"ip": ""}],
            "conditions": [{"type": "PodReadyToStartContainers", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        },
    });
    assert_eq!(told(blank, Some(""), Some("")), []);
    let of_node = json!({"spec": {"hostNetwork": true}, "status": {"podIPs": [{"ip": "10.0.0.1"}]}});
    assert_eq!(told(of_node, None, None), []);
}

#[test]
fn an_identity_that_is_equal_outweighs_all_traces() {
    let before = of(&[("calico", "1"), ("ready-to-start", "t0"), ("pod-ips", "a")]);
    let after = of(&[("calico", "1"), ("ready-to-start", "t1"), ("pod-ips", "b")]);
    assert_eq!(compare(&before, &after), Compared::Same);
    assert_eq!(compare(&before[1..], &after[1..]), Compared::Other(before[1].clone()));
}

#[test]
fn one_trace_that_differs_is_enough() {
    let before = of(&[("ready-to-start", "t0"), ("pod-ips", "a"), ("node-boot", "x")]);
    // Addresses may be given again; the node's boot says that nothing has survived.
    let after = of(&[("ready-to-start", "t0"), ("pod-ips", "a"), ("node-boot", "y")]);
    assert_eq!(compare(&before, &after), Compared::Other(before[2].clone()));
}

#[test]
fn different_sources_say_nothing_of_each_other() {
    assert_eq!(compare(&of(&[("pod-ips", "a")]), &of(&[("calico", "1")])), Compared::Unknown);
    assert_eq!(compare(&[], &of(&[("calico", "1")])), Compared::Unknown);
    assert_eq!(compare(&of(&[("calico", "1")]), &[]), Compared::Unknown);
}

#[test]
fn an_address_that_is_added_makes_no_other_sandbox() {
    assert_eq!(compare(&of(&[("pod-ips", "10.0.0.1")]), &of(&[("pod-ips", "10.0.0.1,fd00::1")])), Compared::Same);
    let moved = compare(&of(&[("pod-ips", "10.0.0.1,fd00::1")]), &of(&[("pod-ips", "10.0.0.2,fd00::2")]));
    assert!(matches!(moved, Compared::Other(_)));
}

/// Between two sandboxes the condition is False, and the addresses may stay: without a memory of the silent source, the
/// change would be missed.
#[test]
fn a_source_that_falls_silent_is_remembered() {
    let first = of(&[("ready-to-start", "t0"), ("pod-ips", "a")]);
    let between = of(&[("pod-ips", "a")]);
    assert_eq!(compare(&first, &between), Compared::Same);
    let remembered = merge(&first, &between);
    assert_eq!(remembered, first);
    let second = of(&[("ready-to-start", "t1"), ("pod-ips", "a")]);
    assert_eq!(compare(&remembered, &second), Compared::Other(first[0].clone()));
    assert_eq!(merge(&remembered, &second), second);
}
