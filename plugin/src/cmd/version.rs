//! `kubectl eno version`: of the plugin, the API server, Eno's CRDs and the webhook.

mod crds;
mod webhook;

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use super::doctor::ask::{Answer, get, text};
use crate::cli::{Cli, VersionFlags, VersionForm};
use crate::cluster::Cluster;
use crate::failure::{ERROR, Failure};
use crate::output::table::sanitized;
use crate::output::{self, Form, Objects};
use crate::warnings::{Warnings, say};
use crds::Definition;
use webhook::Webhook;

/// No single answer is waited for longer, unless --request-timeout says how long.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many requests run at once: it is not many.
const CONCURRENCY: u16 = 4;

/// What `-o json` prints. A null means that it could not be read, or was not asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client_version: Client,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_version: Option<Server>,
    /// Eno's kinds, and in which versions they are served.
    #[serde(skip_serializing_if = "Option::is_none")]
    definitions: Option<Vec<Definition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<Webhook>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Client {
    git_version: &'static str,
    platform: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    git_version: String,
    platform: String,
}

/// Runs the command. The plugin's version is printed in any case.
///
/// # Errors
/// There are no credentials, or the API server does not answer.
pub(super) async fn run(flags: &VersionFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    let client_version = Client { git_version: concat!("v", env!("CARGO_PKG_VERSION")), platform };
    let mut versions = Versions { client_version, server_version: None, definitions: None, webhook: None };
    let mut failed = None;
    let mut troubles = vec![];
    if !flags.client {
        let warnings = Warnings::default();
        match super::cluster(cli, CONCURRENCY, &warnings) {
            Ok((mut cluster, _)) => {
                cluster.timeout = cluster.timeout.min(PATIENCE);
                failed = versions.ask(&cluster, &mut troubles).await.err();
            }
            Err(failure) => failed = Some(failure),
        }
    }
    versions.print(flags.form)?;
    troubles.iter().for_each(|trouble| say(format_args!("Warning: {}", sanitized(trouble))));
    match failed {
        Some(failure) => Err(failure),
        None if troubles.is_empty() => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::from(ERROR)),
    }
}

impl Versions {
    /// Asks the cluster. What cannot be read is a trouble.
    async fn ask(&mut self, cluster: &Cluster, troubles: &mut Vec<String>) -> Result<(), Failure> {
        let (server, definitions, webhook) =
            futures::join!(get(cluster, "/version"), crds::read(cluster), webhook::read(cluster));
        match server {
            Answer::Found(server) => {
                let field = |name: &str| text(&server, name).to_owned();
                self.server_version = Some(Server { git_version: field("/gitVersion"), platform: field("/platform") });
            }
            other => return Err(Failure::verbatim(other.reason())),
        }
        let mut known = |read: Result<(), String>| troubles.extend(read.err());
        known(definitions.map(|definitions| self.definitions = Some(definitions)));
        known(webhook.map(|webhook| self.webhook = Some(webhook)));
        Ok(())
    }

    fn print(&self, form: Option<VersionForm>) -> Result<(), Failure> {
        let form = match form {
            Some(VersionForm::Json) => Form::Json,
            Some(VersionForm::Yaml) => Form::Yaml,
            None => return output::lines(self.lines()),
        };
        form.print(Objects::One(serde_json::to_value(self).map_err(Failure::local)?), false)
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Client Version: {}", self.client_version.git_version)];
        lines.extend(self.server_version.iter().map(|server| format!("Server Version: {}", server.git_version)));
        lines.extend(self.definitions.iter().map(|all| format!("Eno CRDs: {}", crds::sentence(all))));
        lines.extend(self.webhook.iter().map(|webhook| format!("Webhook Version: {webhook}")));
        lines.iter().map(|line| sanitized(line)).collect()
    }
}
