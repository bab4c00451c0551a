//! `kubectl eno completion` in real shells, and by kubectl itself.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use eno_tests::plugin::{self, eno};
use eno_tests::terminal::Terminal;
use eno_tests::webhook::Guarded;
use tempfile::TempDir;
use tokio::process::Command;

/// A namespace with compositions `web` and `worker`, and a folder with the scripts and the shim.
async fn ground(hint: &str) -> Result<(Guarded, TempDir)> {
    let ground = Guarded::unguarded(hint).await?;
    ground.live("web", 1).await?;
    ground.live("worker", 1).await?;
    let folder = tempfile::tempdir()?;
    for (script, file) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish"), ("kubectl", "kubectl_complete-eno")] {
        let text = eno(ground.cluster(), &["completion", script]).await?.success()?;
        std::fs::write(folder.path().join(file), text)?;
    }
    // As the script says how to install it.
    std::fs::set_permissions(folder.path().join("kubectl_complete-eno"), PermissionsExt::from_mode(0o755))?;
    Ok((ground, folder))
}

/// A shell, with the cluster, the plugin, the shim and kubectl on its PATH.
fn shell(ground: &Guarded, folder: &Path, program: &str, args: &[&str]) -> Result<Command> {
    let plugin = plugin::binary()?;
    let folders = [Some(folder), plugin.parent(), ground.cluster().kubectl_path().parent()];
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(folders.into_iter().flatten().map(Path::to_owned).chain(env::split_paths(&path)))?;
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("PATH", path).env("HOME", folder).env("LC_ALL", "C.UTF-8");
    command.env("KUBECONFIG", ground.cluster().kubeconfig()).env("NS", ground.name()).kill_on_drop(true);
    Ok(command)
}

/// What the shell prints.
async fn printed(mut command: Command) -> Result<String> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().await;
    let output = output.with_context(|| format!("running {program}\nhint: install it, as .ci/run does"))?;
    ensure!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A line, completed by a shell that sees Tab as a person presses it; then the line is run.
async fn tab(command: Command, ready: &str, typed: &[&str], completed: &str) -> Result<()> {
    let mut terminal = Terminal::open(command)?;
    terminal.shows(ready).await?;
    for keys in typed {
        terminal.type_in(keys)?;
        terminal.type_in("\t")?;
    }
    terminal.shows(completed).await
}

/// A line goes on in the namespace. Shells hand words over as they are typed: a variable would stay one.
fn on(ground: &Guarded, word: &str) -> String {
    format!("-n {} {word}", ground.name())
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_asks_the_shim() -> Result<()> {
    let (ground, folder) = ground("complete-kubectl").await?;
    for (line, answer) in [
        ("kubectl __complete eno slic", "slices\tList resource slices with the verdict on each\n:4\n"),
        ("kubectl __complete eno why -n $NS composition/w", "composition/web\ncomposition/worker\n:4\n"),
        ("kubectl __complete eno slices -n $NS --composition=web ''", "web-0\nworker-0\n:4\n"),
        ("kubectl __complete eno restore ''", ":0\n"),
    ] {
        // On stderr cobra says in words what the directive is.
        let line = format!("{line} 2>/dev/null");
        let printed = printed(shell(&ground, folder.path(), "sh", &["-c", &line])?).await?;
        ensure!(printed == answer, "{line}: {printed}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fish_completes_the_plugin_and_kubectl() -> Result<()> {
    let (ground, folder) = ground("complete-fish").await?;
    for (line, answer) in [
        ("kubectl-eno comp", "completion\nshown\n"),
        ("kubectl-eno why -n $NS composition/w", "composition/web\ncomposition/worker\n"),
        ("kubectl-eno slices -n $NS --composition=w", "--composition=web\n--composition=worker\n"),
        ("kubectl-eno restore kubectl_comp", "kubectl_complete-eno\n"),
        ("kubectl eno why -n $NS composition/w", "composition/web\ncomposition/worker\n"),
    ] {
        let script = format!(
            "source fish; kubectl completion fish | source; complete -C \"{line}\" | string replace -r '\\t.*' ''; true"
        );
        let printed = printed(shell(&ground, folder.path(), "fish", &["--no-config", "-c", &script])?).await?;
        if answer.contains("shown") {
            ensure!(printed.contains("compositions\n") && printed.contains("completion\n"), "{line}: {printed}");
        } else {
            ensure!(printed == answer, "{line}: {printed}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn bash_completes_the_plugin() -> Result<()> {
    let (ground, folder) = ground("bash").await?;
    let bash = |ground: &Guarded| -> Result<Command> {
        let mut bash = shell(ground, folder.path(), "bash", &["--noprofile", "--rcfile", "rc", "-i"])?;
        bash.env("TERM", "dumb");
        Ok(bash)
    };
    std::fs::write(folder.path().join("rc"), "PS1='> '\nsource bash\n")?;
    // A word that only one candidate fits is completed, with a space after it.
    tab(bash(&ground)?, "> ", &["kubectl-eno sli", &on(&ground, "--composition=wo")], "--composition=worker").await?;
    tab(bash(&ground)?, "> ", &[&format!("kubectl-eno why {}", on(&ground, "compos")), "we"], "composition/web")
        .await?;
    tab(bash(&ground)?, "> ", &["kubectl-eno restore kubectl_comp"], "restore kubectl_complete-eno").await
}

#[tokio::test(flavor = "multi_thread")]
async fn zsh_completes_the_plugin() -> Result<()> {
    let (ground, folder) = ground("zsh").await?;
    let zsh = |ground: &Guarded| -> Result<Command> {
        let mut zsh = shell(ground, folder.path(), "zsh", &["-i"])?;
        zsh.env("ZDOTDIR", folder.path());
        Ok(zsh)
    };
    std::fs::write(
        folder.path().join(".zshrc"),
        "unsetopt zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste\nPS1='> '\nautoload -U compinit\n\
         compinit -u -D\nsource zsh\n",
    )?;
    tab(zsh(&ground)?, "> ", &["kubectl-eno sli", &on(&ground, "--composition=wo")], "--composition=worker").await?;
    tab(zsh(&ground)?, "> ", &[&format!("kubectl-eno why {}", on(&ground, "compos")), "we"], "composition/web").await?;
    tab(zsh(&ground)?, "> ", &["kubectl-eno restore kubectl_comp"], "restore kubectl_complete-eno").await
}
