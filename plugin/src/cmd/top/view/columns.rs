//! Which columns have room, and how wide each is.

use super::super::row::{Head, Shows};

/// A column that is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its place among the heads.
    pub index: usize,
    pub width: usize,
}

/// Names are not shortened further while there are columns that can go.
const READABLE: usize = 14;
/// And never further than this.
const SHORTEST: usize = 6;

/// Spaces between columns.
pub(super) fn gap(room: usize) -> usize {
    if room < super::NARROW { 1 } else { 2 }
}

/// Fits columns into so much room. `namespaces` says whether there are several.
pub(super) fn fit(heads: &[Head], widths: &[usize], room: usize, namespaces: bool) -> Vec<Column> {
    let natural = |index: usize| widths.get(index).copied().unwrap_or_default().max(heads[index].text.len());
    let least = |index: usize, name: usize| match heads[index].shows {
        Shows::Name => natural(index).min(name),
        Shows::Word | Shows::State | Shows::Waiting | Shows::Age => natural(index),
    };
    let mut shown: Vec<usize> =
        (0..heads.len()).filter(|&index| namespaces || heads[index].text != "NAMESPACE").collect();
    let taken = |shown: &[usize], name: usize| {
        shown.iter().map(|&index| least(index, name)).sum::<usize>() + shown.len().saturating_sub(1) * gap(room)
    };
    while taken(&shown, READABLE) > room {
        let expendable = shown.iter().copied().filter(|&index| heads[index].expendable > 0);
        let Some(least_needed) = expendable.max_by_key(|&index| heads[index].expendable) else { break };
        shown.retain(|&index| index != least_needed);
    }
    let name = if taken(&shown, READABLE) <= room { READABLE } else { SHORTEST };
    let mut spare = room.saturating_sub(taken(&shown, name));
    let mut columns: Vec<Column> = shown.into_iter().map(|index| Column { index, width: least(index, name) }).collect();
    // What is left goes to the names that lack it, evenly.
    while spare > 0 {
        let lacking = columns.iter_mut().filter(|column| column.width < natural(column.index));
        let Some(shortest) = lacking.min_by_key(|column| column.width) else { break };
        shortest.width += 1;
        spare -= 1;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::super::super::row::SLICES;
    use super::*;

    /// As wide as those of a usual cluster.
    const WIDTHS: [usize; 8] = [12, 30, 20, 7, 19, 14, 6, 6];

    fn heads(room: usize, namespaces: bool) -> Vec<&'static str> {
        fit(&SLICES, &WIDTHS, room, namespaces).iter().map(|column| SLICES[column.index].text).collect()
    }

    #[test]
    fn the_less_room_the_fewer_columns() {
        assert_eq!(heads(200, true).len(), 8);
        assert_eq!(heads(78, true), ["NAMESPACE", "NAME", "VERDICT", "REASON", "WAITING", "AGE"]);
        assert_eq!(heads(78, false), ["NAME", "COMPOSITION", "VERDICT", "REASON", "WAITING", "AGE"]);
        assert_eq!(heads(38, true), ["NAME", "VERDICT", "WAITING"]);
    }

    #[test]
    fn columns_never_take_more_than_there_is() {
        for room in 24..200 {
            let columns = fit(&SLICES, &WIDTHS, room, true);
            let taken = columns.iter().map(|column| column.width).sum::<usize>() + (columns.len() - 1) * gap(room);
            assert!(taken <= room, "{room}: {columns:?}");
        }
        assert_eq!(fit(&SLICES, &WIDTHS, 200, true).iter().map(|column| column.width).max(), Some(30));
    }
}
