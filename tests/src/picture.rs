//! The picture of the plugin's report for the docs: of the bundled dump, by a real browser.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use tokio::process::Command;

use crate::browser::Browser;
use crate::captures::DUMP;
use crate::{plugin, workspace};

/// Pixels.
const WIDTH: u32 = 1180;
/// As much of the page as shows what it is: down to the end of the graph.
const LAST: &str = "#graph";

/// Writes docs/report.png, and docs/report-dark.png.
///
/// # Errors
/// The plugin is not built, or there is no browser.
pub async fn write() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("report.html");
    let mut command = Command::new(plugin::binary()?);
    command.arg("report").args(DUMP).arg("--output-file").arg(&file).current_dir(workspace::root());
    let output = command.stdin(Stdio::null()).output().await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut browser = Browser::open().await?;
    for (scheme, name) in [("light", "report.png"), ("dark", "report-dark.png")] {
        browser.prefer(scheme, "screen").await?;
        browser.load(&file).await?;
        let picture = browser.picture(WIDTH, LAST).await?;
        let ByteString(png) = serde_json::from_value(picture.into()).context("decoding the picture")?;
        fs::write(workspace::root().join("docs").join(name), png)?;
    }
    Ok(())
}
