//! How old something is, in the words of kubectl.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The time from `since` to `now` as kubectl's AGE column shows it, `<unknown>` where there is no time.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    since.map_or_else(|| "<unknown>".to_owned(), |since| human_duration(now.duration_since(since)))
}

/// Is it at least that old? What has no time has no age.
pub fn is_older(since: Option<Timestamp>, age: Duration, now: Timestamp) -> bool {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    since.is_some_and(|since| now.duration_since(since) >= age)
}

/// `HumanDuration` of apimachinery: two units where the first is small, one where it says enough.
fn human_duration(duration: SignedDuration) -> String {
    // Clocks may be a second apart.
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two_units(minutes, "m", seconds % 60, "s"),
        () if hours < 3 => format!("{minutes}m"),
        () if hours < 8 => two_units(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two_units(days, "d", hours % 24, "h"),
        () if days < 2 * 365 => format!("{days}d"),
        () if days < 8 * 365 => two_units(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

fn two_units(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    match small {
        0 => format!("{large}{large_unit}"),
        _ => format!("{large}{large_unit}{small}{small_unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_apimachinery() {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        const YEAR: i64 = 365 * DAY;
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (2 * MINUTE + 1, "2m1s"),
            (10 * MINUTE - 1, "9m59s"),
            (10 * MINUTE, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (8 * HOUR - 1, "7h59m"),
            (8 * HOUR, "8h"),
            (48 * HOUR - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (8 * YEAR - 1, "7y364d"),
            (8 * YEAR, "8y"),
            (30 * YEAR, "30y"),
        ] {
            assert_eq!(human_duration(SignedDuration::from_secs(seconds)), text, "{seconds} s");
        }
    }

    #[test]
    fn no_time_is_unknown() {
        assert_eq!(age(None, Timestamp::UNIX_EPOCH), "<unknown>");
    }
}
