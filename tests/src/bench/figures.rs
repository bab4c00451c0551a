//! Times, and what is said of them.

use std::fmt;
use std::time::Duration;

/// How long each of many like things took.
#[derive(Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// One more.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// All of another's, too.
    pub fn merge(&mut self, mut other: Times) {
        self.0.append(&mut other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The time within which this share of them ended, in percent.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        // The smallest time that is not exceeded by `percent` of a hundred of all.
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |percent| self.percentile(percent).as_secs_f64() * 1000.0;
        write!(
            f,
            "p50 {:6.2} ms   p90 {:6.2} ms   p99 {:6.2} ms   n {}",
            millis(50),
            millis(90),
            millis(99),
            self.0.len()
        )
    }
}

/// How much the one is of the other.
pub fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let mut times = Times::default();
        (1..=200).rev().for_each(|n| times.add(Duration::from_millis(n)));
        assert_eq!([1, 50, 99, 100].map(|p| times.percentile(p).as_millis()), [2, 100, 198, 200]);
        assert_eq!(Times::default().percentile(99), Duration::ZERO);
    }
}
