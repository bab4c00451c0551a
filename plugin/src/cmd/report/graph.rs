//! The picture: one drawing for each symphony and for each composition, so that pages break between them, and so that a
//! browser draws only those that are in sight. The tables say the same in words.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::contents::Contents;
use super::html::Text;
use super::trees::{self, Branch, Home, Leaf, Root, Stem, Tree};
use crate::finding::OwnerState;
use crate::item::composition::UNKNOWN;
use crate::item::first_and_more;

/// The width of all drawings.
const WIDTH: usize = 1160;
/// Where the line from the symphony runs down.
const TRUNK: usize = 14;
/// A box of a symphony or a composition. Those of symphonies begin at the left, those of compositions at `STEM`.
const BOX: usize = 300;
const BOX_HEIGHT: usize = 38;
const STEM: usize = 34;
/// Where the line to the rows of slices runs down.
const FORK: usize = STEM + BOX + 16;
/// Slices, in rows of `COLUMNS`.
const LEAVES: usize = FORK + 16;
const COLUMNS: usize = 5;
const LEAF: usize = (WIDTH - LEAVES) / COLUMNS;
const ROW: usize = 24;
/// The middle of a box, and of the first row of slices.
const MIDDLE: usize = 2 + BOX_HEIGHT / 2;
/// Characters that fit, at the width that a digit of the font has.
const BOX_TEXT: usize = 42;
const LEAF_TEXT: usize = 20;

/// The drawings, namespace by namespace.
pub(super) fn of(contents: &Contents<'_>) -> String {
    let homes = trees::of(contents);
    if homes.is_empty() {
        return "<p>Nothing was found.</p>\n".to_owned();
    }
    homes.iter().map(|home| namespace(home, contents)).collect()
}

fn namespace(home: &Home<'_>, contents: &Contents<'_>) -> String {
    let trees: String = home.trees.iter().map(|one| tree(one, contents)).collect();
    format!("<section class=\"home\"><h3>Namespace {}</h3>\n{trees}</section>\n", Text(home.name))
}

fn tree(Tree { symphony, branches }: &Tree<'_>, contents: &Contents<'_>) -> String {
    let mut drawn = String::from("<div class=\"tree\">");
    if let Some(root) = symphony {
        drawn += &root_drawing(root, !branches.is_empty());
    }
    for (index, branch) in branches.iter().enumerate() {
        let trunk = symphony.as_ref().map(|_| index + 1 == branches.len());
        drawn += &branch_drawing(branch, trunk, contents);
    }
    drawn + "</div>\n"
}

/// `aria-hidden`: whoever cannot see it has the tables.
fn open(height: usize, class: &str, id: Option<usize>) -> String {
    let id = id.map_or_else(String::new, |id| format!(" data-c=\"{id}\""));
    format!(
        "<svg class=\"{class}\"{id} width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         aria-hidden=\"true\">"
    )
}

fn root_drawing(Root { name, state }: &Root<'_>, has_branches: bool) -> String {
    let height = BOX_HEIGHT + 6;
    let state = state.unwrap_or("not seen");
    let trunk = if has_branches { format!("<path d=\"M{TRUNK} {BOX_HEIGHT}V{height}\"/>") } else { String::new() };
    open(height, "root", None) + &trunk + &boxed(1, ("Symphony", name), state, "symphony") + "</svg>\n"
}

/// `trunk` says of a composition below a symphony whether it is the last one.
fn branch_drawing(Branch { stem, leaves }: &Branch<'_>, trunk: Option<bool>, contents: &Contents<'_>) -> String {
    let rows = leaves.len().div_ceil(COLUMNS);
    let row = |index: usize| MIDDLE + index * ROW;
    let height = row(rows.saturating_sub(1)) + BOX_HEIGHT / 2 + 4;
    let (id, drawing) = match stem {
        Stem::Composition(id) => (Some(*id), composition(*id, contents)),
        Stem::Absent(name, OwnerState::Gone) => (None, boxed(STEM, ("Composition", name), "does not exist", "absent")),
        Stem::Absent(name, _) => (None, boxed(STEM, ("Composition", name), "could not be read", "absent")),
        Stem::Unowned => (None, boxed(STEM, ("No composition", ""), "these slices have no owner", "absent")),
    };
    let mut lines = match trunk {
        None => String::new(),
        Some(last) => {
            let end = if last { MIDDLE } else { height };
            format!("M{TRUNK} 0V{end}M{TRUNK} {MIDDLE}H{STEM}")
        }
    };
    if rows > 0 {
        lines += &format!("M{} {MIDDLE}H{LEAVES}M{FORK} {MIDDLE}V{}", STEM + BOX, row(rows - 1));
        lines.extend((1..rows).map(|index| format!("M{FORK} {}H{LEAVES}", row(index))));
    }
    let mut drawn = open(height, "branch", id);
    drawn += &format!("<path d=\"{lines}\"/>{drawing}");
    for (index, one) in leaves.iter().enumerate() {
        drawn += &leaf(one, LEAVES + index % COLUMNS * LEAF, row(index / COLUMNS), contents);
    }
    drawn + "</svg>\n"
}

