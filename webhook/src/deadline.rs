//! How long an answer may take: the API server says so in the URL of the call.

use std::time::Duration;

use jiff::SignedDuration;
use tokio::time::Instant;

/// Time of a call that does not say: that of a hook which fails closed.
const DEFAULT: Duration = Duration::from_secs(5);
/// The longest time that the API server grants.
const LONGEST: Duration = Duration::from_secs(30);
/// Kept back for the way home. An answer that says what could not be read is worth more than a timeout.
const MARGIN: Duration = Duration::from_millis(500);

/// When reading must end, so that the answer arrives in time.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline of a call that begins now, from its query: `timeout=5s`.
    #[must_use]
    pub fn of_query(query: Option<&str>) -> Self {
        Self::within(for_reading(query))
    }

    /// A deadline so far from now.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        Deadline(Instant::now() + time)
    }

    /// What is left.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// The moment itself.
    #[must_use]
    pub fn at(self) -> Instant {
        self.0
    }
}

fn for_reading(query: Option<&str>) -> Duration {
    let timeout = query
        .into_iter()
        .flat_map(|query| query.split('&'))
        .find_map(|pair| pair.strip_prefix("timeout="))
        .and_then(|value| value.parse::<SignedDuration>().ok())
        .and_then(|timeout| Duration::try_from(timeout).ok())
        .map_or(DEFAULT, |timeout| timeout.min(LONGEST));
    timeout - MARGIN.min(timeout / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_margin_of_what_the_api_server_grants() {
        assert_eq!(for_reading(Some("timeout=10s")), Duration::from_millis(9500));
        assert_eq!(for_reading(Some("a=b&timeout=3s")), Duration::from_millis(2500));
        assert_eq!(for_reading(Some("timeout=600ms")), Duration::from_millis(300));
        assert_eq!(for_reading(Some("timeout=1m0s")), Duration::from_millis(29_500));
    }

    #[test]
    fn has_a_default_where_the_query_says_nothing_that_is_a_time() {
        for query in [None, Some(""), Some("timeout="), Some("timeout=soon"), Some("timeout=-4s")] {
            assert_eq!(for_reading(query), Duration::from_millis(4500), "{query:?}");
        }
    }
}
