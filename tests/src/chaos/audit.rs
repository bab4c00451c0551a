//! What the API server's audit log says: no deletion of a slice was let pass by an API server that had not asked.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use eno_shared::names::{ENO_GROUP, HOOK_DOMAIN, WEBHOOK_NAME, WEBHOOK_NAMESPACE};
use eno_webhook::hooks::Hook;
use serde_json::Value;

use super::history::is_named_after;

/// What a log says.
#[derive(Debug, Default)]
pub struct Audit {
    /// Deletions of slices that were let pass after the webhook was asked.
    pub asked: usize,
    /// Those of which the webhook was not asked: these should not be.
    pub unasked: Vec<String>,
    /// Writes of slices by the webhook's own controllers.
    pub ours: usize,
}

/// Reads a log.
///
/// # Errors
/// It cannot be read.
pub fn read(log: &Path) -> Result<Audit> {
    let mut audit = Audit::default();
    let mut passed = BTreeSet::new();
    let ours = format!("system:serviceaccount:{WEBHOOK_NAMESPACE}:{WEBHOOK_NAME}");
    for request in requests(log)? {
        let request = request?;
        let object = &request["objectRef"];
        let was_done = object["apiGroup"] == ENO_GROUP
            && object["resource"] == "resourceslices"
            && request["stage"] == "ResponseComplete"
            && request["responseStatus"]["code"] == 200;
        if !was_done {
            continue;
        }
        let is_ours = request["user"]["username"] == ours;
        audit.ours += usize::from(is_ours && ["delete", "patch"].iter().any(|verb| request["verb"] == *verb));
        // A deletion of a collection has one line for all of them, which says nothing of each: the witness judges those.
        if request["verb"] != "delete" {
            continue;
        }
        let decision = format!("{}.{HOOK_DOMAIN}/decision", Hook::SlicesDelete);
        let annotated = request["annotations"][&decision].is_string();
        audit.asked += usize::from(annotated);
        let what = format!("{}/{} by {}", object["namespace"], object["name"], request["user"]["username"]);
        if !annotated && passed.insert(what.clone()) {
            audit.unasked.push(what);
        }
    }
    Ok(audit)
}

/// All that was asked of a composition and of what is named after it, in the order in which it ended.
///
/// # Errors
/// The log cannot be read.
pub fn of(log: &Path, composition: &str) -> Result<Vec<String>> {
    let mut lines = vec![];
    for request in requests(log)? {
        let request = request?;
        let (object, status) = (&request["objectRef"], &request["responseStatus"]);
        if !object["name"].as_str().is_some_and(|name| is_named_after(name, composition)) {
            continue;
        }
        lines.push(format!(
            "{} to {}: {} {} {}/{} by {} ({}): {} {}",
            request["requestReceivedTimestamp"],
            request["stageTimestamp"],
            request["verb"],
            request["requestURI"],
            object["resource"],
            object["name"],
            request["user"]["username"],
            request["userAgent"],
            status["code"],
            status["message"],
        ));
    }
    Ok(lines)
}

/// The requests of a log.
fn requests(log: &Path) -> Result<impl Iterator<Item = Result<Value>>> {
    let lines = BufReader::new(File::open(log).context("opening the audit log")?).lines();
    // A line of an API server that was killed may be cut short.
    Ok(lines.filter_map(|line| match line {
        Ok(line) => serde_json::from_str(&line).ok().map(Ok),
        Err(error) => Some(Err(error.into())),
    }))
}
