use std::sync::LazyLock;

use serde_json::json;

use super::super::DestroyCause;
use super::*;
use crate::lookup::Lookup;
use crate::names::{POD_COMPOSITION, POD_COMPOSITION_NAMESPACE};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// So many seconds after the beginning.
fn at(seconds: u64) -> Now {
    let wall: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    Now { at: wall + Duration::from_secs(seconds), tick: *START + Duration::from_secs(seconds) }
}

struct Made(serde_json::Value);

fn pod(name: &str, uid: &str) -> Made {
    Made(
        json!({"metadata": {"namespace": "a", "name": name, "uid": uid, "labels": {"k": "v"}}, "spec": {"nodeName": "n"}}),
    )
}

impl Made {
    fn deleting(mut self) -> Self {
        self.0["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:30Z");
        self
    }
    fn sandbox(mut self, id: &str) -> Self {
        self.0["metadata"]["annotations"]["cni.projectcalico.org/containerID"] = json!(id);
        self
    }
    fn labelled(mut self, labels: serde_json::Value) -> Self {
        self.0["metadata"]["labels"] = labels;
        self
    }
    fn mirror(mut self, hash: &str) -> Self {
        self.0["metadata"]["annotations"] =
            json!({"kubernetes.io/config.hash": hash, "kubernetes.io/config.mirror": hash});
        self
    }
    fn on(mut self, node: &str) -> Self {
        self.0["spec"]["nodeName"] = json!(node);
        self
    }
    fn seen(self) -> Seen {
        Seen::of(&serde_json::from_value(self.0).unwrap())
    }
}

/// A tracker that has read a list of these pods.
fn following(pods: impl IntoIterator<Item = Made>) -> Tracker {
    let mut tracker = Tracker::new([None]);
    list(&mut tracker, pods, 0);
    assert_eq!(tracker.take(at(0).tick), None, "nothing is to be looked at of pods that live");
    tracker
}

fn list(tracker: &mut Tracker, pods: impl IntoIterator<Item = Made>, seconds: u64) -> Listed {
    tracker.list_begins(&None);
    pods.into_iter().for_each(|pod| tracker.seen(pod.seen(), at(seconds)));
    tracker.listed(&None, at(seconds))
}

/// Takes the one look that is due.
#[track_caller]
fn take(tracker: &mut Tracker, seconds: u64) -> Look {
    let look = tracker.take(at(seconds).tick).expect("a look is due");
    assert_eq!(tracker.take(at(seconds).tick), None, "one look is due");
    look
}

/// Takes the one look that is due, and ends it so.
#[track_caller]
fn looked(tracker: &mut Tracker, found: Lookup<Made>, seconds: u64) -> Outcome {
    let look = take(tracker, seconds);
    tracker.looked(&look, &found.map(Made::seen), at(seconds))
}

fn causes(outcome: &Outcome) -> Vec<(DestroyCause, &str)> {
    outcome.ended.iter().map(|ended| (ended.cause, ended.pod.uid.as_str())).collect()
}

#[test]
fn a_pod_that_a_watch_misses_ends_by_a_live_read() {
    let mut tracker = following([pod("p", "u").sandbox("1")]);
    tracker.gone(pod("p", "u").sandbox("1").seen(), at(1));
    let outcome = looked(&mut tracker, Lookup::Missing, 1);
    assert_eq!(causes(&outcome), [(DestroyCause::Gone, "u")]);
    let ended = &outcome.ended[0];
    assert_eq!(ended.sequence, 1);
    assert_eq!(ended.sandbox.as_ref().map(|sandbox| sandbox.id.as_str()), Some("1"));
    assert_eq!(ended.record.labels()["k"], "v");
    assert_eq!(tracker.counts(), Counts::default());
}

#[test]
fn what_cannot_be_read_is_no_end_and_backs_off() {
    let mut tracker = following([pod("p", "u")]);
    tracker.gone(pod("p", "u").seen(), at(1));
    let outcome = looked(&mut tracker, Lookup::Unknown("forbidden".into()), 1);
    assert_eq!(outcome, Outcome { failed: Some("forbidden".into()), ..Outcome::default() });
    for (sweep, due) in [(5, false), (6, true), (11, false), (15, false), (16, true), (35, false), (36, true)] {
        tracker.sweep(at(sweep));
        let look = tracker.take(at(sweep).tick);
        assert_eq!(look.is_some(), due, "after {sweep} s");
        if let Some(look) = look {
            tracker.looked(&look, &Lookup::Unknown("forbidden".into()), at(sweep));
        }
    }
    // A trigger does not defeat the backoff.
    tracker.gone(pod("p", "u").seen(), at(37));
    assert_eq!(tracker.take(at(37).tick), None);
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 1 });
}

