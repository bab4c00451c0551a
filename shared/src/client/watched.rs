//! An object as a watch delivers it.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use kube::core::{NamespaceResourceScope, ObjectMeta, Resource};
use serde::{Deserialize, Deserializer};

use crate::api::{Kind, decode_value};
use crate::lookup::Lookup;
use crate::names::{ENO_API_VERSION, ENO_GROUP, ENO_VERSION};

/// An object of a watch. It always decodes: what does not is `Unknown`, under its name, for one bad object must neither
/// stop the watch nor go missing from it.
#[derive(Debug, Clone)]
pub struct Watched<K> {
    /// Name, namespace and resourceVersion only.
    metadata: ObjectMeta,
    /// The object.
    pub object: Lookup<Arc<K>>,
    kind: PhantomData<K>,
}

impl<'de, K: Kind> Deserialize<'de> for Watched<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        let text = |field: &str| Some(json.get("metadata")?.get(field)?.as_str()?.to_owned());
        let metadata = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        let object = match decode_value::<K>(json) {
            Ok(object) => Lookup::Found(Arc::new(object)),
            Err(error) => {
                let name = metadata.name.as_deref().unwrap_or_default();
                Lookup::Unknown(format!("{} {name}: {error}", K::SINGULAR))
            }
        };
        Ok(Watched { metadata, object, kind: PhantomData })
    }
}

impl<K: Kind> Resource for Watched<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::KIND.into()
    }
    fn group((): &()) -> Cow<'_, str> {
        ENO_GROUP.into()
    }
    fn version((): &()) -> Cow<'_, str> {
        ENO_VERSION.into()
    }
    fn api_version((): &()) -> Cow<'_, str> {
        ENO_API_VERSION.into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        K::PLURAL.into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
