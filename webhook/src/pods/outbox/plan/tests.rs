use std::time::Duration;

use super::*;

const SHARDS: u16 = 64;

fn changed(uid: &str, urgent: bool) -> Changed {
    Changed { place: Place::new("a", uid), uid: uid.into(), urgent }
}

fn of_size(bytes: usize) -> impl Fn(&Place, &str) -> Option<String> {
    move |_, _| Some("x".repeat(bytes))
}

fn uids(batch: &Batch) -> Vec<&str> {
    batch.entries.keys().map(|uid| &**uid).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_urgent_is_due_at_once_and_takes_the_rest_along() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    let patience = Duration::from_secs(30);
    assert_eq!(plan.due(patience), None);
    plan.note(changed("living", false), now);
    assert_eq!(plan.due(patience), Some(now + patience));
    plan.note(changed("going", false), now);
    plan.note(changed("going", true), now);
    assert_eq!(plan.due(patience), Some(now));
    let batch = plan.batch(of_size(10), now).unwrap();
    assert_eq!((batch.shard, uids(&batch)), (0, vec!["going", "living"]));
    assert_eq!(plan.due(patience), None);
}

#[tokio::test(start_paused = true)]
async fn an_entry_stays_in_its_shard_until_nothing_is_kept_of_it() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    for uid in ["a", "b", "c"] {
        plan.note(changed(uid, true), now);
        plan.batch(of_size(SHARD / 2), now).unwrap();
    }
    // Of three halves, two do not fit into one shard with their keys.
    for (uid, shard) in [("a", 0), ("b", 1), ("c", 2)] {
        plan.note(changed(uid, true), now);
        let batch = plan.batch(|_, _| None, now).unwrap();
        assert_eq!((batch.shard, uids(&batch)), (shard, vec![uid]));
        assert_eq!(batch.entries[uid], None);
    }
    plan.note(changed("d", true), now);
    assert_eq!(plan.batch(of_size(SHARD - 1), now).unwrap().shard, 0, "the space is free again");
}

#[tokio::test(start_paused = true)]
async fn what_comes_and_goes_between_two_writes_is_never_written() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    plan.note(changed("a", true), now);
    assert!(plan.batch(|_, _| None, now).is_none());
    assert!(!plan.has_urgent());
}

#[tokio::test(start_paused = true)]
async fn one_write_is_of_one_shard_and_begins_with_what_has_waited_longest() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    plan.lies(&Place::new("a", "old"), "old", 7, 10);
    plan.note(changed("new", true), now + Duration::from_secs(1));
    plan.note(changed("old", true), now);
    let batch = plan.batch(of_size(10), now).unwrap();
    assert_eq!((batch.shard, uids(&batch)), (7, vec!["new", "old"]));
    plan.lies(&Place::new("a", "elsewhere"), "elsewhere", 8, 10);
    plan.note(changed("old", true), now);
    plan.note(changed("elsewhere", true), now + Duration::from_secs(1));
    assert_eq!(uids(&plan.batch(of_size(10), now).unwrap()), ["old"]);
    assert_eq!(uids(&plan.batch(of_size(10), now).unwrap()), ["elsewhere"]);
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_place_is_counted_and_tried_again() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    (0..SHARDS).for_each(|shard| plan.lies(&Place::new("a", "x"), &format!("uid-{shard}"), shard, SHARD - 8));
    plan.note(changed("new", true), now);
    assert!(plan.batch(of_size(10), now).is_none());
    assert_eq!(plan.unsaved(), 1);
    assert!(!plan.has_urgent(), "it does not spin");
    plan.note(changed("uid-9", true), now);
    let freed = plan.batch(|_, uid| (uid == "new").then(|| "x".repeat(10)), now).unwrap();
    assert_eq!((freed.shard, uids(&freed)), (9, vec!["new", "uid-9"]));
    assert_eq!(plan.unsaved(), 0);
}

/// What was urgent is so still, and may go where checkpoints may not.
#[tokio::test(start_paused = true)]
async fn what_has_found_no_place_may_take_the_space_that_checkpoints_leave() {
    let (mut plan, now) = (Plan::new(1), Instant::now());
    plan.lies(&Place::new("a", "x"), "old", 0, SHARD - 8);
    plan.note(changed("new", true), now);
    assert!(plan.batch(of_size(10), now).is_none());
    plan.note(changed("old", true), now);
    assert_eq!(uids(&plan.batch(|_, _| None, now).unwrap()), ["old"]);
    assert_eq!(plan.due(Duration::from_secs(30)), None, "there is nothing to keep of the other by now, either");
    for (uid, bytes) in [("old", SHARD - 8), ("new", 10)] {
        plan.note(changed(uid, true), now);
        assert_eq!(plan.batch(of_size(bytes), now).is_some(), uid == "old");
    }
    plan.note(changed("old", true), now);
    let freed = plan.batch(|_, uid| (uid == "new").then(|| "x".repeat(10)), now).unwrap();
    assert_eq!(uids(&freed), ["new", "old"]);
}