fn composition(id: usize, contents: &Contents<'_>) -> String {
    let found = &contents.compositions[id];
    let state = found.state().map_or(UNKNOWN, |state| state.as_str());
    let codes: Vec<&str> = found.blockers.iter().map(|blocker| blocker.code()).collect();
    let blocked = first_and_more(&codes).map_or_else(String::new, |codes| format!(" · {codes}"));
    let stuck = found.is_stuck(contents.now, contents.patience);
    let (mark, class) = if stuck { ("! ", "composition stuck") } else { ("", "composition") };
    let drawing = boxed(STEM, ("Composition", found.name), &format!("{mark}{state}{blocked}"), class);
    format!("<a href=\"#c{id}\" tabindex=\"-1\">{drawing}</a>")
}

/// Two lines in a box: kind and name, and the state.
fn boxed(x: usize, (kind, name): (&str, &str), state: &str, class: &str) -> String {
    let text = x + 8;
    let shown = cut(name, BOX_TEXT - kind.len());
    format!(
        "<g class=\"{class}\"><title>{kind} {}: {}</title><rect x=\"{x}\" y=\"2\" width=\"{BOX}\" \
         height=\"{BOX_HEIGHT}\" rx=\"4\"/><text x=\"{text}\" y=\"17\"><tspan class=\"kind\">{kind}</tspan> {}</text>\
         <text x=\"{text}\" y=\"33\">{}</text></g>",
        Text(name),
        Text(state),
        Text(&shown),
        Text(&cut(state, BOX_TEXT)),
    )
}

/// A slice: the first letter of its verdict, which no other has, and its name.
fn leaf(leaf: &Leaf<'_>, x: usize, middle: usize, contents: &Contents<'_>) -> String {
    let (width, height) = (LEAF - 4, ROW - 4);
    let (y, text_x, text_y) = (middle - height / 2, x + 6, middle + 4);
    let drawing = |letter: &str, name: &str, title: &str| {
        format!(
            "<title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>\
             <text x=\"{text_x}\" y=\"{text_y}\">{letter} {}</text>",
            Text(title),
            Text(&cut(name, LEAF_TEXT)),
        )
    };
    match leaf {
        Leaf::Missing(name) => {
            let drawing = drawing("-", name, &format!("{name}: the synthesis lists it, and it does not exist"));
            format!("<g class=\"leaf Missing\">{drawing}</g>")
        }
        Leaf::Unread(name) => {
            let drawing = drawing("U", name, &format!("{name}: it could not be read"));
            format!("<g class=\"leaf Unknown\">{drawing}</g>")
        }
        Leaf::Slice(id) => {
            let slice = &contents.slices[*id];
            let (name, verdict) = (&slice.seen.metadata().name, slice.judgement.verdict.as_str());
            let stuck = slice.is_stuck(contents.now, contents.patience);
            let (mark, class, said) = if stuck { ("!", " stuck", ", stuck") } else { ("", "", "") };
            let title = format!("{name}: {verdict} ({}){said}", slice.judgement.reason.as_str());
            let letter = format!("{}{mark}", &verdict[..1]);
            let drawing = drawing(&letter, name, &title);
            format!("<a class=\"leaf {verdict}{class}\" href=\"#s{id}\" tabindex=\"-1\">{drawing}</a>")
        }
    }
}

/// As much as fits. Names of slices differ at their ends, so that more of the end is kept.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let within = |characters: &mut dyn Iterator<Item = char>, columns: usize| {
        let mut left = columns;
        let fits = characters.take_while(|c| {
            let width = c.width().unwrap_or(1);
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        });
        fits.collect::<String>()
    };
    let head = within(&mut text.chars(), (columns - 1) / 3);
    let tail = within(&mut text.chars().rev(), columns - 1 - head.width());
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use eno_shared::Verdict;

    use super::*;

    #[test]
    fn names_keep_their_ends() {
        assert_eq!(cut("short", 20), "short");
        assert_eq!(cut("a-composition-of-some-length-7k2xq", 20), "a-comp…-length-7k2xq");
        assert_eq!(cut("错误错误错误", 7), "错…错误");
    }

    #[test]
    fn the_letter_tells_the_verdict() {
        let mut letters = Verdict::ALL.map(|verdict| &verdict.as_str()[..1]).to_vec();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), Verdict::ALL.len());
    }
}
