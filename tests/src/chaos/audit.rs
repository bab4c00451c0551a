//! What the API server's audit log says: no deletion of a slice was let pass by an API server that had not asked.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use eno_shared::names::{ENO_GROUP, HOOK_DOMAIN};
use eno_webhook::hooks::Hook;
use serde_json::Value;

/// What a log says.
#[derive(Debug, Default)]
pub struct Audit {
    /// Deletions of slices that were let pass after the webhook was asked.
    pub asked: usize,
    /// Those of which the webhook was not asked: these should not be.
    pub unasked: Vec<String>,
}

/// Reads a log.
///
/// # Errors
/// It cannot be read.
pub fn read(log: &Path) -> Result<Audit> {
    let mut audit = Audit::default();
    let mut passed = BTreeSet::new();
    for line in BufReader::new(File::open(log).context("opening the audit log")?).lines() {
        // A line of an API server that was killed may be cut short.
        let Ok(request) = serde_json::from_str::<Value>(&line?) else { continue };
        let object = &request["objectRef"];
        let is_deletion = request["verb"] == "delete"
            && object["apiGroup"] == ENO_GROUP
            && object["resource"] == "resourceslices"
            && request["stage"] == "ResponseComplete"
            && request["responseStatus"]["code"] == 200;
        if !is_deletion {
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
