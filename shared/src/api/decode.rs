//! From JSON to a typed object, refusing what only looks like it.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

use crate::names::{ENO_API_VERSION, ENO_GROUP, ENO_VERSION};

/// A kind of object with its place in the API.
pub trait Kind: DeserializeOwned {
    /// Singular, in CamelCase: `ResourceSlice`.
    const KIND: &'static str;
    /// Plural, as in URLs: `resourceslices`.
    const PLURAL: &'static str;
    /// Singular, as people type it: `resourceslice`.
    const SINGULAR: &'static str;
    /// The object's metadata.
    fn metadata(&self) -> &super::Metadata;

    /// `resourceslice.eno.azure.io/NAME`, as `kubectl -o name` prints it.
    fn resource_name(&self) -> String {
        format!("{}.{ENO_GROUP}/{}", Self::SINGULAR, self.metadata().name)
    }

    /// The path of the objects of a namespace, or of all namespaces.
    fn path(namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) => format!("/apis/{ENO_GROUP}/{ENO_VERSION}/namespaces/{namespace}/{}", Self::PLURAL),
            None => format!("/apis/{ENO_GROUP}/{ENO_VERSION}/{}", Self::PLURAL),
        }
    }
}

/// Why an object could not be understood.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The object says it is something else.
    #[error("expected {ENO_API_VERSION} {expected}, found {found}")]
    WrongKind {
        /// What was expected.
        expected: &'static str,
        /// `apiVersion` and `kind` as found.
        found: String,
    },
    /// It is not JSON, or a field that is read has the wrong type.
    #[error("malformed object: {0}")]
    Malformed(#[source] serde_json::Error),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeMeta<'a> {
    #[serde(borrow, default)]
    api_version: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    kind: std::borrow::Cow<'a, str>,
}

/// Decodes one object of kind `K` from JSON text.
///
/// # Errors
/// [`DecodeError::WrongKind`] where `apiVersion` or `kind` say otherwise (a DRA `ResourceSlice`, say),
/// [`DecodeError::Malformed`] where a field that is read has the wrong type.
pub fn decode<K: Kind>(json: &[u8]) -> Result<K, DecodeError> {
    let found: TypeMeta = serde_json::from_slice(json).map_err(DecodeError::Malformed)?;
    is_kind::<K>(&found.api_version, &found.kind)?;
    serde_json::from_slice(json).map_err(DecodeError::Malformed)
}

/// [`decode`], of JSON that was parsed already.
///
/// # Errors
/// As for [`decode`].
pub fn decode_value<K: Kind>(json: serde_json::Value) -> Result<K, DecodeError> {
    let text = |field| json.get(field).and_then(serde_json::Value::as_str).unwrap_or_default();
    is_kind::<K>(text("apiVersion"), text("kind"))?;
    serde_json::from_value(json).map_err(DecodeError::Malformed)
}

fn is_kind<K: Kind>(api_version: &str, kind: &str) -> Result<(), DecodeError> {
    if api_version == ENO_API_VERSION && kind == K::KIND {
        return Ok(());
    }
    Err(DecodeError::WrongKind { expected: K::KIND, found: format!("{api_version} {kind}") })
}

/// `null` where Go prints an empty list or map, or a zero.
pub(super) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Is anything but `null` there? What it is does not matter.
pub(super) fn is_set<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<serde::de::IgnoredAny>::deserialize(deserializer).map(|value| value.is_some())
}

/// A struct, from an object alone. serde takes a list for one as well, field by field: then `"status": []` would be a
/// status in which nothing is set.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// An [`Object`].
pub(super) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Object::deserialize(deserializer).map(|Object(object)| object)
}

/// An [`Object`], or `null`.
pub(super) fn object_or_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<Object<T>>::deserialize(deserializer).map(|object| object.map(|Object(object)| object))
}

/// An [`Object`], or `null` where Go prints an empty struct.
pub(super) fn object_or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    object_or_none(deserializer).map(Option::unwrap_or_default)
}

/// A list of [`Object`]s.
pub(super) fn objects<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(list.unwrap_or_default().into_iter().map(|Object(object)| object).collect())
}

/// A list of [`Object`]s without its `null` elements: Eno's lists are of pointers.
pub(super) fn objects_without_nulls<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list = Option::<Vec<Option<Object<T>>>>::deserialize(deserializer)?;
    Ok(list.unwrap_or_default().into_iter().flatten().map(|Object(object)| object).collect())
}
