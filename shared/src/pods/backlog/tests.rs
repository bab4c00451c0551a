use super::super::DestroyCause;
use super::*;
use crate::pods::destroy::PodRef;

fn destroy(id: &str, uid: &str, second: i64) -> Destroy {
    Destroy {
        id: id.into(),
        sequence: 1,
        cause: DestroyCause::Gone,
        pod: PodRef { namespace: "a".into(), name: uid.into(), uid: uid.into() },
        node: None,
        sandbox: None,
        pod_ips: vec![],
        labels: BTreeMap::new(),
        service_account: None,
        observed_at: Timestamp::from_second(second).unwrap(),
        deleted_at: None,
        confirmed: true,
    }
}

fn sinks() -> [Arc<str>; 2] {
    ["http".into(), "log".into()]
}

fn now() -> Timestamp {
    Timestamp::from_second(100).unwrap()
}

fn due(backlog: &Backlog) -> Vec<(String, String)> {
    backlog.due().map(|(sink, destroy)| (sink.to_string(), destroy.id.clone())).collect()
}

fn request(redeliver: &str, drop: &str) -> Request {
    Request::of(
        &[("redeliver", redeliver), ("drop", drop)].map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    )
}

#[test]
fn a_destroy_stays_until_each_sink_has_it() {
    let mut backlog = Backlog::default();
    backlog.add(destroy("2", "u", 2), &sinks());
    backlog.add(destroy("1", "u", 1), &sinks());
    backlog.add(destroy("1", "u", 1), &sinks());
    let expected = [("http", "1"), ("log", "1"), ("http", "2"), ("log", "2")];
    assert_eq!(due(&backlog), expected.map(|(sink, id)| (sink.to_owned(), id.to_owned())));
    assert!(backlog.acknowledged("1", "http", None, now()).is_some());
    assert!(backlog.acknowledged("1", "http", None, now()).is_none(), "it had it before");
    assert!(backlog.acknowledged("1", "no such", None, now()).is_none());
    assert_eq!(backlog.of_pod("u").len(), 2);
    backlog.acknowledged("1", "log", None, now());
    assert_eq!(backlog.of_pod("u").len(), 1);
    assert_eq!(backlog.depth(), Depth { pending: 1, dead: 0, oldest: Some(Timestamp::from_second(2).unwrap()) });
}

#[test]
fn with_no_one_to_tell_nothing_is_kept() {
    let mut backlog = Backlog::default();
    backlog.add(destroy("1", "u", 1), &[]);
    assert_eq!(backlog.depth(), Depth::default());
    assert!(backlog.of_pod("u").is_empty());
}

#[test]
fn dead_letters_wait_for_a_person() {
    let mut backlog = Backlog::default();
    backlog.add(destroy("1", "u", 1), &sinks());
    backlog.acknowledged("1", "log", None, now());
    backlog.acknowledged("1", "http", Some("400".into()), now());
    assert_eq!(backlog.depth(), Depth { pending: 0, dead: 1, oldest: None });
    assert_eq!(due(&backlog), []);
    assert!(backlog.carry_out(&request("no-such", "no-such")).is_empty());
    assert_eq!(backlog.carry_out(&request("1", "")).len(), 1);
    assert_eq!(due(&backlog), [("http".to_owned(), "1".to_owned())], "the log has it already");
    // To drop all takes dead letters only.
    assert!(backlog.carry_out(&request("", "*")).is_empty());
    assert_eq!(backlog.carry_out(&request("", "1")).len(), 1);
    assert_eq!(backlog.depth(), Depth::default());
}

#[test]
fn the_oldest_dead_letters_make_room() {
    let mut backlog = Backlog::default();
    let count = DEAD_LETTERS + 2;
    for number in 0..count {
        let id = number.to_string();
        backlog.add(destroy(&id, &id, i64::try_from(number).unwrap()), &sinks()[..1]);
        backlog.acknowledged(&id, "http", Some("400".into()), now());
    }
    backlog.add(destroy("pending", "v", 0), &sinks());
    let dropped: Vec<_> = backlog.drop_oldest_dead().iter().map(|destroy| destroy.id.clone()).collect();
    assert_eq!(dropped, ["0", "1"]);
    assert_eq!(backlog.depth().dead, DEAD_LETTERS);
    assert_eq!(backlog.depth().pending, 1);
}

#[test]
fn what_was_meant_for_a_sink_that_is_no_more_becomes_a_dead_letter() {
    let mut before = Backlog::default();
    before.add(destroy("1", "u", 1), &sinks());
    let mut after = Backlog::default();
    for undelivered in before.of_pod("u") {
        after.restore(undelivered, &sinks()[1..], now());
    }
    assert_eq!(due(&after), [("log".to_owned(), "1".to_owned())]);
    after.acknowledged("1", "log", None, now());
    assert_eq!(after.depth().dead, 1);
}

#[test]
fn what_is_told_after_all_or_restored_dead_is_counted_as_what_it_is() {
    let mut before = Backlog::default();
    before.add(destroy("1", "u", 1), &sinks());
    before.add(destroy("2", "v", 2), &sinks());
    before.acknowledged("1", "http", Some("400".into()), now());
    let oldest = |second| Some(Timestamp::from_second(second).unwrap());
    assert_eq!(before.depth(), Depth { pending: 2, dead: 0, oldest: oldest(1) }, "the log is still to be told");
    before.acknowledged("1", "log", None, now());
    assert_eq!(before.depth(), Depth { pending: 1, dead: 1, oldest: oldest(2) });
    let mut after = Backlog::default();
    for undelivered in ["u", "v"].into_iter().flat_map(|uid| before.of_pod(uid)) {
        after.restore(undelivered, &sinks(), now());
    }
    assert_eq!(after.depth(), before.depth());
    assert_eq!(after.carry_out(&request("*", "")).len(), 2);
    assert_eq!(after.depth(), Depth { pending: 2, dead: 0, oldest: oldest(1) });
    after.acknowledged("1", "http", None, now());
    assert_eq!(after.depth(), Depth { pending: 1, dead: 0, oldest: oldest(2) });
}
