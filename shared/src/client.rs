//! Live reads that become facts, and guarded writes. Behind the feature `client`; webhook and plugin share it.

mod apply;
mod list;
mod read;
mod watched;

pub use apply::{Effect, Written, delete, delete_pod_at_once, patch};
pub use list::{Listed, list, list_json, list_metadata};
pub use read::{ReadError, get, get_text, lookup};
pub use watched::Watched;
