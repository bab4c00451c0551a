//! What kubectl shows of the webhook's answers.

use anyhow::{Context, Result, ensure};
use eno_shared::names::HOOK_DOMAIN;

use crate::cluster::Output;

/// The sentence of a denial by this hook, from what kubectl printed.
///
/// # Errors
/// It was not denied, or not by this hook.
pub fn denial(output: &Output, hook: &str) -> Result<String> {
    ensure!(output.code == 1, "exit code {} where 1 was expected:\n{}{}", output.code, output.stdout, output.stderr);
    let before = format!("admission webhook \"{hook}.{HOOK_DOMAIN}\" denied the request: ");
    let (_, message) =
        output.stderr.split_once(&before).with_context(|| format!("no denial by {hook}:\n{}", output.stderr))?;
    Ok(message.lines().next().unwrap_or_default().to_owned())
}

/// The warnings, without the word.
pub fn warnings(output: &Output) -> Vec<&str> {
    output.stderr.lines().filter_map(|line| line.strip_prefix("Warning: ")).collect()
}
