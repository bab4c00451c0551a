//! An explanation that is watched.

use std::process::ExitCode;

use eno_shared::Lookup;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::explanation::Explanation;
use super::target::{Kind, Target};
use super::{Asked, composition, namespace, pod, reading, slice, symphony, text};
use crate::cli::{Cli, WaitFor, WhyFlags};
use crate::cmd::watch::until::Until;
use crate::cmd::watch::{Shown, Stage, titled};
use crate::failure::Failure;
use crate::finding::pod::composition_of;
use crate::live::{Change, Feed, Place, Wants};
use crate::output::Format;
use crate::output::appended::Appended;
use crate::output::screen::Size;
use crate::output::table::sanitized;
use crate::source::Source;

struct Why<'a> {
    flags: &'a WhyFlags,
    format: Format,
    target: Target,
    /// Where it is.
    home: String,
    /// Where the compositions are that it is about.
    namespace: String,
    until: Option<Until>,
    explanation: Option<Explanation>,
    /// What was appended last.
    last: Option<Value>,
    appended: Appended,
    /// Its full name, for when it is gone.
    full_name: String,
}

/// Runs the command.
///
/// # Errors
/// Where the object does not exist, or cannot be read.
pub(super) async fn run(flags: &WhyFlags, cli: &Cli, format: Format, target: Target) -> Result<ExitCode, Failure> {
    let stage = Stage::open(matches!(format, Format::Text { .. }), cli.global.verbosity);
    let (cluster, home) = crate::cmd::cluster(cli, flags.source.concurrency, &stage.warnings)?;
    let namespace = match target.kind {
        Kind::Slice | Kind::Composition | Kind::Symphony => home.clone(),
        Kind::Namespace => target.name.clone(),
        // It works for a composition of any namespace.
        Kind::Pod => match Source::Cluster(cluster.clone()).pod(Some(&home), &target.name).await {
            Lookup::Found(pod) => composition_of(&pod.metadata).map_or(home.as_str(), |(home, _)| home).to_owned(),
            Lookup::Missing | Lookup::Unknown(_) => home.clone(),
        },
    };
    let wants = Wants {
        query: reading::query(target.kind, &target.name, Some(namespace.clone())),
        symphonies: matches!(target.kind, Kind::Symphony | Kind::Namespace),
        pod: (target.kind == Kind::Pod).then(|| (home.clone(), target.name.clone())),
        ..Wants::default()
    };
    let feed = Feed::start(&cluster, wants).await?;
    let full_name = format!("{}/{}", target.kind.full_name(), target.name);
    let appended = Appended::new(flags.output.no_headers);
    let (until, explanation, last) = (None, None, None);
    let mut why = Why { flags, format, target, home, namespace, until, explanation, last, appended, full_name };
    why.explain(&feed)?;
    if why.explanation.is_none() {
        return match flags.watch.until {
            Some(WaitFor::Deleted) => Ok(ExitCode::SUCCESS),
            Some(WaitFor::Reconciled) | None => Err(why.target.kind.not_found(&why.target.name, false)),
        };
    }
    if let Some(state) = flags.watch.until {
        why.until = Some(Until::of_target(state, Some(&why.target), &why.home, feed.snapshot())?);
    }
    stage.watch(feed, &mut why, flags.watch.timeout).await
}

