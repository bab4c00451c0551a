//! A small API server that keeps what is written: enough to delete, patch and create objects with preconditions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::api_server::{ApiServer, Request, Response};

/// Its objects, by path.
#[derive(Clone, Default)]
pub struct Store(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    objects: BTreeMap<String, Value>,
    version: u64,
}

impl Store {
    /// With these objects; their paths come from kind, namespace and name.
    pub fn of(objects: &[Value]) -> Self {
        let store = Store::default();
        for object in objects {
            store.put(object.clone());
        }
        store
    }

    /// Stores an object as it is, but for a new resourceVersion.
    pub fn put(&self, mut object: Value) {
        let mut kept = self.0.lock().unwrap();
        kept.version += 1;
        object["metadata"]["resourceVersion"] = json!(kept.version.to_string());
        let path = path(&object);
        kept.objects.insert(path, object);
    }

    /// The object at a path.
    pub fn get(&self, path: &str) -> Option<Value> {
        self.0.lock().unwrap().objects.get(path).cloned()
    }

    /// Changes an object, as somebody else would.
    pub fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(path).unwrap();
        change(&mut object);
        self.put(object);
    }

    /// Serves it. `meddle` sees each request first, and may answer it.
    pub fn serve(&self, meddle: impl Fn(&Store, &Request) -> Option<Response> + Send + Sync + 'static) -> ApiServer {
        let store = self.clone();
        ApiServer::start(move |request| meddle(&store, request).unwrap_or_else(|| store.answer(request)))
    }

    fn answer(&self, request: &Request) -> Response {
        let dry_run = request.query.contains("dryRun=All");
        match request.method.as_str() {
            "GET" => self.read(request),
            "DELETE" => self.delete(request, dry_run),
            "PATCH" => self.patch(request, dry_run),
            "POST" => {
                let object: Value = serde_json::from_str(&request.body).unwrap();
                if !dry_run {
                    self.put(object.clone());
                }
                Response::ok(object)
            }
            other => panic!("no answer to {other}"),
        }
    }

    fn read(&self, request: &Request) -> Response {
        if let Some(object) = self.get(&request.path) {
            return Response::ok(object);
        }
        let kept = self.0.lock().unwrap();
        let below = format!("{}/", request.path);
        let plural = request.path.rsplit('/').next().unwrap();
        if !["resourceslices", "compositions"].contains(&plural) {
            return Response::not_found(plural);
        }
        // In all namespaces, or in one.
        let listed = |path: &&String| {
            path.starts_with(&below)
                || (!request.path.contains("/namespaces/") && path.contains(&format!("/{plural}/")))
        };
        let items: Vec<Value> =
            kept.objects.iter().filter(|(path, _)| listed(path)).map(|(_, object)| object.clone()).collect();
        if request.headers.get("accept").is_some_and(|accept| accept.contains("PartialObjectMetadataList")) {
            return Response::metadata_list(&items);
        }
        Response::list(&items)
    }

    fn delete(&self, request: &Request, dry_run: bool) -> Response {
        let Some(mut object) = self.get(&request.path) else { return missing(request) };
        let body: Value = serde_json::from_str(&request.body).unwrap();
        for field in ["uid", "resourceVersion"] {
            if body["preconditions"][field] != object["metadata"][field] {
                return Response::precondition_failed(object["metadata"]["name"].as_str().unwrap());
            }
        }
        let dry_run = dry_run || !body["dryRun"].is_null();
        if object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty) {
            if !dry_run {
                self.0.lock().unwrap().objects.remove(&request.path);
            }
            return Response::ok(json!({"apiVersion": "v1", "kind": "Status", "status": "Success", "metadata": {}}));
        }
        object["metadata"]["deletionTimestamp"] = json!("2026-03-01T12:00:00Z");
        self.keep(request, object, dry_run)
    }

    fn patch(&self, request: &Request, dry_run: bool) -> Response {
        let Some(mut object) = self.get(&request.path) else { return missing(request) };
        let patch: json_patch::Patch = serde_json::from_str(&request.body).unwrap();
        if json_patch::patch(&mut object, &patch).is_err() {
            return Response::test_failed();
        }
        self.keep(request, object, dry_run)
    }

    /// Stores what a request has made of an object, which goes when it is deleted and nothing holds it.
    fn keep(&self, request: &Request, object: Value, dry_run: bool) -> Response {
        let metadata = &object["metadata"];
        let held = metadata["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty());
        if dry_run {
            return Response::ok(object);
        }
        if metadata["deletionTimestamp"].is_string() && !held {
            self.0.lock().unwrap().objects.remove(&request.path);
            return Response::ok(object);
        }
        self.put(object);
        Response::ok(self.get(&request.path).unwrap())
    }
}

fn missing(request: &Request) -> Response {
    Response::not_found(request.path.rsplit('/').next().unwrap())
}

fn path(object: &Value) -> String {
    let (name, namespace) = (&object["metadata"]["name"], &object["metadata"]["namespace"]);
    let name = name.as_str().unwrap();
    let plural = match object["kind"].as_str().unwrap() {
        "Namespace" => return format!("/api/v1/namespaces/{name}"),
        "Synthesizer" => return format!("/apis/eno.azure.io/v1/synthesizers/{name}"),
        "ResourceSlice" => "resourceslices",
        "Composition" => "compositions",
        other => panic!("{other} has no path"),
    };
    format!("/apis/eno.azure.io/v1/namespaces/{}/{plural}/{name}", namespace.as_str().unwrap())
}