#[test]
fn a_pod_that_is_being_deleted_is_looked_at_every_sweep_and_others_never() {
    let mut tracker = following([pod("lives", "v"), pod("p", "u")]);
    tracker.seen(pod("p", "u").deleting().seen(), at(1));
    assert_eq!(tracker.take(at(1).tick), None, "it has only just begun to go");
    for sweep in [5, 10, 15] {
        tracker.sweep(at(sweep));
        assert_eq!(looked(&mut tracker, Lookup::Found(pod("p", "u").deleting()), sweep), Outcome::default());
    }
    tracker.gone(pod("p", "u").deleting().seen(), at(16));
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 16)), [(DestroyCause::Gone, "u")]);
}

#[test]
fn a_namesake_ends_the_old_pod_and_not_itself() {
    let mut tracker = following([pod("p", "old")]);
    // A gap of the watch: the new pod is all that is seen.
    tracker.seen(pod("p", "new").seen(), at(1));
    let outcome = looked(&mut tracker, Lookup::Found(pod("p", "new")), 1);
    assert_eq!(causes(&outcome), [(DestroyCause::Replaced, "old")]);
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
    // And again, twice in a row: oldest first.
    tracker.seen(pod("p", "newer").seen(), at(2));
    tracker.seen(pod("p", "newest").seen(), at(2));
    let outcome = looked(&mut tracker, Lookup::Found(pod("p", "newest")), 2);
    assert_eq!(causes(&outcome), [(DestroyCause::Replaced, "new"), (DestroyCause::Replaced, "newer")]);
}

/// The read began before the new pod was known, and its answer came after: it says nothing of the new one.
#[test]
fn a_look_decides_only_about_those_that_were_known_when_it_began() {
    let mut tracker = following([pod("p", "old")]);
    tracker.gone(pod("p", "old").seen(), at(1));
    let look = take(&mut tracker, 1);
    tracker.seen(pod("p", "new").seen(), at(2));
    let outcome = tracker.looked(&look, &Lookup::Missing, at(2));
    assert_eq!(causes(&outcome), [(DestroyCause::Gone, "old")]);
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
}

/// The other way round: the read saw the pod alive, and before its answer comes the watch says that it is gone.
#[test]
fn what_comes_up_during_a_look_calls_for_another() {
    let mut tracker = following([pod("p", "u")]);
    tracker.seen(pod("p", "u").deleting().seen(), at(1));
    tracker.sweep(at(5));
    let look = take(&mut tracker, 5);
    tracker.gone(pod("p", "u").deleting().seen(), at(6));
    assert_eq!(tracker.take(at(6).tick), None, "one look at a time");
    tracker.looked(&look, &Lookup::Found(pod("p", "u").deleting().seen()), at(6));
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 6)), [(DestroyCause::Gone, "u")]);
}

#[test]
fn a_pod_that_went_during_a_look_that_saw_it_live_is_looked_at_again() {
    let mut tracker = following([pod("p", "u")]);
    tracker.hinted(&Place::new("a", "p"), Some("u"), at(1));
    tracker.sweep(at(5));
    let look = take(&mut tracker, 5);
    tracker.seen(pod("p", "u").deleting().seen(), at(6));
    tracker.gone(pod("p", "u").deleting().seen(), at(7));
    // The read was made before all of that.
    assert_eq!(tracker.looked(&look, &Lookup::Found(pod("p", "u").seen()), at(8)), Outcome::default());
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 8)), [(DestroyCause::Gone, "u")]);
}

#[test]
fn what_only_a_list_lacks_takes_two_misses() {
    let mut tracker = following([pod("p", "u"), pod("q", "v")]);
    assert_eq!(list(&mut tracker, [pod("q", "v")], 10), Listed::Lacks(1));
    assert_eq!(looked(&mut tracker, Lookup::Missing, 10), Outcome::default());
    tracker.sweep(at(15));
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 15)), [(DestroyCause::Gone, "u")]);
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
}

