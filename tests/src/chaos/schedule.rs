//! Which faults strike, and when: chosen by the seed alone.

use std::time::Duration;

use clap::ValueEnum;
use fastrand::Rng;

use super::fault::{Fault, Pace};

/// Faults that strike together.
#[derive(Debug, Clone)]
pub struct Step {
    /// The time before, in which nothing strikes.
    pub calm: Duration,
    /// The faults.
    pub faults: Vec<Fault>,
    /// What the faults choose, is by this.
    pub seed: u64,
    /// How long and how large they are.
    pub pace: Pace,
}

/// Steps without end, at random.
pub fn random(mut rng: Rng) -> impl Iterator<Item = Step> {
    std::iter::repeat_with(move || {
        let mut faults: Vec<Fault> = rng.choice(Fault::value_variants()).copied().into_iter().collect();
        if rng.u8(..3) == 0 {
            let fitting = Fault::value_variants().iter().filter(|other| fits(&faults, **other));
            faults.extend(rng.choice(fitting.collect::<Vec<_>>()));
        }
        Step { calm: Duration::from_millis(rng.u64(500..5_000)), faults, seed: rng.u64(..), pace: Pace::BRISK }
    })
}

/// These faults, one after the other.
pub fn each(faults: &[Fault], pace: Pace, mut rng: Rng) -> impl Iterator<Item = Step> {
    faults.iter().map(move |fault| Step { calm: Duration::from_secs(1), faults: vec![*fault], seed: rng.u64(..), pace })
}

/// Can it strike together with these? What starts replicas or writes objects needs an API server.
fn fits(faults: &[Fault], other: Fault) -> bool {
    let needs_server = |group: &str| matches!(group, "roll" | "burst" | "objects");
    let clash = |one: &str, two: &str| one == "server" && needs_server(two);
    faults.iter().map(|fault| fault.group()).all(|group| {
        let other = other.group();
        group != other && !clash(group, other) && !clash(other, group) && ![group, other].contains(&"roll")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_it_all() {
        let steps = |seed| random(Rng::with_seed(seed)).take(50).map(|step| format!("{step:?}")).collect::<Vec<_>>();
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    #[test]
    fn every_fault_comes_in_its_time_and_none_with_what_it_would_prevent() {
        let steps: Vec<_> = random(Rng::with_seed(1)).take(2000).collect();
        for fault in Fault::value_variants() {
            assert!(steps.iter().any(|step| step.faults.contains(fault)), "{fault:?}");
        }
        let pairs = steps.iter().filter(|step| step.faults.len() == 2);
        let groups: Vec<_> = pairs.map(|step| [step.faults[0].group(), step.faults[1].group()]).collect();
        assert!(groups.len() > 100);
        assert!(groups.iter().all(|[one, two]| one != two));
        assert!(!groups.iter().any(|pair| pair.contains(&"server") && pair.contains(&"objects")));
    }
}
