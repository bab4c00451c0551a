//! The manifests: rendered by kustomize, installed, and read for what they say of the process, its network and its rights.
//!
//! - [`Manifests`] are the objects that an overlay renders to; [`generated`] is `cargo xtask manifests`.
//! - [`ground`] is a control plane of a story's own to install them on.
//! - [`replica`] runs the process as the pod of the Deployment would be run; [`rights`] compares what it may with what it did.

pub mod generated;
pub mod ground;
pub mod replica;
pub mod rights;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// All overlays that can be applied as they are; `external-ca` wants a file first.
pub const OVERLAYS: [&str; 7] =
    ["self-managed", "cert-manager", "network-policy", "audit", "high-availability", "aks", "gke"];

/// The objects that a kustomization renders to, in its order.
#[derive(Debug, Clone)]
pub struct Manifests {
    dir: PathBuf,
    objects: Vec<Value>,
}

/// The folder of an overlay.
pub fn overlay(name: &str) -> PathBuf {
    workspace::root().join("manifests/overlays").join(name)
}

impl Manifests {
    /// Renders a kustomization with this kubectl.
    ///
    /// # Errors
    /// kustomize refuses it.
    pub fn render(kubectl: &Path, dir: &Path) -> Result<Self> {
        let output = Command::new(kubectl).arg("kustomize").arg(dir).output().context("running kubectl kustomize")?;
        ensure!(output.status.success(), "{}: {}", dir.display(), String::from_utf8_lossy(&output.stderr));
        let objects = serde_saphyr::from_multiple(std::str::from_utf8(&output.stdout)?)?;
        Ok(Self { dir: dir.to_owned(), objects })
    }

    /// The folder of the kustomization, for `kubectl apply -k`.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// All objects.
    pub fn all(&self) -> &[Value] {
        &self.objects
    }

    /// Gives the program of the Deployment one more flag.
    ///
    /// # Errors
    /// There is no Deployment.
    pub fn add_flag(&mut self, flag: &str) -> Result<()> {
        let deployment = self.objects.iter_mut().find(|object| object["kind"] == "Deployment");
        let args = deployment.and_then(|it| it.pointer_mut("/spec/template/spec/containers/0/args"));
        args.and_then(Value::as_array_mut).context("a Deployment has flags")?.push(flag.into());
        Ok(())
    }

    /// All objects of a kind.
    pub fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// The only object of a kind.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn only(&self, kind: &str) -> Result<&Value> {
        let mut of = self.of(kind);
        let only = of.next().with_context(|| format!("no {kind}"))?;
        ensure!(of.next().is_none(), "more than one {kind}");
        Ok(only)
    }

    /// All webhooks, of both configurations.
    ///
    /// # Errors
    /// A configuration is missing.
    pub fn webhooks(&self) -> Result<Vec<&Value>> {
        let mut all = vec![];
        for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
            all.extend(self.only(kind)?["webhooks"].as_array().context("a configuration without webhooks")?);
        }
        Ok(all)
    }
}

/// A text field of an object.
///
/// # Errors
/// It is not there, or not a text.
pub fn text<'a>(object: &'a Value, pointer: &str) -> Result<&'a str> {
    object.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no text at {pointer} of {object}"))
}

/// The elements of a list of an object; none where it is not there.
pub fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
