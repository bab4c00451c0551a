//! The live look that the brake asks for: is so much really garbage?

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use eno_shared::api::{Composition, Metadata, ResourceSlice};
use eno_shared::client::{self, ReadError};
use eno_shared::{Compositions, Lookup, Verdict, judge};
use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;

use crate::store::{Key, scopes};

/// After how long a look that did not agree is repeated.
pub const AGAIN: Duration = Duration::from_secs(60);
/// How long one page may take.
const PAGE: Duration = Duration::from_secs(30);

/// Why the live look does not agree.
#[derive(Debug)]
pub enum Suspicion {
    /// Something could not be read.
    Unread(ReadError),
    /// There are slices, and not one composition: rather their kind was removed than all of them finished.
    NoCompositions,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Suspicion::Unread(error) => write!(f, "the live look failed: {error}"),
            Suspicion::NoCompositions => {
                f.write_str("there is not one composition; were they, or their kind, removed by mistake?")
            }
        }
    }
}

impl From<ReadError> for Suspicion {
    fn from(error: ReadError) -> Self {
        Suspicion::Unread(error)
    }
}

/// [`live_look`] once more, after a while.
///
/// # Errors
/// As for [`live_look`].
pub async fn later_look(client: &Client, namespaces: &[String]) -> Result<HashSet<Key>, Suspicion> {
    tokio::time::sleep(AGAIN).await;
    live_look(client, namespaces).await
}

/// Lists all slices and then all compositions, and says which slices are garbage.
///
/// In that order, since a composition that appears in between can only save a slice.
///
/// # Errors
/// [`Suspicion`]: nothing is to be collected.
pub async fn live_look(client: &Client, namespaces: &[String]) -> Result<HashSet<Key>, Suspicion> {
    let everything = ListParams::default();
    let (mut slices, mut compositions): (Vec<Metadata>, BTreeMap<String, Vec<_>>) = (vec![], BTreeMap::new());
    let mut count = 0;
    for scope in scopes(namespaces) {
        slices.extend(client::list_metadata::<ResourceSlice>(client, scope.as_deref(), &everything, PAGE).await?);
    }
    for scope in scopes(namespaces) {
        for one in client::list::<Composition>(client, scope.as_deref(), &everything, PAGE).await? {
            count += usize::from(matches!(one.object, Lookup::Found(_)));
            compositions.entry(one.namespace).or_default().push((one.name, one.object.map(Arc::new)));
        }
    }
    if count == 0 && !slices.is_empty() {
        return Err(Suspicion::NoCompositions);
    }
    let compositions: BTreeMap<String, Compositions> =
        compositions.into_iter().map(|(namespace, of)| (namespace, Compositions::whole(of))).collect();
    let (none, now) = (Compositions::whole([]), Timestamp::now());
    let garbage = slices.into_iter().filter_map(|metadata| {
        let of = compositions.get(&metadata.namespace).unwrap_or(&none);
        let slice = ResourceSlice::of_metadata(metadata);
        let key = Key::new(&slice.metadata.namespace, &slice.metadata.name);
        (judge(&slice, of, now).verdict == Verdict::Collect).then_some(key)
    });
    Ok(garbage.collect())
}
