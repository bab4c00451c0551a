use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::super::why::target::Kind;
use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A slice of team-a, owned by a composition of the same first letter.
pub(in crate::cmd::top) fn slice(
    name: &str,
    verdict: &str,
    reason: &str,
    waiting: Option<i64>,
) -> (Place, Option<Row>) {
    let place = ("team-a".to_owned(), name.to_owned());
    let owner = name.split('-').next().unwrap();
    let blocked = if waiting.is_some() { "ReconcileError,+1" } else { "<none>" };
    let cells = ["team-a", name, owner, verdict, reason, blocked, "", ""].map(str::to_owned).to_vec();
    let row = Row {
        kind: Kind::Slice,
        composition: Some(("team-a".to_owned(), owner.to_owned())),
        place: place.clone(),
        stuck: waiting.is_some(),
        waiting_since: waiting.map(at),
        created: Some(at(0)),
        message: format!("{reason}, as a sentence"),
        cells,
    };
    (place, Some(row))
}

pub(in crate::cmd::top) fn model() -> Model {
    let scope = Scope { context: "prod-weu".to_owned(), namespace: Some("team-a".to_owned()) };
    let mut model = Model::new(scope, at(10_000), Link::Live);
    model.update(Event::Turned(
        Tab::Slices,
        vec![
            slice("web-aa", "Keep", "ReferencedByCurrent", None),
            slice("legacy-2h8vd", "Hold", "NeededForDeletion", Some(8500)),
            slice("web-old", "Collect", "Unreferenced", None),
        ],
    ));
    model.update(Event::Looked(Webhook {
        word: "ok".to_owned(),
        alarming: false,
        lines: vec!["√ all is well".to_owned()],
    }));
    model.tab = Tab::Slices;
    model
}