#[test]
fn a_miss_that_was_wrong_counts_no_more() {
    let mut tracker = following([pod("p", "u").deleting()]);
    let lost = |tracker: &mut Tracker, seconds| {
        tracker.gone(pod("m", "h").mirror("h").seen(), at(seconds));
        looked(tracker, Lookup::Missing, seconds)
    };
    // A mirror pod is made again while its static pod runs on: with another uid, and for the same hash.
    assert_eq!(lost(&mut tracker, 1), Outcome::default());
    tracker.seen(pod("m", "another-uid").mirror("h").seen(), at(2));
    tracker.sweep(at(2));
    while let Some(look) = tracker.take(at(2).tick) {
        let name = look.place.name.to_string();
        let found = if name == "m" { pod("m", "another-uid").mirror("h") } else { pod("p", "u").deleting() };
        assert_eq!(tracker.looked(&look, &Lookup::Found(found.seen()), at(2)), Outcome::default(), "{name}");
    }
    assert_eq!(lost(&mut tracker, 3), Outcome::default());
    tracker.gone(pod("m", "h").mirror("h").seen(), at(4));
    let identity = pod("m", "any").mirror("h").seen().uid;
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 4)), [(DestroyCause::Gone, &*identity)]);
}

#[test]
fn a_list_that_shrinks_by_much_must_say_so_twice() {
    let all = || (0..100).map(|index| pod(&format!("p-{index}"), &format!("u-{index}")));
    let mut tracker = following(all());
    assert_eq!(list(&mut tracker, all().take(30), 10), Listed::Shrunk { missing: 70, of: 100 });
    assert_eq!(tracker.take(at(10).tick), None);
    // It was an error.
    assert_eq!(list(&mut tracker, all(), 15), Listed::Lacks(0));
    assert_eq!(list(&mut tracker, all().take(30), 20), Listed::Shrunk { missing: 70, of: 100 });
    assert_eq!(list(&mut tracker, all().take(31), 25), Listed::Lacks(69));
    assert_eq!(tracker.counts(), Counts { followed: 100, candidates: 69 });
    // A few are nothing special, whatever their share.
    let mut few = following(all().take(20));
    assert_eq!(list(&mut few, [], 10), Listed::Lacks(20));
}

#[test]
fn a_pod_that_left_the_selection_is_not_destroyed() {
    let mut tracker = following([pod("p", "u")]);
    tracker.gone(pod("p", "u").seen(), at(1));
    assert_eq!(looked(&mut tracker, Lookup::Found(pod("p", "u")), 1), Outcome::default());
    assert_eq!(tracker.counts(), Counts::default());
    // It comes back while a look is under way.
    let mut tracker = following([pod("p", "u")]);
    tracker.gone(pod("p", "u").seen(), at(1));
    let look = take(&mut tracker, 1);
    tracker.seen(pod("p", "u").seen(), at(2));
    tracker.looked(&look, &Lookup::Found(pod("p", "u").seen()), at(2));
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
    // One that is being deleted is followed to its end.
    let mut tracker = following([pod("p", "u").deleting()]);
    tracker.gone(pod("p", "u").deleting().seen(), at(6));
    assert_eq!(looked(&mut tracker, Lookup::Found(pod("p", "u").deleting()), 6), Outcome::default());
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 1 });
}

/// Its namespace is not one of those that are followed any more.
#[test]
fn a_pod_whose_namespace_leaves_is_not_destroyed_unless_it_is_gone() {
    let mut tracker = following([pod("lives", "u"), pod("gone", "v"), pod("going", "w").deleting(), pod("stays", "x")]);
    let place = |name: &str| Place::new("a", name);
    assert_eq!(tracker.keep_to(|namespace| namespace == "a", at(5)), 0);
    assert_eq!(tracker.take(at(5).tick), None, "nothing has left");
    assert_eq!(tracker.keep_to(|namespace| namespace != "a", at(5)), 4);
    // It comes back before it was looked at.
    tracker.seen(pod("stays", "x").seen(), at(5));
    let mut ended = vec![];
    for seconds in [5, 10] {
        tracker.sweep(at(seconds));
        while let Some(look) = tracker.take(at(seconds).tick) {
            let found = match &*look.place.name {
                "gone" => Lookup::Missing,
                "going" => Lookup::Found(pod("going", "w").deleting().seen()),
                name => Lookup::Found(pod(name, if name == "lives" { "u" } else { "x" }).seen()),
            };
            ended.extend(
                tracker.looked(&look, &found, at(seconds)).ended.into_iter().map(|ended| (seconds, ended.pod.uid)),
            );
        }
    }
    assert_eq!(ended, [(10, "v".to_owned())], "only after a second read that says the same");
    assert_eq!(tracker.following(&place("lives"), "u"), None, "it has left");
    assert!(tracker.following(&place("going"), "w").is_some(), "it is followed to its end");
    assert!(tracker.following(&place("stays"), "x").is_some());
    assert_eq!(tracker.counts().followed, 2);
}

