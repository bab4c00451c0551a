//! Text that stays text. All that comes from a cluster, or from a dump of anybody's, goes through here.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use crate::age;
use crate::output::table::sanitized;

/// Shown as it is, within an element or a quoted attribute.
pub(super) struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.0.split('\n').enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            // Control characters and those that turn the direction of writing are made visible, as on a terminal.
            for c in sanitized(line.trim_end_matches('\r')).chars() {
                match c {
                    '&' => f.write_str("&amp;")?,
                    '<' => f.write_str("&lt;")?,
                    '>' => f.write_str("&gt;")?,
                    '"' => f.write_str("&quot;")?,
                    '\'' => f.write_str("&#39;")?,
                    c => fmt::Write::write_char(f, c)?,
                }
            }
        }
        Ok(())
    }
}

/// A moment, and how long ago it is; nothing where there is none.
pub(super) struct Since(pub Option<Timestamp>, pub Timestamp);

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Since(Some(since), now) = self else { return Ok(()) };
        let since_second = seconds(*since);
        let age = age(Some(*since), *now);
        write!(f, "<time datetime=\"{since_second}\" title=\"{since_second}\">{age}</time>")
    }
}

/// As the column AGE shows it.
pub(super) fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    Text(&age::age(since, now)).to_string()
}

/// To the second: what objects carry.
pub(super) fn seconds(moment: Timestamp) -> Timestamp {
    moment.round(jiff::Unit::Second).unwrap_or(moment)
}

/// A duration as ages are shown.
pub(super) fn duration(duration: SignedDuration) -> String {
    age(Some(Timestamp::UNIX_EPOCH), Timestamp::UNIX_EPOCH.saturating_add(duration).unwrap_or(Timestamp::MAX))
}

/// `1 slice`, `2 slices`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// `5,000`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let hostile = "\"><script>alert('x')</script>&amp;";
        let shown = "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;";
        assert_eq!(Text(hostile).to_string(), shown);
        assert_eq!(Text("a\u{202e}b\u{1b}[1m").to_string(), "a\\u{202e}b^[[1m");
        assert_eq!(Text("first\r\nsecond").to_string(), "first\nsecond");
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2].map(|number| count(number, "slice")), ["0 slices", "1 slice", "2 slices"]);
    }
}