impl Why<'_> {
    fn explain(&mut self, feed: &Feed) -> Result<(), Failure> {
        let name = &self.target.name;
        let asked = Asked::new(self.flags, name, feed.snapshot(), &self.namespace)?;
        self.explanation = match self.target.kind {
            Kind::Slice => slice::explain(&asked),
            Kind::Composition => composition::explain(&asked),
            Kind::Symphony => {
                let mut symphonies = feed.symphonies().items.iter();
                let symphony = symphonies.find(|symphony| symphony.metadata.name == *name);
                symphony.map(|symphony| symphony::explain(&asked, symphony))
            }
            Kind::Namespace => match feed.namespace() {
                Lookup::Found(found) => Some(namespace::explain(&asked, found, feed.symphonies())),
                Lookup::Missing => None,
                Lookup::Unknown(why) => {
                    return Err(Failure::local(format_args!("cannot get {}: {why}", self.full_name)));
                }
            },
            Kind::Pod => {
                let place: Place = (self.home.clone(), name.clone());
                feed.pods().get(&place).map(|found| pod::explain(&asked, found))
            }
        };
        Ok(())
    }

    fn event(&mut self, event: &'static str, object: Value) -> Result<String, Failure> {
        match &self.format {
            Format::Text { .. } => Ok(match (&self.explanation, &self.last) {
                (None, _) => format!("\n{} deleted\n", sanitized(&self.full_name)),
                (Some(explanation), last) => {
                    let between = if last.is_some() { "\n" } else { "" };
                    format!("{between}{}\n", text::render(explanation, self.flags).join("\n"))
                }
            }),
            Format::Name if event == "DELETED" => Ok(format!("{} deleted\n", sanitized(&self.full_name))),
            Format::Name => Ok(sanitized(&self.full_name) + "\n"),
            Format::Objects(form) => form.events(&mut self.appended, &[(event, object)]),
        }
    }
}

impl Shown for Why<'_> {
    fn update(&mut self, feed: &Feed, change: &Change) -> Result<(), Failure> {
        // Its facts tell how long ago things were.
        self.explain(feed)?;
        self.until.as_mut().map_or(Ok(()), |until| until.update(feed.snapshot(), change))
    }

    fn due(&self) -> Option<Timestamp> {
        let explanation = self.explanation.as_ref()?;
        let patience = SignedDuration::try_from(self.flags.source.stuck_after).ok()?;
        let stuck = explanation.waiting_since?.checked_add(patience).ok();
        stuck.filter(|at| *at > explanation.now)
    }

    fn frame(&mut self, feed: &Feed, room: Size) -> Vec<String> {
        let lines = match &self.explanation {
            Some(explanation) => text::render(explanation, self.flags),
            None => vec![format!("{} deleted", sanitized(&self.full_name))],
        };
        let what = format!("why {}/{}", self.target.kind.singular(), self.target.name);
        let all = lines.len();
        titled(&what, lines, all, feed, room)
    }

    fn news(&mut self, _: &Feed) -> Result<String, Failure> {
        let shown = self.explanation.as_ref().map(serde_json::to_value).transpose().map_err(Failure::local)?;
        let (event, object) = match (&self.last, shown) {
            (None, None) => return Ok(String::new()),
            (None, Some(new)) => ("ADDED", new),
            (Some(last), None) => ("DELETED", last.clone()),
            (Some(last), Some(new)) if timeless(last) == timeless(&new) => return Ok(String::new()),
            (Some(_), Some(new)) => ("MODIFIED", new),
        };
        let text = self.event(event, object.clone());
        self.last = self.explanation.is_some().then_some(object);
        text
    }

    fn is_over(&self) -> bool {
        // What is gone does not come back.
        self.explanation.is_none() || self.until.as_ref().is_some_and(Until::is_reached)
    }

    fn awaits(&self) -> Option<String> {
        self.until.as_ref().map(Until::awaits)
    }
}

/// The same without the time, and with no word for how long ago something was: those pass, and nothing has changed.
fn timeless(value: &Value) -> Value {
    match value {
        Value::String(text) => text.split(' ').map(|word| if is_age(word) { "…" } else { word }).collect(),
        Value::Array(items) => items.iter().map(timeless).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "now");
            kept.map(|(name, value)| (name.clone(), timeless(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// `25m`, `3d4h`
fn is_age(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ';', ')']);
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(['s', 'm', 'h', 'd', 'y'])
        && word.chars().all(|c| c.is_ascii_digit() || "smhdy".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn time_that_passes_is_no_change() {
        let facts = |age: &str, left: u32| {
            let fact = format!("it has been in deletion for {age}, and {left} of 4 resources are left");
            json!({"now": format!("2026-03-01T12:00:0{left}Z"), "because": [{"fact": fact}], "stuck": true})
        };
        assert_eq!(timeless(&facts("25m", 2)), timeless(&facts("7h59m", 2)));
        assert_ne!(timeless(&facts("25m", 2)), timeless(&facts("25m", 3)));
    }
}
