//! A command at work: the very one of the command line, told to talk to the screen.

use std::process::ExitCode;

use clap::Parser;
use futures::future::LocalBoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

use super::action::Action;
use super::model::Event;
use crate::cli::{Cli, Command, PodsAction, PodsFlags};
use crate::cluster::Cluster;
use crate::cmd::{cleanup, pods, release, resynth};
use crate::dialogue::{Dialogue, Said};
use crate::failure::Failure;
use crate::identity::Identity;
use crate::interrupt::Interrupt;
use crate::warnings::Warnings;
use crate::writer::Writer;

/// Where commands write, and as whom.
#[derive(Clone)]
pub(super) struct Target {
    pub cluster: Cluster,
    pub identity: Identity,
    /// Where backups go.
    pub backup_dir: String,
    /// Of the webhook, where it was given.
    pub webhook_namespace: Option<String>,
}

/// How far it is.
enum Work {
    /// It works, or waits for an answer.
    At(LocalBoxFuture<'static, Result<(), Failure>>),
    /// So it ended; that is not told yet.
    Ended(Result<(), String>),
}

/// A command at work.
pub(super) struct Running {
    work: Work,
    said: UnboundedReceiver<Said>,
    answer: Option<oneshot::Sender<bool>>,
    interrupt: Interrupt,
}

impl Running {
    /// Begins. Nothing is written before it has asked.
    pub fn begin(action: Action, target: &Target) -> Self {
        let (ear, said) = unbounded_channel();
        let interrupt = Interrupt::default();
        let dialogue = Dialogue::Screen { said: ear, interrupt: interrupt.clone() };
        let target = target.clone();
        let work = Box::pin(async move { carry_out(&action, target, dialogue).await });
        Running { work: Work::At(work), said, answer: None, interrupt }
    }

    /// What happens next; the last is its end.
    pub async fn next(&mut self) -> Event {
        if let Work::At(work) = &mut self.work {
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => return self.heard(said),
                ended = work => self.work = Work::Ended(ended.map_err(|failure| failure.to_string())),
            }
        }
        // It may have said something on its way out.
        match (self.said.try_recv(), &mut self.work) {
            (Ok(said), _) => self.heard(said),
            (Err(_), Work::Ended(ended)) => Event::Ended(std::mem::replace(ended, Ok(()))),
            (Err(_), Work::At(_)) => Event::Ended(Ok(())),
        }
    }

    fn heard(&mut self, said: Said) -> Event {
        match said {
            Said::Line(line) => Event::Said(line),
            Said::Asked(question, answer) => {
                self.answer = Some(answer);
                Event::Asked(question)
            }
        }
    }

    /// Answers its question.
    pub fn answer(&mut self, yes: bool) {
        if let Some(answer) = self.answer.take() {
            // A command that has ended waits for no answer.
            let _ = answer.send(yes);
        }
    }

    /// Ctrl-C.
    pub fn interrupt(&self) {
        self.interrupt.stop();
    }
}

/// First what it would do, checked by the API server; then in earnest, with its own questions.
async fn carry_out(action: &Action, target: Target, dialogue: Dialogue) -> Result<(), Failure> {
    let Target { cluster, identity, backup_dir, webhook_namespace } = target;
    // What the watches are warned of is not this command's.
    let warnings = Warnings::held();
    let cluster = Cluster { warnings: warnings.clone(), ..cluster };
    let writer = Writer { cluster, namespace: action.namespace.clone(), dialogue };
    writer.dialogue.say(&identity);
    for dry_run in [true, false] {
        let mut more = vec![];
        more.extend(dry_run.then_some("--dry-run=server"));
        let elsewhere = action.writes_backup() && !dry_run && backup_dir != ".";
        more.extend(elsewhere.then_some(["--backup-dir", &backup_dir]).into_iter().flatten());
        let home = webhook_namespace.as_deref().filter(|_| action.reads_outbox());
        more.extend(home.map(|home| ["--webhook-namespace", home]).into_iter().flatten());
        writer.dialogue.say(format_args!("$ {}", action.shown(&more)));
        let ended = run(action, &more, &writer).await;
        for warning in warnings.take() {
            writer.dialogue.say(format_args!("Warning: {warning}"));
        }
        if ended? != ExitCode::SUCCESS {
            return Err(Failure::verbatim(if dry_run { "nothing was done" } else { "not all was done" }));
        }
        if dry_run {
            writer.dialogue.say("");
        }
    }
    Ok(())
}

/// What is shown is what is run: the command line reads the words.
async fn run(action: &Action, more: &[&str], writer: &Writer) -> Result<ExitCode, Failure> {
    let args = ["kubectl-eno"].into_iter().chain(action.args(more));
    let cli = Cli::try_parse_from(args).map_err(Failure::local)?;
    match &cli.command {
        Command::Cleanup(flags) => cleanup::with(flags, writer).await,
        Command::Release(flags) => release::with(flags, writer).await,
        Command::Resynth(flags) => resynth::with(flags, writer).await,
        Command::Pods(PodsFlags { action: Some(PodsAction::Release(flags)), .. }) => {
            pods::release::with(flags, writer).await
        }
        _ => Err(Failure::local(format_args!("{} changes nothing", action.shown(more)))),
    }
}
