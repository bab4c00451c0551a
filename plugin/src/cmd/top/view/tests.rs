use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::super::model::tests::{key, model, press, slice};
use super::super::model::{Event, Model, Webhook};
use super::*;

/// What a terminal of that size shows.
fn shown(model: &mut Model, width: u16, height: u16, colored: bool) -> Buffer {
    model.update(Event::Resized(width, height));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            draw(model, colored, frame.buffer_mut());
        })
        .unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let Rect { width, height, .. } = buffer.area;
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

fn screen(model: &mut Model, width: u16, height: u16) -> String {
    text(&shown(model, width, height, true))
}

#[test]
fn shows_all_on_80_columns() {
    let expected = "\
kubectl eno top   prod-weu   team-a                                         live
1 compositions 0  [2 slices 3, 1 stuck]  3 pods 0  4 webhook: ok
  NAME          COMPOSITION  VERDICT  REASON               WAITING  AGE
>!legacy-2h8vd  legacy       Hold     NeededForDeletion    25m      166m
  web-aa        web          Keep     ReferencedByCurrent           166m
  web-old       web          Collect  Unreferenced                  166m



NeededForDeletion, as a sentence
? help  Enter why  / filter  o order  c cleanup  r release  s resynth  q quit
";
    assert_eq!(screen(&mut model(), 80, 11), expected);
}

#[test]
fn shows_what_matters_on_40_by_12() {
    let expected = "\
prod-weu   team-a                   live
1  [2 slices 3 !1]  3  4
  NAME         VERDICT WAITING
>!legacy-2h8vd Hold    25m
  web-aa       Keep
  web-old      Collect




NeededForDeletion, as a sentence
? help  Enter why  / filter  q quit
";
    assert_eq!(screen(&mut model(), 40, 12), expected);
}

#[test]
fn nothing_is_told_by_colour_alone() {
    let mut model = model();
    model.update(Event::Linked(Link::Stale { since: model.now, why: "connection refused".to_owned() }));
    model.update(Event::Looked(Webhook { word: "missing".to_owned(), alarming: true, lines: vec![] }));
    let colored = shown(&mut model, 80, 24, true);
    let plain = shown(&mut model, 80, 24, false);
    assert_eq!(text(&colored), text(&plain));
    assert!(colored.content().iter().any(|cell| cell.fg != Color::Reset));
    assert!(plain.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    let text = text(&plain);
    for word in ["STALE 0s", "as of 0s ago: connection refused", "4 webhook: missing", ">!legacy-2h8vd"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // Where there is no room for words, marks say it.
    assert!(screen(&mut model, 40, 12).contains("4!"));
}

#[test]
fn every_size_can_be_drawn() {
    let mut model = model();
    for keys in ["", "?", "\u{1b}\n", "\u{1b}/web", "\n4", "1", "2R"] {
        press(&mut model, keys);
        for (width, height) in [(1, 1), (3, 2), (20, 4), (40, 12), (80, 24), (300, 100)] {
            screen(&mut model, width, height);
        }
    }
}

#[test]
fn the_chosen_row_is_on_the_screen_whatever_its_size() {
    let mut model = model();
    let many = (0..100).map(|index| slice(&format!("s-{index:03}"), "Keep", "InFlight", None)).collect();
    model.update(Event::Turned(Tab::Slices, many));
    press(&mut model, "G");
    for (width, height) in [(80, 24), (40, 12), (80, 50), (40, 6)] {
        let shown = screen(&mut model, width, height);
        let chosen = shown.lines().find(|line| line.starts_with('>'));
        assert!(chosen.is_some_and(|line| line.contains("web-old")), "{width} × {height}:\n{shown}");
    }
}

#[test]
fn a_question_stands_in_the_last_line_and_the_cursor_behind_it() {
    let mut model = model();
    press(&mut model, "r");
    for line in 0..50 {
        model.update(Event::Said(format!("line {line}")));
    }
    let question = crate::confirm::Question::Type { what: "the name", word: "legacy-2h8vd".to_owned() };
    model.update(Event::Asked(question));
    press(&mut model, "leg");
    model.update(Event::Resized(80, 24));
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    let cursor = draw(&model, true, &mut buffer);
    let lines: Vec<String> = text(&buffer).lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "kubectl eno release resourceslice/legacy-2h8vd -n team-a      28 above   Esc: no");
    assert_eq!(lines[22], "line 49");
    assert_eq!(lines[23], "Type the name to confirm (legacy-2h8vd): leg");
    assert_eq!(cursor, Some((44, 23)));
    assert!(screen(&mut model, 66, 12).starts_with("release resourceslice/legacy-2h8vd -n team-a"));
    // It is broken where it does not fit, and still whole.
    let narrow = screen(&mut model, 20, 12).replace('\n', " ");
    assert!(narrow.contains("Type the name to confirm (legacy-2h8vd): leg"), "{narrow}");
}

#[test]
fn help_names_every_key_and_fits() {
    let mut model = model();
    press(&mut model, "?");
    let shown = screen(&mut model, 80, 24);
    for binding in BINDINGS {
        assert!(shown.contains(&format!("  {} ", binding.keys)), "{}:\n{shown}", binding.keys);
    }
    assert!(!shown.contains("lines below"), "{shown}");
    let narrow = screen(&mut model, 40, 12);
    assert!(narrow.contains("lines below"), "{narrow}");
    model.update(key(crossterm::event::KeyCode::End));
    assert!(screen(&mut model, 40, 12).contains("lines above"));
}

#[test]
fn what_the_cluster_says_cannot_speak_to_the_terminal() {
    let mut model = model();
    let mut row = slice("evil", "Keep", "InFlight", None);
    row.1.as_mut().unwrap().cells[1] = "e\u{1b}[31mvil".to_owned();
    model.update(Event::Turned(Tab::Slices, vec![row]));
    model.update(Event::Warned("a\u{1b}[2J".to_owned()));
    assert!(!screen(&mut model, 80, 24).contains('\u{1b}'));
}
