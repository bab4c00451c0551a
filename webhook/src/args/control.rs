//! The flags of the controllers.

use std::time::Duration;

use clap::Args as Flags;
use eno_shared::names::{WEBHOOK_NAME, WEBHOOK_NAMESPACE};

use super::duration;
use super::pods::Pods;
use super::sinks::Sinks;
use crate::control::Options;
use crate::controllers::brake::Limits;
use crate::controllers::note::LeaseName;
use crate::controllers::{self, Enabled};
use crate::leader::{ElectionOptions, Times};
use crate::pods;

/// A value of `--controllers`.
#[derive(Debug, Clone, Copy)]
enum Choice {
    All,
    Cleanup(bool),
    Release(bool),
    Pods(bool),
    None,
}

#[derive(Debug, Flags)]
#[command(next_help_heading = "Controllers")]
pub(super) struct Control {
    /// Which controllers run: `cleanup` collects garbage slices, `release` takes finalizers off, `pods` follows pods to
    /// their end and tells it; `*` is all, `-NAME` is without, nothing is none.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "*", allow_hyphen_values = true, value_parser = choice)]
    controllers: Vec<Choice>,
    /// Let the controllers only log what they would do.
    #[arg(long)]
    dry_run: bool,
    /// Pause collecting when more slices than this are garbage within a minute …
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    brake_slices: usize,
    /// … and more than this share of those known; a live look then decides.
    #[arg(long, value_name = "PERCENT", default_value_t = 30, value_parser = percent)]
    brake_percent: usize,
    /// How many writes run at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = positive)]
    concurrent_writes: usize,
    /// How often all slices are looked at, for what slipped.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = nonzero)]
    sweep_period: Duration,
    /// Report a slice whose deletion is held for longer.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    held_warning: Duration,
    /// Elect who writes; without, only one process may run.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    leader_elect: bool,
    /// For how long a grant holds for others.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = nonzero)]
    leader_elect_lease_duration: Duration,
    /// For how long the leader trusts it; less, so that it stops before others start.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = nonzero)]
    leader_elect_renew_deadline: Duration,
    /// How often it is renewed.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = nonzero)]
    leader_elect_retry_period: Duration,
    /// Name of the Lease.
    #[arg(long, value_name = "NAME", default_value = WEBHOOK_NAME)]
    leader_elect_resource_name: String,
    /// Namespace of the Lease.
    #[arg(long, value_name = "NAMESPACE", default_value = WEBHOOK_NAMESPACE)]
    leader_elect_resource_namespace: String,
}

impl Control {
    /// How the controllers are set up; `None` where none runs.
    pub(super) fn options(&self, namespaces: &[String], pods: &Pods, sinks: &Sinks) -> Option<Options> {
        let (enabled, follows_pods) = self.enabled();
        (enabled.any() || follows_pods).then(|| Options {
            pods: follows_pods.then(|| pods::Options {
                selection: pods.selection(),
                overdue: pods.overdue(),
                limits: pods.limits(),
                sinks: sinks.options(),
                dry_run: self.dry_run,
            }),
            controllers: controllers::Options {
                enabled,
                dry_run: self.dry_run,
                namespaces: namespaces.to_vec(),
                brake: Limits { slices: self.brake_slices, percent: self.brake_percent },
                writes: self.concurrent_writes,
                sweep: self.sweep_period,
                held_warning: self.held_warning,
                lease: self.lease(),
            },
        })
    }

    /// How it is elected who writes.
    pub(super) fn election(&self) -> Option<ElectionOptions> {
        self.leader_elect.then(|| ElectionOptions {
            lease: self.lease(),
            times: Times {
                lease: self.leader_elect_lease_duration,
                trust: self.leader_elect_renew_deadline.min(self.leader_elect_lease_duration),
                retry: self.leader_elect_retry_period,
            },
        })
    }

    fn lease(&self) -> LeaseName {
        LeaseName {
            namespace: self.leader_elect_resource_namespace.clone(),
            name: self.leader_elect_resource_name.clone(),
        }
    }

    /// Which controllers of slices run, and are pods followed?
    fn enabled(&self) -> (Enabled, bool) {
        let all = self.controllers.iter().any(|choice| matches!(choice, Choice::All));
        let (mut enabled, mut pods) = (Enabled { cleanup: all, release: all }, all);
        for choice in &self.controllers {
            match choice {
                Choice::Cleanup(on) => enabled.cleanup = *on,
                Choice::Release(on) => enabled.release = *on,
                Choice::Pods(on) => pods = *on,
                Choice::All | Choice::None => {}
            }
        }
        (enabled, pods)
    }
}

fn choice(text: &str) -> Result<Choice, String> {
    match text {
        "*" => Ok(Choice::All),
        "cleanup" => Ok(Choice::Cleanup(true)),
        "-cleanup" => Ok(Choice::Cleanup(false)),
        "release" => Ok(Choice::Release(true)),
        "-release" => Ok(Choice::Release(false)),
        "pods" => Ok(Choice::Pods(true)),
        "-pods" => Ok(Choice::Pods(false)),
        "" => Ok(Choice::None),
        _ => Err("expected *, or cleanup, release or pods, each with - before it or not".to_owned()),
    }
}

fn percent(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|percent| *percent <= 100).ok_or_else(|| "expected 0 to 100".to_owned())
}

pub(super) fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number above 0".to_owned())
}

pub(super) fn nonzero(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be more than 0".to_owned()),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        control: Control,
        #[command(flatten)]
        pods: Pods,
        #[command(flatten)]
        sinks: Sinks,
    }

    fn enabled(flags: &[&str]) -> (Enabled, bool) {
        Cli::try_parse_from(["x"].iter().chain(flags)).map_err(|error| error.to_string()).unwrap().control.enabled()
    }

    #[test]
    fn controllers_are_chosen_as_kubernetes_components_choose_them() {
        let both = Enabled { cleanup: true, release: true };
        assert_eq!(enabled(&[]), (both, true));
        assert_eq!(enabled(&["--controllers=*,-cleanup"]), (Enabled { cleanup: false, ..both }, true));
        assert_eq!(enabled(&["--controllers=-release,*"]), (Enabled { release: false, ..both }, true));
        assert_eq!(enabled(&["--controllers=*,-pods"]), (both, false));
        assert_eq!(enabled(&["--controllers=cleanup"]), (Enabled { release: false, ..both }, false));
        assert_eq!(enabled(&["--controllers=cleanup,release"]), (both, false));
        assert_eq!(enabled(&["--controllers=pods"]), (Enabled::default(), true));
        assert_eq!(enabled(&["--controllers="]), (Enabled::default(), false));
        assert!(Cli::try_parse_from(["x", "--controllers=slices"]).is_err());
    }

    #[test]
    fn nothing_runs_where_no_controller_is_chosen() {
        let options = |flags: &[&str]| {
            let Cli { control, pods, sinks } = Cli::parse_from(["x"].iter().chain(flags));
            (control.options(&[], &pods, &sinks), control.election())
        };
        assert!(options(&["--controllers="]).0.is_none());
        let (control, election) = options(&["--leader-elect=false"]);
        assert!(control.is_some() && election.is_none());
        assert!(options(&["--controllers=pods"]).0.unwrap().pods.is_some());
        assert!(options(&["--controllers=cleanup"]).0.unwrap().pods.is_none());
    }
}
