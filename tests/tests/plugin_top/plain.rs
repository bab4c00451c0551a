//! Lines in, lines out: for a screen reader.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use eno_tests::webhook::Guarded;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::{LIMIT, command, exists};

#[tokio::test(flavor = "multi_thread")]
async fn plain_lines_say_what_changes_and_take_words() -> Result<()> {
    let ground = Guarded::unguarded("top-lines").await?;
    let web = ground.live("web", 1).await?;
    let mut command = command(&ground, ground.cluster().kubeconfig(), &["--plain"])?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut words = child.stdin.take().context("it has a standard input")?;
    let mut lines = BufReader::new(child.stdout.take().context("it has a standard output")?).lines();
    let mut says_one_of = async |texts: &[&str]| -> Result<String> {
        loop {
            let line = tokio::time::timeout(LIMIT, lines.next_line()).await.context(format!("{texts:?} in time"))??;
            let line = line.with_context(|| format!("it ends before it says {texts:?}"))?;
            ensure!(!line.contains('\u{1b}'), "{line:?}");
            if texts.iter().any(|text| line.contains(text)) {
                return Ok(line);
            }
        }
    };
    says_one_of(&["1 slices, 0 stuck."]).await?;
    ground.garbage(&web, "web-old").await?;
    let line = says_one_of(&["/web-old: composition web, Wait"]).await?;
    ensure!(line.starts_with("resourceslice "), "{line}");
    says_one_of(&["/web-old: "]).await?;
    words.write_all(b"slices\n").await?;
    says_one_of(&["2 slices"]).await?;
    ground.old_enough("web-old").await?;
    words.write_all(b"why web-old\n").await?;
    says_one_of(&["COLLECT"]).await?;
    words.write_all(b"cleanup web-old\n").await?;
    says_one_of(&["(server dry run)"]).await?;
    says_one_of(&["Do you want to continue? (y/N):"]).await?;
    ensure!(exists(&ground, "web-old").await?);
    words.write_all(b"y\n").await?;
    // The watch may be faster than the command.
    let (done, gone) = ("1 changed, 0 skipped, 0 failed", "/web-old is gone");
    let first = says_one_of(&[done, gone]).await?;
    says_one_of(&[if first.contains(gone) { done } else { gone }]).await?;
    words.write_all(b"quit\n").await?;
    ensure!(tokio::time::timeout(LIMIT, child.wait()).await??.success());
    Ok(())
}
