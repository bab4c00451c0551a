use super::*;

const START: &str = "2026-03-01T12:00:00Z";

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

fn days(days: i64) -> SignedDuration {
    hours(24 * days)
}

const SECOND: SignedDuration = SignedDuration::from_secs(1);

fn start() -> Timestamp {
    START.parse().unwrap()
}

fn wanted() -> Wanted {
    let hosts = vec!["eno-webhook.eno-webhook-system.svc".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    Wanted { hosts, validity: days(7), authority_validity: days(365) }
}

fn first() -> Stored {
    Stored::new(&wanted(), start()).unwrap()
}

fn next(stored: &Stored, now: Timestamp, known: bool) -> Option<(Change, Stored)> {
    let next = stored.next(&wanted(), now, known).unwrap();
    if let Some((_, next)) = &next {
        // Whatever it becomes, a Secret can hold it.
        assert!(Stored::from_data(&next.to_data()).unwrap() == *next);
    }
    next
}

/// Takes steps until there is none, the API server knowing all at once.
fn settled(mut stored: Stored, now: Timestamp) -> Stored {
    for _ in 0..8 {
        match next(&stored, now, true) {
            Some((_, next)) => stored = next,
            None => return stored,
        }
    }
    panic!("it does not come to rest");
}

#[test]
fn the_first_is_good_for_its_names_for_seven_days_and_begins_an_hour_ago() {
    let stored = first();
    assert_eq!(stored.leaf.hosts, wanted().hosts);
    assert_eq!((stored.leaf.begins, stored.leaf.ends), (start() - hours(1), start() + days(7)));
    assert_eq!(stored.authorities[0].ends, start() + days(365));
    assert!(stored.signer() == Some(&stored.authorities[0]));
    assert!(next(&stored, start(), true).is_none());
}

#[test]
fn the_certificate_is_renewed_after_two_thirds_of_its_time_and_not_before() {
    let stored = first();
    let due = start() + days(7) * 2 / 3;
    assert!(next(&stored, due - SECOND, true).is_none());
    // Its authority is known, whatever has become of the bundle.
    let (change, renewed) = next(&stored, due, false).unwrap();
    assert_eq!(change, Change::Leaf);
    assert_eq!((renewed.leaf.ends, renewed.bundle()), (due + days(7), stored.bundle()));
    assert!(renewed.leaf_key != stored.leaf_key);
}

#[test]
fn a_new_authority_is_known_before_what_it_signs_and_the_old_one_stays_until_nothing_of_it_lives() {
    let due = start() + days(365) * 2 / 3;
    let old = settled(first(), due - SECOND);
    let (change, both) = next(&old, due, true).unwrap();
    assert_eq!(change, Change::Authority);
    assert_eq!(both.authorities.len(), 2);
    assert!(both.authorities[1] == old.authorities[0]);
    assert!(both.signer() == Some(&both.authorities[1]), "served is what everybody trusts");
    assert_eq!(both.leaf.ends, due + days(7), "the last that the old one signs lives as long as it can");

    // While the API server does not know it, nothing changes, not even for a certificate that is due.
    assert!(next(&both, due + days(6), false).is_none());
    let (change, changed) = next(&both, due + hours(1), true).unwrap();
    assert_eq!(change, Change::Leaf);
    assert!(changed.signer() == Some(&changed.authorities[0]));
    assert_eq!(changed.bundle(), both.bundle(), "a replica may still serve what the old one signed");

    assert!(next(&changed, due + days(7) * 2 / 3, true).is_none());
    let fresh = settled(changed, due + days(7) - SECOND);
    assert_eq!(fresh.authorities.len(), 2);
    let (change, alone) = next(&fresh, due + days(7), true).unwrap();
    assert_eq!(change, Change::Distrust);
    assert!(alone.authorities == fresh.authorities[..1]);
}

#[test]
fn a_certificate_that_has_ended_is_replaced_even_by_an_authority_that_nobody_knows() {
    let due = start() + days(365) * 2 / 3;
    let (_, both) = next(&settled(first(), due - hours(1)), due, true).unwrap();
    let (change, changed) = next(&both, due + days(7), false).unwrap();
    assert_eq!(change, Change::Leaf);
    assert!(changed.signer() == Some(&changed.authorities[0]));
}

#[test]
fn a_clock_that_is_set_forward_or_back_is_followed() {
    let stored = first();
    // Ten years ahead: all has ended.
    let ahead = settled(stored.clone(), start() + days(3650));
    assert!(ahead.leaf.is_fresh(start() + days(3650)));
    // Back again: what was made is not good yet, and what is made now need not wait for anything.
    let (change, back) = next(&ahead, start(), false).unwrap();
    assert_eq!(change, Change::Authority);
    assert!(back.leaf.is_fresh(start()) && back.signer() == Some(&back.authorities[0]));
    assert!(settled(back, start()).leaf.is_fresh(start()));
    // A clock that is less than an hour off harms nothing.
    assert!(next(&stored, start() - SignedDuration::from_mins(59), true).is_none());
    assert!(settled(stored, start() - days(2)).leaf.is_fresh(start() - days(2)));
}

#[test]
fn other_names_are_a_reason_for_another_certificate() {
    let other = Wanted { hosts: vec!["other".to_owned()], ..wanted() };
    let (change, next) = first().next(&other, start(), false).unwrap().unwrap();
    assert_eq!((change, next.leaf.hosts.as_slice()), (Change::Leaf, &other.hosts[..]));
}

#[test]
fn after_a_loss_there_is_a_new_authority_and_the_old_certificate_is_served_on() {
    let old = first();
    let lost = start() + days(1);
    let made = old.after_loss(&wanted(), lost).unwrap();
    assert!(made.authorities[0] != old.authorities[0] && made.authorities[1] == old.authorities[0]);
    assert!(made.signer() == Some(&old.authorities[0]) && made.authority_key != old.authority_key);
    // Lost again before that is known: the same is stored again.
    assert!(made.after_loss(&wanted(), lost).unwrap() == made);
    let changed = settled(made, lost);
    assert!(changed.signer() == Some(&changed.authorities[0]));
    // Nothing is kept of an old one that has ended.
    let ended = old.after_loss(&wanted(), start() + days(400)).unwrap();
    assert!(ended.leaf.is_fresh(start() + days(400)) && ended.signer() == Some(&ended.authorities[0]));
}

#[test]
fn losses_without_end_do_not_make_the_bundle_grow_without_end() {
    let mut stored = first();
    for _ in 0..20 {
        stored = settled(stored.after_loss(&wanted(), start()).unwrap(), start());
    }
    assert_eq!(stored.authorities.len(), MOST_AUTHORITIES);
}

#[test]
fn another_authority_that_comes_between_does_not_drop_the_one_of_what_is_served() {
    let (served, came) = (first(), first());
    let both = came.trusting(&served, start()).unwrap();
    assert!(both.authorities == [came.authorities.clone(), served.authorities.clone()].concat());
    assert!(both.leaf == came.leaf && both.trusting(&served, start()).is_none());
    assert!(came.trusting(&served, start() + days(7)).is_none(), "what was served has ended");
}

#[test]
fn a_spoilt_secret_says_what_is_wrong_with_it() {
    let (good, other) = (first(), first());
    let spoil = |key: &str, value: Option<Vec<u8>>| {
        let mut data = good.to_data();
        match value {
            Some(value) => data.insert(key.to_owned(), ByteString(value)),
            None => data.remove(key),
        };
        format!("{:#}", Stored::from_data(&data).err().unwrap())
    };
    let others = other.to_data();
    let from_other = |key: &str| Some(others[key].0.clone());
    assert_eq!(spoil("tls.crt", None), "it has no tls.crt");
    assert_eq!(spoil("ca.crt", Some(vec![])), "its ca.crt is empty");
    assert!(spoil("ca.crt", Some(vec![0xff])).starts_with("its ca.crt is not text"));
    assert!(spoil("tls.crt", Some(b"x".to_vec())).starts_with("its tls.crt: "));
    assert!(spoil("tls.key", Some(b"x".to_vec())).starts_with("its tls.key: there is no usable key"));
    assert_eq!(spoil("tls.key", from_other("tls.key")), "its tls.key: the key is of another certificate");
    assert_eq!(spoil("ca.key", from_other("ca.key")), "its ca.key: the key is of another certificate");
    let mut foreign = good.to_data();
    foreign.extend(["ca.crt", "ca.key"].map(|key| (key.to_owned(), others[key].clone())));
    let why = Stored::from_data(&foreign).err().unwrap().to_string();
    assert_eq!(why, "no authority of its ca.crt has signed its tls.crt");
}

/// A Secret that was restored from an old backup, say: its authority is known, and its certificate has ended.
#[test]
fn a_certificate_that_has_ended_or_is_unknown_does_not_replace_a_good_one() {
    let (served, now) = (first(), start());
    let (leaf, leaf_key) =
        signed::leaf(&served.authorities[0], &served.authority_key, &wanted().hosts, now - days(2), days(1)).unwrap();
    let ended = Stored { leaf, leaf_key, ..served.clone() };
    let renewed = served.with_leaf(&wanted(), now).unwrap();
    assert!(!ended.replaces(Some(&served), true, now));
    assert!(renewed.replaces(Some(&served), true, now));
    assert!(!renewed.replaces(Some(&served), false, now), "the API server would not trust it");
    assert!(ended.replaces(None, false, now), "better than nothing");
    assert!(ended.replaces(Some(&served), true, now + days(7)), "that has ended, too");
    assert!(matches!(next(&ended, now, false), Some((Change::Leaf, _))), "and it is replaced at once");
}
