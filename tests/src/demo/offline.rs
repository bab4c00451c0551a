//! The plugin on a bundled dump: no control plane, no network.

use anyhow::Result;

use super::stage::Stage;

/// The dump, from the root of the workspace.
const DUMP: &str = "plugin/tests/data/demo.yaml";
/// When it was taken.
const TAKEN: &str = "2026-03-01T12:00:00Z";

/// Shows what the plugin says of it.
///
/// # Errors
/// The plugin cannot be run.
pub async fn tell(stage: &Stage) -> Result<()> {
    stage.title("A dump of a cluster");
    stage.say(&format!("{DUMP} holds two namespaces in trouble, as of {TAKEN}. The plugin says what it sees there.\n"));
    let offline = ["-f", DUMP, "--complete", "--now", TAKEN];
    for args in [
        &["slices", "-A"] as &[&str],
        &["slices", "-A", "--stuck"],
        &["why", "resourceslice/legacy-2h8vd", "-n", "team-a"],
        &["why", "composition/legacy", "-n", "team-a"],
    ] {
        let all: Vec<&str> = args.iter().chain(&offline).copied().collect();
        stage.plugin(&all.join(" "), &all).await?;
        stage.say("");
    }
    Ok(())
}
