//! Visits every state that can be reached, and tells what went wrong on the way.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::actors::{Label, Step, successors};
use super::rules::Rules;
use super::scenarios::Scenario;
use super::state::{State, Violation};

/// What came out of an exploration.
pub struct Exploration {
    pub states: usize,
    /// How often each violation was met, and the shortest way to the first.
    pub violations: BTreeMap<Violation, (usize, String)>,
}

impl Exploration {
    pub fn violations(&self) -> Vec<Violation> {
        self.violations.keys().copied().collect()
    }

    /// The violations with their traces, for a failed assertion.
    pub fn report(&self) -> String {
        let of = |(violation, (times, trace)): (&Violation, &(usize, String))| {
            format!("\n{violation:?}, {times} times, first so:\n{trace}")
        };
        self.violations.iter().map(of).collect()
    }
}

/// Explores a scenario breadth first.
pub fn explore(scenario: &Scenario, rules: &Rules) -> Exploration {
    let mut graph = Graph::default();
    graph.visit(scenario.first_state(), None);
    let mut next = 0;
    let mut steps = vec![];
    while next < graph.states.len() {
        let state = graph.states[next];
        if state.composition.is_none() && state.seen.is_none() && state.present & !state.terminating != 0 {
            graph.blame(Violation::ResourceLeft, next, None);
        }
        successors(&state, scenario, rules, &mut steps);
        for Step { label, fair, state, violation } in steps.drain(..) {
            let to = graph.visit(state, Some((next, label)));
            if fair {
                graph.fair.push((next, to));
            }
            if let Some(violation) = violation {
                graph.blame(violation, next, Some(label));
            }
        }
        next += 1;
    }
    graph.blame_stuck(scenario.recreations > 0);
    Exploration { states: graph.states.len(), violations: graph.violations }
}

#[derive(Default)]
struct Graph {
    states: Vec<State>,
    numbers: HashMap<State, usize, BuildHasherDefault<Mix>>,
    came_from: Vec<Option<(usize, Label)>>,
    /// The steps that are taken sooner or later: those of controllers, not those of users or of accidents.
    fair: Vec<(usize, usize)>,
    violations: BTreeMap<Violation, (usize, String)>,
}

impl Graph {
    fn visit(&mut self, state: State, from: Option<(usize, Label)>) -> usize {
        let fresh = self.states.len();
        let number = *self.numbers.entry(state).or_insert(fresh);
        if number == fresh {
            self.states.push(state);
            self.came_from.push(from);
        }
        number
    }

    fn blame(&mut self, violation: Violation, at: usize, last: Option<Label>) {
        match self.violations.get_mut(&violation) {
            Some((times, _)) => *times += 1,
            None => {
                let trace = self.trace(at, last);
                self.violations.insert(violation, (1, trace));
            }
        }
    }

    fn trace(&self, mut at: usize, last: Option<Label>) -> String {
        let end = format!("  {:?}\n", self.states[at]);
        let mut steps: Vec<String> = last.iter().map(|label| format!("  {label}\n")).collect();
        while let Some((from, label)) = self.came_from[at] {
            steps.push(format!("  {label}\n"));
            at = from;
        }
        steps.reverse();
        steps.concat() + &end
    }

    /// From each state in which the composition is going or gone, fair steps must lead to the end of all.
    fn blame_stuck(&mut self, may_be_recreated: bool) {
        let all_over = self.can_reach(State::is_over);
        let composition_gone = self.can_reach(|state| match state.composition {
            None => true,
            Some(composition) => may_be_recreated && composition.uid == 2,
        });
        for at in 0..self.states.len() {
            if self.states[at].composition.is_some_and(|composition| !composition.deleting) {
                continue;
            }
            if !composition_gone[at] {
                self.blame(Violation::CompositionStuck, at, None);
            } else if !all_over[at] {
                self.blame(Violation::SliceStuck, at, None);
            }
        }
    }

    /// Which states lead by fair steps to one that `is_goal`?
    fn can_reach(&self, is_goal: impl Fn(&State) -> bool) -> Vec<bool> {
        let mut into = vec![vec![]; self.states.len()];
        for (from, to) in &self.fair {
            into[*to].push(*from);
        }
        let mut reaches: Vec<bool> = self.states.iter().map(is_goal).collect();
        let mut open: VecDeque<usize> = (0..reaches.len()).filter(|at| reaches[*at]).collect();
        while let Some(at) = open.pop_front() {
            for from in &into[at] {
                if !std::mem::replace(&mut reaches[*from], true) {
                    open.push_back(*from);
                }
            }
        }
        reaches
    }
}

/// A hasher for many small states: the default one takes most of the time of a debug build.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u8(*byte);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u8(u8::try_from(number & 0xff).expect("masked"));
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u8(u8::try_from(number & 0xff).expect("masked"));
    }
}