pub(in crate::cmd::top) fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Types keys one by one. Returns what the last wants done.
pub(in crate::cmd::top) fn press(model: &mut Model, keys: &str) -> Option<Effect> {
    let code = |c| match c {
        '\n' => KeyCode::Enter,
        '\u{1b}' => KeyCode::Esc,
        '\u{8}' => KeyCode::Backspace,
        '\u{3}' => KeyCode::Char('c'),
        c => KeyCode::Char(c),
    };
    let mut last = None;
    for c in keys.chars() {
        let modifiers = if c == '\u{3}' { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        last = model.update(Event::Key(KeyEvent::new(code(c), modifiers)));
    }
    last
}

fn chosen(model: &Model) -> &str {
    &model.chosen().unwrap().place.1
}

fn command(effect: Option<Effect>) -> String {
    match effect {
        Some(Effect::Act(action)) => action.shown(&[]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_cursor_begins_at_what_is_stuck() {
    assert_eq!(chosen(&model()), "legacy-2h8vd");
}

#[test]
fn keys_begin_commands_and_write_nothing_themselves() {
    let mut model = model();
    assert_eq!(command(press(&mut model, "r")), "kubectl eno release resourceslice/legacy-2h8vd -n team-a");
    assert!(matches!(model.pages.last(), Some(Page::Talk(_))));
    // While it works, keys do nothing: what is typed before the question is no answer to it.
    assert_eq!(press(&mut model, "y\nrcs\u{1b}"), None);
    model.update(Event::Asked(Question::Type { what: "the name", word: "legacy-2h8vd".to_owned() }));
    assert_eq!(press(&mut model, "\n"), Some(Effect::Answer(false)));
}

#[test]
fn only_the_demanded_answer_is_yes() {
    for (typed, yes) in
        [("legacy\n", true), ("y\n", false), ("legacx\u{8}y\n", true), ("legacy\u{1b}", false), ("\u{3}", false)]
    {
        let mut model = model();
        press(&mut model, "R");
        model.update(Event::Asked(Question::Type { what: "the name", word: "legacy".to_owned() }));
        assert_eq!(press(&mut model, typed), Some(Effect::Answer(yes)), "{typed:?}");
    }
}

#[test]
fn what_a_command_said_last_is_shown_over_the_list() {
    let mut model = model();
    press(&mut model, "s");
    model.update(Event::Said("Context: prod".to_owned()));
    model.update(Event::Ended(Err("error: refused: it is still needed\n".to_owned())));
    assert_eq!(press(&mut model, "\n"), None);
    assert!(model.pages.is_empty());
    assert_eq!(model.notice, "error: refused: it is still needed");
    press(&mut model, "j");
    assert_eq!(model.notice, "");
}

#[test]
fn ctrl_c_stops_a_command_and_then_does_not_wait_for_it() {
    let mut model = model();
    press(&mut model, "c");
    assert_eq!(press(&mut model, "\u{3}"), Some(Effect::Interrupt));
    assert_eq!(press(&mut model, "\u{3}"), Some(Effect::Abandon));
    assert!(model.pages.is_empty() && model.notice.contains("not waited for"));
    assert_eq!(press(&mut model, "\u{3}"), Some(Effect::Quit));
}

#[test]
fn says_why_a_key_does_nothing() {
    let mut model = model();
    model.link = Link::Offline;
    assert_eq!(press(&mut model, "r"), None);
    assert!(model.notice.contains("files are only read") && model.pages.is_empty());
}

#[test]
fn filters_as_one_types_and_shows_all_after_esc() {
    let mut model = model();
    press(&mut model, "/web");
    assert_eq!(model.list(Tab::Slices).unwrap().shown().len(), 2);
    // q is a letter here.
    press(&mut model, "q\u{8} old\n");
    assert_eq!(chosen(&model), "web-old");
    press(&mut model, "\u{1b}");
    assert_eq!(model.list(Tab::Slices).unwrap().shown().len(), 3);
}

#[test]
fn drills_down_and_comes_back_step_by_step() {
    let mut model = model();
    let Some(Effect::Explain(subject)) = press(&mut model, "\n") else { panic!("nothing is explained") };
    assert_eq!(subject.place.1, "legacy-2h8vd");
    model.update(Event::Explained(subject.clone(), Ok(vec!["HOLD".to_owned()])));
    assert_eq!(model.pages[0].pane().lines(), ["HOLD"]);
    // What changes meanwhile is read again.
    let turn = Event::Turned(Tab::Slices, vec![slice("web-b", "Keep", "InFlight", None)]);
    assert_eq!(model.update(turn), Some(Effect::Explain(subject)));
    assert_eq!(command(press(&mut model, "r")), "kubectl eno release resourceslice/legacy-2h8vd -n team-a");
    model.update(Event::Ended(Ok(())));
    press(&mut model, "\n?");
    assert_eq!(model.pages.len(), 2);
    assert_eq!(press(&mut model, "qq"), None);
    assert!(model.pages.is_empty());
    assert_eq!(press(&mut model, "q"), Some(Effect::Quit));
}

#[test]
fn tabs_go_round() {
    let mut model = model();
    for (code, tab) in [
        (KeyCode::Tab, Tab::Pods),
        (KeyCode::Tab, Tab::Webhook),
        (KeyCode::Tab, Tab::Compositions),
        (KeyCode::BackTab, Tab::Webhook),
        (KeyCode::Char('2'), Tab::Slices),
    ] {
        model.update(key(code));
        assert_eq!(model.tab, tab);
    }
    press(&mut model, "4r/");
    assert!(model.pages.is_empty() && !model.filter.1);
}

#[test]
fn words_do_what_keys_do() {
    let mut model = model();
    let typed = |model: &mut Model, line: &str| model.update(Event::Typed(line.to_owned()));
    assert_eq!(
        command(typed(&mut model, "release web-old --force")),
        "kubectl eno release resourceslice/web-old --force -n team-a"
    );
    assert_eq!(typed(&mut model, "quit"), None);
    assert!(model.notice.contains("a command is at work"), "{}", model.notice);
    model.update(Event::Asked(Question::Yes));
    assert_eq!(typed(&mut model, "y"), Some(Effect::Answer(true)));
    assert_eq!(typed(&mut model, "stop"), Some(Effect::Interrupt));
    model.update(Event::Ended(Ok(())));
    for (line, says) in [
        ("why nobody", "no \"nobody\" among the slices"),
        ("release other/web-old", "no \"other/web-old\""),
        ("dance", "no such word: dance"),
    ] {
        assert_eq!(typed(&mut model, line), None);
        assert!(model.notice.contains(says), "{}", model.notice);
    }
    assert!(matches!(typed(&mut model, "why team-a/web-aa"), Some(Effect::Explain(_))));
    typed(&mut model, "filter stuck");
    assert_eq!(model.list(Tab::Slices).unwrap().shown().len(), 1);
    assert_eq!(typed(&mut model, "quit"), Some(Effect::Quit));
}
