//! Exec plugins: what they get of the terminal, and what people read when they fail.

use std::io::{ErrorKind, IsTerminal};
use std::sync::OnceLock;

use kube::client::AuthError;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, ExecInteractiveMode};

use crate::failure::Failure;

/// The plugin that gives credentials, for messages: its command, and how to install it.
static PLUGIN: OnceLock<(String, Option<String>)> = OnceLock::new();

/// Makes an exec plugin behave as under kubectl: it gets stdin only where that is a terminal, and the cluster where it
/// asks for it.
///
/// # Errors
/// Where the plugin needs a terminal and there is none.
pub(super) fn prepare(user: AuthInfo, cluster: &Cluster) -> Result<AuthInfo, Failure> {
    with_stdin(user, cluster, std::io::stdin().is_terminal())
}

fn with_stdin(mut user: AuthInfo, cluster: &Cluster, terminal: bool) -> Result<AuthInfo, Failure> {
    let Some(exec) = &mut user.exec else { return Ok(user) };
    let command = exec.command.clone().unwrap_or_default();
    // Only one user is chosen in a process.
    let _ = PLUGIN.set((command.clone(), exec.install_hint.clone()));
    exec.interactive_mode = match exec.interactive_mode.take() {
        Some(ExecInteractiveMode::Always) if !terminal => {
            return Err(Failure::local(format_args!(
                "getting credentials: exec plugin {command} cannot support interactive mode: standard input is not a \
                 terminal"
            )));
        }
        Some(ExecInteractiveMode::IfAvailable) | None if !terminal => Some(ExecInteractiveMode::Never),
        mode => mode,
    };
    if exec.provide_cluster_info {
        exec.cluster = Some(ExecAuthCluster::try_from(cluster).map_err(Failure::local)?);
    }
    Ok(user)
}

/// What people read. The plugin's stdout is never shown: it may hold a token.
pub fn failure(error: &AuthError) -> Failure {
    let (command, hint) = PLUGIN.get().map_or(("", None), |(command, hint)| (command.as_str(), hint.as_deref()));
    Failure::verbatim(match error {
        AuthError::AuthExecStart(error) if error.kind() == ErrorKind::NotFound => {
            let hint = hint.map(|hint| format!("\n\n{hint}")).unwrap_or_default();
            format!("error: getting credentials: exec: executable {command} not found{hint}")
        }
        AuthError::AuthExecRun { out, .. } => {
            let code = out.status.code().map_or_else(|| out.status.to_string(), |code| format!("exit code {code}"));
            let stderr = String::from_utf8_lossy(&out.stderr);
            let stderr = stderr.trim();
            let said = if stderr.is_empty() { String::new() } else { format!("\n{stderr}") };
            format!("error: getting credentials: exec: executable {command} failed with {code}{said}")
        }
        error => format!("error: getting credentials: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use kube::config::ExecConfig;

    use super::*;

    fn mode(mode: Option<ExecInteractiveMode>, terminal: bool) -> Result<Option<ExecInteractiveMode>, String> {
        let exec = ExecConfig { command: Some("login".into()), interactive_mode: mode, ..ExecConfig::default() };
        let user = AuthInfo { exec: Some(exec), ..AuthInfo::default() };
        let user = with_stdin(user, &Cluster::default(), terminal).map_err(|failure| failure.to_string())?;
        Ok(user.exec.unwrap().interactive_mode)
    }

    #[test]
    fn plugins_get_stdin_only_where_it_is_a_terminal() {
        use ExecInteractiveMode::{Always, IfAvailable, Never};
        assert_eq!(mode(None, false), Ok(Some(Never)));
        assert_eq!(mode(Some(IfAvailable), false), Ok(Some(Never)));
        assert_eq!(mode(Some(IfAvailable), true), Ok(Some(IfAvailable)));
        assert_eq!(mode(None, true), Ok(None));
        assert_eq!(mode(Some(Never), true), Ok(Some(Never)));
        assert!(mode(Some(Always), false).unwrap_err().contains("standard input is not a terminal"));
        assert_eq!(mode(Some(Always), true), Ok(Some(Always)));
    }
}
