//! What a release would do: is the object still needed, and what would nobody delete?

mod judged;

use eno_shared::api::Metadata;
use eno_shared::client::ReadError;
use eno_shared::names::{CLEANUP_FINALIZER, ENO_GROUP};
use serde_json::Value;

use super::target::{Kind, Target};
use crate::cli::ReleaseFlags;
use crate::cluster::goes_into_url;
use crate::failure::Failure;
use crate::output::table::sanitized;
use crate::writer::Writer;
use judged::Judged;

/// So many resources are listed.
const LISTED: usize = 10;

/// What is known of an object that is to be released.
pub(super) struct Assessment {
    pub kind: Kind,
    pub metadata: Metadata,
    /// The object as it is stored, for the backup.
    pub stored: Value,
    pub has_finalizer: bool,
    judged: Judged,
}

/// Reads the object and what surrounds it.
///
/// # Errors
/// It does not exist, or cannot be read.
pub(super) async fn of(target: &Target, flags: &ReleaseFlags, writer: &Writer) -> Result<Assessment, Failure> {
    goes_into_url("resource name", &target.name)?;
    let stored = stored(target.kind, &target.name, writer).await?;
    let stored = stored.ok_or_else(|| target.kind.not_found(&target.name))?;
    let metadata = serde_json::from_value::<Metadata>(stored["metadata"].clone()).map_err(Failure::local)?;
    let mut judged = match target.kind {
        Kind::Slice => judged::slice(&target.name, writer).await?,
        Kind::Composition => judged::composition(&target.name, writer).await?,
    };
    if flags.finalizer != CLEANUP_FINALIZER {
        // The rules are of Eno's finalizer. What others wait for, only they know.
        let needed = Some(format!("only who has set {} knows whether it is", flags.finalizer));
        judged = Judged { says: judged.says, needed, ..Judged::default() };
    }
    let has_finalizer = metadata.finalizers.contains(&flags.finalizer);
    Ok(Assessment { kind: target.kind, metadata, stored, has_finalizer, judged })
}

impl Assessment {
    /// `resourceslice.eno.azure.io/NAME`.
    pub fn shown(&self) -> String {
        format!("{}.{ENO_GROUP}/{}", self.kind.singular(), self.metadata.name)
    }

    /// What a person reads first.
    pub fn lines(&self, finalizer: &str) -> Vec<String> {
        let mut lines = vec![format!("{}   {}", self.shown(), self.judged.says)];
        if !self.has_finalizer {
            lines.push(format!("finalizer {finalizer} is not on it: nothing to do"));
        } else {
            let others: Vec<&str> =
                self.metadata.finalizers.iter().map(String::as_str).filter(|other| *other != finalizer).collect();
            let others = if others.is_empty() { "<none>".to_owned() } else { others.join(", ") };
            lines.push(format!("This removes finalizer {finalizer} (others stay: {others})."));
            lines.extend(self.orphaned());
            lines.extend(self.judged.unread.iter().map(|slice| format!("What it holds is not known: slice {slice}.")));
        }
        lines.iter().map(|line| sanitized(line)).collect()
    }

    fn orphaned(&self) -> Vec<String> {
        let count = self.judged.orphans.len();
        if count == 0 {
            return vec![];
        }
        let resources = if count == 1 { "1 resource" } else { &format!("{count} resources") };
        let mut lines = vec![format!("{resources} will NOT be deleted by Eno then:")];
        lines.extend(self.judged.orphans.iter().take(LISTED).map(|resource| format!("  {resource}")));
        if count > LISTED {
            lines.push(format!("  … {} more ({} --show-all)", count - LISTED, self.why_command()));
        }
        lines
    }

    fn why_command(&self) -> String {
        let Metadata { namespace, name, .. } = &self.metadata;
        format!("kubectl eno why {}/{name} -n {namespace}", self.kind.singular())
    }

    /// Why it may not be released, if so.
    pub fn refusal(&self, flags: &ReleaseFlags) -> Option<String> {
        let (shown, namespace) = (self.shown(), &self.metadata.namespace);
        if !self.metadata.is_deleting() {
            return Some(format!(
                "error: refused: {shown} is not being deleted, and its finalizer will be needed when it is. To delete \
                 it: kubectl delete {shown} -n {namespace}"
            ));
        }
        match &self.judged.needed {
            Some(why) if self.has_finalizer && !flags.force => Some(format!(
                "error: refused: {shown} is still needed: {why}. See: {}; or pass --force to go on",
                self.why_command()
            )),
            Some(_) | None => None,
        }
    }
}

/// The object as it is stored.
pub(super) async fn stored(kind: Kind, name: &str, writer: &Writer) -> Result<Option<Value>, Failure> {
    let (client, host) = (&writer.cluster.client, &writer.cluster.host);
    let request = kube::core::Request::new(kind.path(&writer.namespace)).get(name, &Default::default());
    let request = request.map_err(Failure::local)?;
    let read = tokio::time::timeout(writer.timeout(), client.request::<Value>(request));
    match read.await.map_err(|_| ReadError::TimedOut(writer.timeout())).and_then(|read| Ok(read?)) {
        Ok(stored) => Ok(Some(stored)),
        // Only a 404 that names the object says that it does not exist.
        Err(ReadError::Api(status))
            if status.code == 404 && status.details.as_ref().is_some_and(|details| details.name == name) =>
        {
            Ok(None)
        }
        Err(error) => Err(kind.failure(&error, host)),
    }
}
