//! The loop: whatever happens goes into the model, and what the model wants is done.

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use tokio::time::{Instant, sleep_until};

use super::super::doctor::glance;
use super::super::why::{self, target};
use super::facts::Facts;
use super::model::{Effect, Event, Model, Subject, Webhook};
use super::plain::Plain;
use super::running::{Running, Target};
use super::screen::{Screen, asked_to_end};
use crate::cli::output::Color;
use crate::cli::{DownstreamFlags, OutputFlags, SourceFlags, TopFlags, WatchFlags, WhyFlags};
use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::live::Change;
use crate::source::Source;
use crate::warnings::Warnings;

/// How often times are shown anew.
const TICK: Duration = Duration::from_secs(1);
/// How often the webhook's configurations are looked at.
const GLANCE: Duration = Duration::from_secs(30);
/// An open explanation is read anew no sooner than this after the last time.
const AGAIN: Duration = Duration::from_secs(2);

/// Who shows the model, and hears what is typed.
pub(super) enum Front {
    Screen(Box<Screen>),
    Plain(Plain),
}

/// Everything outside the model.
pub(super) struct Session {
    source: Rc<Source>,
    facts: Facts,
    target: Option<Target>,
    flags: SourceFlags,
    explaining: Option<LocalBoxFuture<'static, Event>>,
    /// What was explained last, and when that began.
    explained: Option<(Subject, Instant)>,
    /// What is to be explained next, and when.
    next: Option<(Subject, Instant)>,
    glancing: Option<LocalBoxFuture<'static, Event>>,
    running: Option<Running>,
}

impl Session {
    /// Of what is read, and where is written.
    pub fn new(flags: &TopFlags, source: Source, facts: Facts, target: Option<Target>) -> Self {
        Session {
            source: Rc::new(source),
            facts,
            target,
            flags: flags.source.clone(),
            explaining: None,
            explained: None,
            next: None,
            glancing: None,
            running: None,
        }
    }

    /// Runs until somebody ends it.
    ///
    /// # Errors
    /// The terminal fails.
    pub async fn run(mut self, model: &mut Model, mut front: Front) -> Result<ExitCode, Failure> {
        let mut events = self.facts.all();
        events.push(match self.target {
            Some(_) => Event::Looked(Webhook { word: "…".to_owned(), ..Webhook::default() }),
            None => Event::Looked(Webhook {
                word: "unknown".to_owned(),
                alarming: false,
                lines: vec!["Files do not tell what a webhook guards.".to_owned()],
            }),
        });
        events.extend(front.begin()?);
        let mut end = Box::pin(asked_to_end());
        // Nobody can type any more.
        let mut over = false;
        let (mut tick, mut glance) = (Instant::now() + TICK, Instant::now());
        loop {
            for event in events.drain(..) {
                let effect = front.pass(model, event)?;
                if effect == Some(Effect::Quit) {
                    return Ok(ExitCode::SUCCESS);
                }
                self.carry_out(effect);
            }
            front.show(model)?;
            if over && self.is_through() {
                return Ok(ExitCode::SUCCESS);
            }
            let live = self.facts.is_live();
            let idle = self.explaining.is_none();
            events = tokio::select! {
                typed = front.next(), if !over => {
                    over = typed.is_none();
                    typed.into_iter().collect()
                }
                change = self.facts.changed() => self.facts.take_in(&change),
                event = next(&mut self.running) => {
                    if matches!(event, Event::Ended(_)) {
                        self.running = None;
                    }
                    vec![event]
                }
                event = ready(&mut self.explaining) => {
                    self.explaining = None;
                    vec![event]
                }
                event = ready(&mut self.glancing) => {
                    self.glancing = None;
                    vec![event]
                }
                () = until(self.next.as_ref().map(|(_, at)| *at)), if idle => {
                    if let Some((subject, _)) = self.next.take() {
                        self.explain(subject);
                    }
                    vec![]
                }
                () = sleep_until(tick), if live => {
                    tick = Instant::now() + TICK;
                    self.facts.take_in(&Change::default())
                }
                code = &mut end => return Ok(code),
            };
            let warnings = self.target.as_ref().map(|target| target.cluster.warnings.take());
            events.extend(warnings.into_iter().flatten().map(Event::Warned));
            if self.target.is_some() && glance <= Instant::now() {
                glance = Instant::now() + GLANCE;
                self.glance(model.scope.namespace.clone());
            }
        }
    }

