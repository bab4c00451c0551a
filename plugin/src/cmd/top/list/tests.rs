use jiff::Timestamp;

use super::super::super::why::target::Kind;
use super::super::row::SLICES;
use super::*;

fn row(name: &str, verdict: &str, waiting: Option<i64>, stuck: bool) -> (Place, Option<Row>) {
    let place = ("team-a".to_owned(), name.to_owned());
    let cells = ["team-a", name, "web", verdict, "Reason", "<none>", "", ""].map(str::to_owned).to_vec();
    let at = |second| Timestamp::from_second(second).unwrap();
    let row = Row {
        kind: Kind::Slice,
        place: place.clone(),
        composition: None,
        stuck,
        waiting_since: waiting.map(at),
        created: Some(at(name.len() as i64)),
        message: String::new(),
        cells,
    };
    (place, Some(row))
}

fn list() -> List {
    let mut list = List::new(&SLICES);
    list.turn([
        row("a", "Keep", None, false),
        row("bb", "Hold", Some(200), true),
        row("ccc", "Collect", Some(300), false),
        row("dddd", "Hold", Some(100), true),
        row("eeeee", "Keep", None, false),
    ]);
    list
}

fn names(list: &List) -> Vec<&str> {
    list.shown().iter().map(|row| row.place.1.as_str()).collect()
}

#[test]
fn what_has_been_stuck_longest_comes_first() {
    assert_eq!(names(&list()), ["dddd", "bb", "ccc", "a", "eeeee"]);
}

#[test]
fn orders_follow_each_other_and_can_be_reversed() {
    let mut list = list();
    list.next_order();
    assert_eq!(names(&list), ["a", "bb", "ccc", "dddd", "eeeee"]);
    list.next_order();
    assert_eq!(names(&list), ["ccc", "bb", "dddd", "a", "eeeee"]);
    list.next_order();
    list.reverse();
    assert_eq!(names(&list), ["eeeee", "dddd", "ccc", "bb", "a"]);
    list.next_order();
    assert_eq!(list.order(), (Order::Stuck, false));
}

#[test]
fn filters_by_all_words_in_any_column() {
    let mut list = list();
    for (filter, left) in [("HOLD", &["dddd", "bb"][..]), ("hold bb", &["bb"]), ("stuck", &["dddd", "bb"]), ("x", &[])]
    {
        list.filter(filter);
        assert_eq!(names(&list), left, "{filter}");
    }
    assert_eq!(list.counts(), (5, 2));
    assert!(list.chosen().is_none());
    list.filter("");
    assert_eq!(names(&list).len(), 5);
}

#[test]
fn the_chosen_row_stays_chosen_where_it_moves() {
    let mut list = list();
    list.choose(4);
    list.turn([row("eeeee", "Hold", Some(1), true)]);
    assert_eq!(names(&list)[0], "eeeee");
    assert_eq!(list.chosen().unwrap().place.1, "eeeee");
}

#[test]
fn what_goes_leaves_the_cursor_in_its_place() {
    let mut list = list();
    list.choose(1);
    list.turn([(("team-a".to_owned(), "bb".to_owned()), None)]);
    assert_eq!(list.chosen().unwrap().place.1, "ccc");
    list.choose(9);
    assert_eq!(list.chosen().unwrap().place.1, "eeeee");
    list.step(-9);
    assert_eq!(list.chosen().unwrap().place.1, "dddd");
}

#[test]
fn scrolls_no_more_than_it_must_and_leaves_no_room_empty() {
    let mut list = list();
    let on_screen = |list: &List| list.visible(2).map(|(row, _)| row.place.1.clone()).collect::<Vec<_>>();
    list.choose(2);
    list.scroll(2);
    assert_eq!(on_screen(&list), ["bb", "ccc"]);
    list.choose(1);
    list.scroll(2);
    assert_eq!(on_screen(&list), ["bb", "ccc"]);
    list.choose(4);
    list.scroll(2);
    list.turn([(("team-a".to_owned(), "a".to_owned()), None)]);
    list.scroll(4);
    assert_eq!(list.visible(4).count(), 4);
}
