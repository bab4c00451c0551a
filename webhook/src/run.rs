//! What the binary does with its command line.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Args, Command, Serve};
use crate::server::Server;
use crate::telemetry;

/// Serves, prints the configurations, or uninstalls.
///
/// # Errors
/// Whatever stops it; the message names the flag to mend.
pub async fn run(args: Args) -> Result<()> {
    match args.command {
        Some(Command::PrintConfig(print)) => {
            let yaml = print.config()?.yaml()?;
            std::io::stdout().write_all(yaml.as_bytes()).context("writing to standard output")
        }
        Some(Command::Uninstall(uninstall)) => {
            let client = match &uninstall.kubeconfig {
                Some(path) => client(Some(path)).await?,
                None => {
                    Client::try_default().await.context("no cluster is known\nhint: name one by --kubeconfig FILE")?
                }
            };
            uninstall.run(&client, &mut std::io::stdout()).await
        }
        None => serve(&args.serve).await,
    }
}

async fn serve(args: &Serve) -> Result<()> {
    telemetry::start(args.log_format, args.verbosity)?;
    let client = client(args.kubeconfig.as_deref()).await?;
    let server = Server::bind(client, args.options()?).await?;
    let stop = Signals::new()?;
    let mut stdout = std::io::stdout();
    // Tests and scripts read the ports from here. Whoever closed our standard output does not want them.
    let _ = writeln!(stdout, "listening https://{}\nmetrics http://{}", server.local_addr()?, server.metrics_addr()?);
    let _ = stdout.flush();
    server.run(stop.first_then_exit_on_second()).await
}

/// For how long nothing may come on a connection on which an answer is waited for. Watches say something each minute
/// (bookmarks) and end after less than this; one that lost its connection without a word would else wait for ever.
const SILENCE: Duration = Duration::from_secs(300);

async fn client(kubeconfig: Option<&Path>) -> Result<Client> {
    // kube's errors say their causes themselves.
    let mut config = match kubeconfig {
        Some(path) => {
            let path_shown = path.display();
            let kubeconfig = Kubeconfig::read_from(path)
                .map_err(|error| anyhow!("cannot read --kubeconfig {path_shown}: {error}"))?;
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .map_err(|error| anyhow!("--kubeconfig {path_shown} does not say how to reach a cluster: {error}"))?
        }
        None => Config::incluster().map_err(|error| {
            anyhow!("this is not a pod with a service account: {error}\nhint: name a cluster by --kubeconfig FILE")
        })?,
    };
    (config.read_timeout, config.reset_reader_on_write) = (Some(SILENCE), true);
    Client::try_from(config).context("cannot make a client of the API server")
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Signals { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Ends with the first signal. The second does not wait for the drain.
    async fn first_then_exit_on_second(mut self) {
        self.next().await;
        tokio::spawn(async move {
            self.next().await;
            tracing::warn!("second signal: ending at once");
            std::process::exit(1);
        });
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Says on standard error why it ended.
#[must_use]
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("eno-webhook: {error:#}");
            ExitCode::FAILURE
        }
    }
}