#[tokio::test(start_paused = true)]
async fn checkpoints_leave_space_to_pods_that_end() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    let checkpoints = 0..48;
    checkpoints.for_each(|shard: u16| plan.lies(&Place::new("a", "x"), &format!("uid-{shard}"), shard, SHARD - 8));
    plan.note(changed("living", false), now);
    assert!(plan.batch(of_size(10), now).is_none());
    plan.note(changed("going", true), now);
    assert_eq!(plan.batch(of_size(10), now).unwrap().shard, 48);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_written_is_written_again() {
    let (mut plan, now) = (Plan::new(SHARDS), Instant::now());
    plan.lies(&Place::new("a", "gone"), "gone", 3, 10);
    plan.lies(&Place::new("a", "other"), "other", 3, 10);
    plan.note(changed("gone", true), now);
    let batch = plan.batch(|_, _| None, now).unwrap();
    plan.failed(batch, now);
    let batch = plan.batch(|_, _| None, now).unwrap();
    assert_eq!((batch.shard, uids(&batch)), (3, vec!["gone"]), "it must be removed from where it lies");
    // Somebody has removed the shard.
    plan.lost(3, now);
    assert_eq!(uids(&plan.batch(of_size(10), now).unwrap()), ["other"]);
}

/// Living pods have short entries, which grow many times when they end and no sink takes that.
#[tokio::test(start_paused = true)]
async fn what_outgrows_its_shard_moves_and_is_removed_there_only_once_it_lies_elsewhere() {
    let (mut plan, now) = (Plan::new(2), Instant::now());
    let patience = Duration::from_secs(30);
    plan.lies(&Place::new("a", "other"), "other", 0, SHARD / 2);
    plan.lies(&Place::new("a", "p"), "p", 0, 100);
    plan.note(changed("p", true), now);
    let batch = plan.batch(of_size(SHARD - 100), now).unwrap();
    assert_eq!((batch.shard, uids(&batch)), (1, vec!["p"]));
    plan.failed(batch, now);
    let batch = plan.batch(of_size(SHARD - 100), now).unwrap();
    assert_eq!((batch.shard, uids(&batch)), (1, vec!["p"]), "it is tried again as it was");
    assert_eq!(plan.due(patience), None, "what lies there still is all there is");
    plan.made(&batch, now);
    assert_eq!(plan.due(patience), Some(now + patience));
    let batch = plan.batch(|_, _| None, now).unwrap();
    assert_eq!((batch.shard, uids(&batch), &batch.entries["p"]), (0, vec!["p"], &None));
    plan.failed(batch, now);
    assert_eq!(uids(&plan.batch(|_, _| None, now).unwrap()), ["p"], "nor is that forgotten");
    assert_eq!(plan.due(patience), None);
    plan.note(changed("q", true), now);
    assert_eq!(plan.batch(of_size(SHARD / 2 - 20), now).unwrap().shard, 0, "the space is free again");
}

/// The process ended between the two writes of a move.
#[tokio::test(start_paused = true)]
async fn of_two_copies_the_one_that_says_less_is_removed() {
    for newer_first in [true, false] {
        let (mut plan, now) = (Plan::new(4), Instant::now());
        let place = Place::new("a", "p");
        match newer_first {
            true => {
                plan.lies(&place, "p", 2, 500);
                plan.lies_twice("p", 1, 100, now);
            }
            false => {
                plan.lies(&place, "p", 1, 100);
                plan.lies_elsewhere("p", 2, 500, now);
            }
        }
        let batch = plan.batch(|_, _| None, now).unwrap();
        assert_eq!((batch.shard, uids(&batch), &batch.entries["p"]), (1, vec!["p"], &None));
        assert!(plan.used[&1] == 0 && plan.used[&2] > 500);
        plan.note(changed("p", true), now);
        assert_eq!(plan.batch(of_size(10), now).unwrap().shard, 2);
    }
}