#[test]
fn a_new_sandbox_ends_the_old_one_once() {
    let mut tracker = following([pod("p", "u").sandbox("1")]);
    tracker.seen(pod("p", "u").sandbox("2").seen(), at(1));
    let outcome = looked(&mut tracker, Lookup::Found(pod("p", "u").sandbox("2")), 1);
    assert_eq!(causes(&outcome), [(DestroyCause::SandboxChanged, "u")]);
    assert_eq!(outcome.ended[0].sandbox.as_ref().unwrap().id, "1");
    // The watch is late.
    tracker.seen(pod("p", "u").sandbox("1").seen(), at(2));
    assert_eq!(looked(&mut tracker, Lookup::Found(pod("p", "u").sandbox("2")), 2), Outcome::default());
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
    // The pod's own end is its second.
    tracker.gone(pod("p", "u").sandbox("2").seen(), at(3));
    let outcome = looked(&mut tracker, Lookup::Missing, 3);
    assert_eq!((causes(&outcome), outcome.ended[0].sequence), (vec![(DestroyCause::Gone, "u")], 2));
    assert_eq!(outcome.ended[0].sandbox.as_ref().unwrap().id, "2");
}

#[test]
fn a_pod_on_another_node_has_moved() {
    let mut tracker = following([pod("p", "u")]);
    tracker.seen(pod("p", "u").on("m").seen(), at(1));
    let outcome = looked(&mut tracker, Lookup::Found(pod("p", "u").on("m")), 1);
    assert_eq!(causes(&outcome), [(DestroyCause::Moved, "u")]);
    assert_eq!(outcome.ended[0].record.node.as_deref(), Some("n"));
}

#[test]
fn hints_wait_for_the_write_and_are_forgotten_where_none_follows() {
    let mut tracker = following([pod("p", "u")]);
    let place = Place::new("a", "p");
    tracker.hinted(&place, Some("u"), at(4));
    tracker.hinted(&place, Some("u"), at(4));
    tracker.hinted(&place, None, at(4));
    assert_eq!(tracker.take_changed().into_iter().filter(|changed| changed.urgent).count(), 1);
    assert_eq!(tracker.take(at(4).tick), None, "the write comes after the admission");
    let mut reads = 0;
    for sweep in (5..60).step_by(5) {
        tracker.sweep(at(sweep));
        if let Some(look) = tracker.take(at(sweep).tick) {
            reads += 1;
            tracker.looked(&look, &Lookup::Found(pod("p", "u").seen()), at(sweep));
        }
    }
    assert_eq!(reads, 7, "until 30 s have passed");
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
}

/// Whoever reaches the webhook's port may send a review.
#[test]
fn a_hint_makes_no_pod_known() {
    let mut tracker = following([pod("p", "u")]);
    for (name, uid) in [("q", Some("u")), ("q", None), ("p", Some("v"))] {
        tracker.hinted(&Place::new("a", name), uid, at(1));
    }
    tracker.sweep(at(5));
    assert_eq!(tracker.take(at(5).tick), None);
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
}

#[test]
fn late_news_of_a_pod_that_ended_brings_nothing_back() {
    let mut tracker = following([pod("p", "u")]);
    tracker.gone(pod("p", "u").seen(), at(1));
    looked(&mut tracker, Lookup::Missing, 1);
    tracker.gone(pod("p", "u").seen(), at(2));
    tracker.hinted(&Place::new("a", "p"), Some("u"), at(2));
    tracker.seen(pod("p", "u").deleting().seen(), at(2));
    tracker.gone(pod("p", "u").deleting().seen(), at(3));
    tracker.sweep(at(10));
    assert_eq!(tracker.take(at(10).tick), None);
    assert_eq!(tracker.counts(), Counts::default());
}

#[test]
fn a_pod_that_was_told_dead_and_lives_is_counted_and_followed_again() {
    let mut tracker = following([pod("p", "u")]);
    tracker.gone(pod("p", "u").seen(), at(1));
    assert_eq!(causes(&looked(&mut tracker, Lookup::Missing, 1)).len(), 1);
    tracker.seen(pod("p", "u").seen(), at(2));
    tracker.sweep(at(5));
    assert_eq!(tracker.take(at(5).tick), None, "the watch may be late");
    tracker.sweep(at(10));
    let outcome = looked(&mut tracker, Lookup::Found(pod("p", "u")), 10);
    assert_eq!(outcome, Outcome { false_destroys: 1, ..Outcome::default() });
    assert_eq!(tracker.counts(), Counts { followed: 1, candidates: 0 });
    // Late news that a live read refutes is none.
    tracker.gone(pod("p", "u").seen(), at(11));
    looked(&mut tracker, Lookup::Missing, 11);
    tracker.seen(pod("p", "u").seen(), at(12));
    tracker.sweep(at(20));
    assert_eq!(looked(&mut tracker, Lookup::Missing, 20), Outcome::default());
    tracker.sweep(at(30));
    assert_eq!(tracker.take(at(30).tick), None);
}

