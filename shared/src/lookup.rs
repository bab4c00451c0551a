//! What became of looking for one object.

/// Found, missing, or not to be told. Unknown never frees anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    /// It exists.
    Found(T),
    /// It does not exist: a *live* read said 404, or it is absent from a list that is known to be whole.
    Missing,
    /// Nobody can say; the text tells what could not be read, and why: 403, 5xx, a timeout, an object that does not
    /// decode, a cache that is not synced, an incomplete dump.
    Unknown(String),
}

impl<T> Lookup<T> {
    /// The same answer, of a reference.
    pub fn as_ref(&self) -> Lookup<&T> {
        match self {
            Lookup::Found(object) => Lookup::Found(object),
            Lookup::Missing => Lookup::Missing,
            Lookup::Unknown(why) => Lookup::Unknown(why.clone()),
        }
    }

    /// The same answer, of another view of the object.
    pub fn map<U>(self, view: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Lookup::Found(object) => Lookup::Found(view(object)),
            Lookup::Missing => Lookup::Missing,
            Lookup::Unknown(why) => Lookup::Unknown(why),
        }
    }

    /// The object, where it was found.
    pub fn found(&self) -> Option<&T> {
        match self {
            Lookup::Found(object) => Some(object),
            Lookup::Missing | Lookup::Unknown(_) => None,
        }
    }
}
