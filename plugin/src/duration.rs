//! Durations as Go writes them (`1h2m`, `1.5s`), and days (`7d`).

use std::time::Duration;

/// Reads a duration. `0` needs no unit.
///
/// # Errors
/// Says what was expected.
pub fn parse(text: &str) -> Result<Duration, String> {
    let malformed = || format!("{text:?} is not a duration such as 90s, 5m, 1h30m or 7d");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let number = &rest[..rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(malformed)?];
        rest = &rest[number.len()..];
        let unit = &rest[..rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len())];
        rest = &rest[unit.len()..];
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(malformed()),
        };
        let number: f64 = number.parse().map_err(|_| malformed())?;
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| malformed())?;
        total = total.checked_add(part).ok_or_else(malformed)?;
    }
    if text.is_empty() { Err(malformed()) } else { Ok(total) }
}

/// Reads `--request-timeout`: as [`parse`], or an integer of seconds. Zero means none.
///
/// # Errors
/// Says what was expected, in kubectl's words.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let limit = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => parse(text).map_err(|_| {
            "Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit \
             (e.g. 1s | 2m | 3h)"
        })?,
    };
    Ok(if limit.is_zero() { Duration::MAX } else { limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_go_durations_and_days() {
        for (text, seconds) in
            [("0", 0.0), ("90s", 90.0), ("1h2m", 3720.0), ("1.5s", 1.5), ("7d", 604_800.0), ("250ms", 0.25)]
        {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "5", "m", "-5m", "1 h", "5w", "1e3s", "99999999999999999999d"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn timeout_of_zero_is_none() {
        assert_eq!(parse_timeout("0"), Ok(Duration::MAX));
        assert_eq!(parse_timeout("0s"), Ok(Duration::MAX));
        assert_eq!(parse_timeout("2"), Ok(Duration::from_secs(2)));
        assert!(parse_timeout("abc").unwrap_err().contains("single integer in seconds"));
    }
}
