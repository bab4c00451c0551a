//! What the documents say is so: the reference is what the code says, tests that are named exist, links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use eno_tests::{reference, workspace};
use eno_webhook::hooks::Hook;
use serde_json::Value;

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// Every page: those of docs/, and those at the root.
fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = vec![];
    for folder in ["", "docs"] {
        for entry in fs::read_dir(workspace::root().join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    Ok(pages)
}

#[test]
fn the_reference_is_what_the_code_says() -> Result<()> {
    let (written, page) = (read(&reference::path())?, reference::page()?);
    assert!(written == page, "docs/reference.md is not what the code says\nhint: run `cargo xtask reference`");
    Ok(())
}

/// The reference reads the sources; this asks the registry itself, which shows what is not zero from the start.
#[test]
fn the_reference_has_every_metric_that_is_served() -> Result<()> {
    let served = eno_webhook::metrics::Metrics::default().encode();
    let known = reference::metrics()?;
    let types: Vec<_> = served.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert!(types.len() > 10, "{served}");
    for line in types {
        let (name, kind) = line.split_once(' ').context("a type")?;
        let name = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
        assert!(
            known.iter().any(|metric| metric.name == name && metric.kind == kind),
            "{line} is not in the reference"
        );
    }
    Ok(())
}

/// Is there a test of this name in this file?
fn is_a_test(file: &str, name: &str) -> Result<bool> {
    let text = read(&workspace::root().join(file))?;
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let begins = |line: &&str| {
        line.trim_start_matches("async ").strip_prefix("fn ").is_some_and(|rest| rest.starts_with(&format!("{name}(")))
    };
    let Some(at) = lines.iter().position(begins) else { return Ok(false) };
    Ok(lines[..at].iter().rev().take_while(|line| line.starts_with('#')).any(|line| line.contains("test")))
}

#[test]
fn each_of_the_48_reports_has_its_test_or_says_why_not() -> Result<()> {
    let page = read(&workspace::root().join("docs/reports.md"))?;
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        Some((cells.first()?.parse::<u32>().ok()?, *cells.get(2)?))
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.iter().map(|(number, _)| *number).eq(1..=48), "{rows:?}");
    let mut named = 0;
    for (number, shown) in rows {
        let tests: Vec<_> = shown.split('`').filter_map(|word| word.split_once("::")).collect();
        ensure!(
            !tests.is_empty() || shown.starts_with("None: "),
            "report {number} names no test, and no reason: {shown}"
        );
        for (file, name) in tests {
            ensure!(is_a_test(file, name)?, "report {number}: there is no test {name} in {file}");
            named += 1;
        }
    }
    assert!(named > 60, "only {named} tests are named");
    Ok(())
}

/// The anchors of a page: its headings as GitHub writes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() -> Result<()> {
    let mut followed = 0;
    for path in pages()? {
        let page = read(&path)?;
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { path.clone() } else { path.with_file_name("").join(file) };
            ensure!(to.exists(), "{}: {target} leads nowhere", path.display());
            if !anchor.is_empty() && to.is_file() {
                ensure!(anchors(&read(&to)?).contains(anchor), "{}: {target} has no such heading", path.display());
            }
            followed += 1;
        }
    }
    assert!(followed > 20, "only {followed} links");
    Ok(())
}

/// The policy asks about the same updates as the webhook's hook does.
#[test]
fn the_policy_matches_what_the_hook_matches() -> Result<()> {
    let yaml = read(&workspace::root().join("manifests/policy/warn/policy.yaml"))?;
    let policy: Value = serde_saphyr::from_str(&yaml)?;
    let matched = policy["spec"]["matchConditions"][0]["expression"].as_str().context("a condition")?;
    let hook = Hook::SlicesUpdate.rule().condition.context("the hook has a condition")?.1;
    // Of spaces and brackets there are more ways than one.
    let plain = |text: &str| text.replace([' ', '(', ')'], "");
    assert!(plain(matched).contains(&plain(&hook)), "{matched}\ndoes not contain\n{hook}");
    Ok(())
}
