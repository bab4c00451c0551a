//! `Symphony`: makes compositions, and owns them.

use serde::Deserialize;

use super::decode::Kind;
use super::metadata::Metadata;

/// A `Symphony` of `eno.azure.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Symphony {
    /// Its metadata.
    pub metadata: Metadata,
}

impl Kind for Symphony {
    const KIND: &'static str = "Symphony";
    const PLURAL: &'static str = "symphonies";
    const SINGULAR: &'static str = "symphony";
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}