#[test]
fn what_must_outlive_the_process_is_named_at_once_where_it_matters() {
    let mut tracker = Tracker::new([None]);
    let place = Place::new("a", "p");
    let changed = |tracker: &mut Tracker| {
        let mut changed: Vec<_> = tracker.take_changed().into_iter().map(|changed| changed.urgent).collect();
        changed.sort_unstable();
        changed
    };
    tracker.seen(pod("p", "u").sandbox("1").seen(), at(0));
    assert_eq!(changed(&mut tracker), [false], "a checkpoint has time");
    let kept = tracker.following(&place, "u").unwrap();
    assert_eq!(kept, Following { node: Some("n".into()), ..Following::default() });
    tracker.seen(
        pod("q", "synthesizer's").labelled(json!({POD_COMPOSITION: "c", POD_COMPOSITION_NAMESPACE: "b"})).seen(),
        at(0),
    );
    assert_eq!(changed(&mut tracker), [false]);
    let kept = tracker.following(&Place::new("a", "q"), "synthesizer's").unwrap();
    assert_eq!(kept.composition.as_deref(), Some("b/c"));
    tracker.seen(pod("p", "u").sandbox("1").seen(), at(1));
    assert!(changed(&mut tracker).is_empty());
    tracker.seen(pod("p", "u").sandbox("1").deleting().seen(), at(2));
    assert_eq!(changed(&mut tracker), [true]);
    let kept = tracker.following(&place, "u").unwrap();
    assert_eq!(kept.going_since, Some(at(2).at));
    assert_eq!(kept.record.as_ref().unwrap().labels()["k"], "v");

    // Another process goes on with it.
    let mut next = Tracker::new([None]);
    let known = PodRef { namespace: "a".into(), name: "p".into(), uid: "u".into() };
    next.restore(&known, kept.clone());
    assert_eq!(next.following(&place, "u"), Some(kept));
    let outcome = looked(&mut next, Lookup::Missing, 100);
    assert_eq!(causes(&outcome), [(DestroyCause::Gone, "u")]);
    assert_eq!(changed(&mut next), [true]);
    assert_eq!(next.following(&place, "u"), None);
}

#[test]
fn a_checkpoint_is_enough_to_find_out_that_a_pod_went_meanwhile() {
    let mut tracker = Tracker::new([None]);
    let known = |name: &str, uid: &str| PodRef { namespace: "a".into(), name: name.into(), uid: uid.into() };
    let living = || Following { node: Some("n".into()), ..Following::default() };
    tracker.restore(&known("gone", "u"), Following { composition: Some("b/c".into()), ..living() });
    tracker.restore(&known("replaced", "v"), living());
    tracker.restore(&known("lives", "w"), living());
    tracker.restore_ended(&known("ended", "x"), at(0));
    assert_eq!(list(&mut tracker, [pod("replaced", "y"), pod("lives", "w")], 1), Listed::Lacks(2));
    let mut ended = vec![];
    for seconds in [1, 6] {
        tracker.sweep(at(seconds));
        while let Some(look) = tracker.take(at(seconds).tick) {
            let found = match &*look.place.name {
                "gone" => Lookup::Missing,
                _ => Lookup::Found(pod("replaced", "y").seen()),
            };
            ended.extend(tracker.looked(&look, &found, at(seconds)).ended);
        }
    }
    let labels = ended.last().unwrap().record.labels();
    let expected = [(POD_COMPOSITION, "c"), (POD_COMPOSITION_NAMESPACE, "b")];
    assert_eq!(labels, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    let ended: Vec<_> =
        ended.iter().map(|ended| (ended.cause, ended.pod.uid.as_str(), ended.record.node.as_deref())).collect();
    assert_eq!(ended, [(DestroyCause::Replaced, "v", Some("n")), (DestroyCause::Gone, "u", Some("n"))]);
}

#[test]
fn a_pod_that_is_deleted_for_too_long_is_reported_once() {
    let mut tracker = following([pod("p", "u")]);
    tracker.seen(pod("p", "u").deleting().seen(), at(0));
    let overdue = |tracker: &mut Tracker, seconds| tracker.overdue(Duration::from_secs(60), at(seconds)).len();
    assert_eq!(overdue(&mut tracker, 90), 0, "it was given until then");
    assert_eq!(overdue(&mut tracker, 91), 1);
    assert_eq!(overdue(&mut tracker, 92), 0);
}
