//! Pages of the documentation: people write what they say, and what was measured comes from a run.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// Puts a text in its place in a page, between these two lines.
///
/// # Errors
/// The page has no such place, or cannot be written.
pub fn put(page: &str, [begin, end]: [&str; 2], new: &str) -> Result<()> {
    let path = workspace::root().join(page);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let placed = placed(&text, [begin, end], new).with_context(|| page.to_owned())?;
    fs::write(&path, placed).with_context(|| format!("writing {}", path.display()))
}

fn placed(text: &str, [begin, end]: [&str; 2], new: &str) -> Result<String> {
    let [begin, end] = [begin, end].map(|line| format!("{line}\n"));
    let places = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = places.with_context(|| format!("no place {begin}…{end}"))?;
    ensure!(!after.contains(&begin), "two places {begin}");
    Ok(format!("{before}{begin}{new}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_replaces_the_one_before_and_nothing_else() {
        let text = "head\n<!-- a -->\nold\n<!-- end of a -->\n\ntail\n";
        let new = placed(text, ["<!-- a -->", "<!-- end of a -->"], "new\n").unwrap();
        assert_eq!(new, "head\n<!-- a -->\nnew\n<!-- end of a -->\n\ntail\n");
        assert!(placed(text, ["<!-- b -->", "<!-- end of b -->"], "").unwrap_err().to_string().contains("no place"));
    }
}
