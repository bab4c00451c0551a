//! What a new synthesis could orphan.

use std::fmt;

use eno_shared::api::{Composition, Content, ResourceSlice, Synthesizer};
use eno_shared::client;
use eno_shared::resynthesis::{Refusal, harmless};
use futures::stream::{StreamExt, iter};

use crate::cluster::Cluster;
use crate::failure::Failure;

/// Why a new synthesis is not asked for without a person's word.
pub(super) struct Risk {
    refusal: Refusal,
    /// What makes it worse: slices whose resources have no other record.
    slices: Vec<String>,
}

impl Risk {
    /// Would Eno do nothing, whoever asks?
    pub fn is_ignored(&self) -> bool {
        self.refusal == Refusal::NoSynthesizer
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.refusal)?;
        if self.slices.is_empty() {
            return Ok(());
        }
        write!(
            f,
            "; {}: resources of theirs that a new synthesis no longer contains would be orphaned",
            self.slices.join(", ")
        )
    }
}

/// `None` where a new synthesis changes nothing, as far as generations tell.
///
/// # Errors
/// The synthesizer cannot be read: then nobody can say.
pub(super) async fn of(composition: &Composition, cluster: &Cluster) -> Result<Option<Risk>, Failure> {
    let Err(refusal) = judged(composition, cluster).await? else { return Ok(None) };
    let names = composition.status.current_synthesis.iter().flat_map(|synthesis| &synthesis.resource_slices);
    let namespace = &composition.metadata.namespace;
    let reads = names.map(|slice| async move {
        let read = client::get::<ResourceSlice>(&cluster.client, Some(namespace), &slice.name, cluster.timeout).await;
        match read {
            Ok(Some(read)) if read.metadata.is_deleting() && holds_any(&read) => {
                Some(format!("slice {} is being deleted", slice.name))
            }
            Ok(Some(_)) => None,
            Ok(None) => Some(format!("slice {} does not exist", slice.name)),
            Err(error) => Some(format!("slice {} could not be read ({error})", slice.name)),
        }
    });
    let slices = iter(reads).buffered(cluster.concurrency).filter_map(std::future::ready).collect().await;
    Ok(Some(Risk { refusal, slices }))
}

async fn judged(composition: &Composition, cluster: &Cluster) -> Result<Result<(), Refusal>, Failure> {
    if let Err(refusal) = harmless(composition, None) {
        return Ok(Err(refusal));
    }
    let name = &composition.spec.synthesizer.name;
    if name.is_empty() {
        // Labels choose it: which one it was is not recorded.
        return Ok(Err(Refusal::SynthesizerUnknown));
    }
    let read = client::get::<Synthesizer>(&cluster.client, None, name, cluster.timeout).await;
    let read = read.map_err(|error| Failure::read::<Synthesizer>(&error, &cluster.host))?;
    Ok(read.as_ref().map_or(Err(Refusal::NoSynthesizer), |synthesizer| harmless(composition, Some(synthesizer))))
}

fn holds_any(slice: &ResourceSlice) -> bool {
    match &slice.content {
        Content::Read { resources, .. } => *resources > 0,
        Content::Unread => true,
    }
}
