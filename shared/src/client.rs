//! Live reads that become facts. Behind the feature `client`; webhook and plugin share it.

mod list;
mod read;

pub use list::{Listed, list, list_metadata};
pub use read::{ReadError, get, lookup};
