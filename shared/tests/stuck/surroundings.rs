//! Symphonies, namespaces and pods.

use crate::*;

pub fn states_of_surroundings() -> Vec<State> {
    let state = |name, blockers, codes| State { name, blockers, codes };
    let live = Symphony { metadata: fixtures::composition("all").metadata, ..Symphony::default() };
    let mut leaving = live.clone();
    delete(&mut leaving.metadata);
    let mut held = leaving.clone();
    held.metadata.finalizers = vec!["a/b".into()];
    let (reconciled, web) = (staying(), fixtures::composition("web"));
    let some = EnoObjects { compositions: 1, ..EnoObjects::default() };
    let mut pod = fixtures::composition("pod").metadata;
    pod.finalizers.clear();
    let alive = pod_blockers(&pod, now());
    delete(&mut pod);
    let overdue = pod_blockers(&pod, now());
    let in_time = pod_blockers(&pod, ago(90));
    pod.finalizers.push("a/b".into());
    vec![
        state("symphony", symphony_blockers(&live, &[&reconciled]), &[]),
        state("symphony at work", symphony_blockers(&live, &[&reconciled, &web]), &["CompositionsUnreconciled"]),
        state("symphony going", symphony_blockers(&leaving, &[&web]), &["CompositionsLeft"]),
        state("symphony that nobody releases", symphony_blockers(&leaving, &[]), &["NobodyActs"]),
        state("symphony held by others", symphony_blockers(&held, &[]), &["ForeignFinalizer"]),
        state("namespace", namespace_blockers(false, some), &[]),
        state("namespace going", namespace_blockers(true, some), &["ObjectsLeft"]),
        state("empty namespace going", namespace_blockers(true, EnoObjects::default()), &[]),
        state("pod", alive, &[]),
        state("pod going", in_time, &[]),
        state("pod overdue", overdue, &["PodOverdue"]),
        state("pod held", pod_blockers(&pod, ago(90)), &["ForeignFinalizer"]),
    ]
}
