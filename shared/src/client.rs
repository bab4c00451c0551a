//! Live reads that become facts, and guarded writes. Behind the feature `client`; webhook and plugin share it.

mod apply;
mod list;
mod read;
mod watched;

pub use apply::{Effect, Written, delete, patch};
pub use list::{Listed, list, list_json, list_metadata};
pub use read::{ReadError, get, lookup};
pub use watched::Watched;