    /// At the end of input: is all done that was asked for? A command at work finishes its request in flight, and hears No.
    fn is_through(&mut self) -> bool {
        if let Some(running) = &mut self.running {
            running.interrupt();
            running.answer(false);
        }
        self.running.is_none() && self.explaining.is_none() && self.next.is_none()
    }

    fn carry_out(&mut self, effect: Option<Effect>) {
        match effect {
            None | Some(Effect::Quit) => {}
            Some(Effect::Explain(subject)) => {
                let again = self.explained.as_ref().filter(|(explained, _)| *explained == subject);
                let at = again.map_or_else(Instant::now, |(_, at)| *at + AGAIN);
                self.next = Some((subject, at));
            }
            Some(Effect::Act(action)) => {
                self.running = self.target.as_ref().map(|target| Running::begin(action, target));
            }
            Some(Effect::Answer(yes)) => {
                if let Some(running) = &mut self.running {
                    running.answer(yes);
                }
            }
            Some(Effect::Interrupt) => {
                if let Some(running) = &self.running {
                    running.interrupt();
                }
            }
            Some(Effect::Abandon) => self.running = None,
        }
    }
}

impl Session {
    /// As `kubectl eno why` does.
    fn explain(&mut self, subject: Subject) {
        self.explained = Some((subject.clone(), Instant::now()));
        let flags = WhyFlags {
            object: vec![],
            show_all: true,
            downstream: DownstreamFlags::default(),
            source: self.flags.clone(),
            watch: WatchFlags::default(),
            output: OutputFlags { format: None, no_headers: false, color: Color::Never },
        };
        let source = Rc::clone(&self.source);
        let explaining = async move {
            let Subject { kind, place: (namespace, name), .. } = &subject;
            let target = target::Target { kind: *kind, name: name.clone() };
            let lines = why::lines(&target, Some(namespace.clone()), &source, &flags).await;
            Event::Explained(subject, lines.map_err(|failure| failure.to_string()))
        };
        self.explaining = Some(Box::pin(explaining));
    }

    fn glance(&mut self, namespace: Option<String>) {
        let Some(Target { cluster, .. }) = &self.target else { return };
        // That it may not be looked at is told as such, not as a warning.
        let cluster = Cluster { warnings: Warnings::held(), ..cluster.clone() };
        let glancing = async move {
            let glance::Glance { word, alarming, lines } = glance::glance(&cluster, namespace.as_deref()).await;
            Event::Looked(Webhook { word: word.to_owned(), alarming, lines })
        };
        self.glancing = Some(Box::pin(glancing));
    }
}

/// What a command at work does next; nothing, where none is.
async fn next(running: &mut Option<Running>) -> Event {
    match running {
        Some(running) => running.next().await,
        None => std::future::pending().await,
    }
}

/// What a read brings; nothing, where none is under way.
async fn ready(read: &mut Option<LocalBoxFuture<'static, Event>>) -> Event {
    match read {
        Some(read) => read.await,
        None => std::future::pending().await,
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl Front {
    /// What it must say first.
    fn begin(&mut self) -> Result<Option<Event>, Failure> {
        match self {
            Front::Screen(screen) => Ok(Some(screen.resized()?)),
            Front::Plain(_) => Ok(None),
        }
    }

    fn pass(&mut self, model: &mut Model, event: Event) -> Result<Option<Effect>, Failure> {
        match self {
            Front::Screen(_) => Ok(model.update(event)),
            Front::Plain(plain) => plain.pass(model, event),
        }
    }

    fn show(&mut self, model: &Model) -> Result<(), Failure> {
        match self {
            Front::Screen(screen) => Ok(screen.draw(model)?),
            Front::Plain(plain) => plain.begin(model),
        }
    }

    /// What is typed; `None` where nobody can type any more.
    async fn next(&mut self) -> Option<Event> {
        match self {
            Front::Screen(screen) => screen.next().await,
            Front::Plain(plain) => plain.next().await,
        }
    }
}
