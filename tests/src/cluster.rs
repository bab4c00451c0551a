//! A client's side of a control plane: what tests, the demo and the benchmark use.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::{Api, Client, Config};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::controlplane::{self, Component, ControlPlane};
use crate::workspace;

/// Names a kubeconfig to test with, instead of that of `cargo xtask controlplane up`.
pub const KUBECONFIG_VARIABLE: &str = "ENO_TEST_KUBECONFIG";

/// Field manager of what the harness applies.
const MANAGER: &str = "eno-tests";

/// A control plane that answers.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
}

impl Output {
    /// Standard output, of a command that must have succeeded.
    ///
    /// # Errors
    /// The exit code is not 0: says what it printed.
    pub fn success(self) -> Result<String> {
        ensure!(self.code == 0, "exit code {}\n{}{}", self.code, self.stdout, self.stderr);
        Ok(self.stdout)
    }
}

impl Cluster {
    /// The control plane that the tests share.
    ///
    /// # Panics
    /// None answers: says which command starts one.
    pub async fn connect() -> Self {
        let named = env::var_os(KUBECONFIG_VARIABLE).map(PathBuf::from);
        let kubeconfig = named.unwrap_or_else(|| workspace::controlplane().join("kubeconfig"));
        Self::at(&kubeconfig).await.unwrap_or_else(|error| {
            panic!(
                "no control plane to test on: {error:#}\n\
                 hint: start one with `cargo xtask controlplane up`, or let `cargo xtask test` do all, or set {KUBECONFIG_VARIABLE}"
            )
        })
    }

    /// The control plane of a kubeconfig.
    ///
    /// # Errors
    /// It does not answer, or there is no kubectl.
    pub async fn at(kubeconfig: &Path) -> Result<Self> {
        let client = controlplane::client(kubeconfig).await?;
        controlplane::answers(&client)
            .await
            .with_context(|| format!("asking the server of {}", kubeconfig.display()))?;
        let kubectl = Component::Kubectl.find()?.context("no kubectl: run `cargo xtask controlplane build`")?;
        Ok(Self { client, kubeconfig: kubeconfig.to_owned(), kubectl })
    }

    /// A control plane of the caller's own.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn of(controlplane: &ControlPlane) -> Result<Self> {
        Self::at(&controlplane.kubeconfig()).await
    }

    /// The same by a client that does not try again, by itself, what it was refused for now.
    ///
    /// # Errors
    /// The kubeconfig is gone.
    pub async fn without_retries(&self) -> Result<Self> {
        let file = Kubeconfig::read_from(&self.kubeconfig)?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        Ok(Self { client: Client::try_from(config)?, ..self.clone() })
    }

    /// Its client.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Its kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The audit log of writes, where the harness started the control plane with one.
    pub fn audit_log(&self) -> Option<PathBuf> {
        let log = self.kubeconfig.with_file_name(controlplane::AUDIT_LOG);
        log.exists().then_some(log)
    }

    /// The matching kubectl.
    pub fn kubectl_path(&self) -> &Path {
        &self.kubectl
    }

    /// Runs kubectl.
    ///
    /// # Errors
    /// It cannot be run; its own failure is in the output.
    pub async fn kubectl(&self, args: &[&str]) -> Result<Output> {
        self.kubectl_with(args, "").await
    }

    /// Runs kubectl with this on its standard input.
    ///
    /// # Errors
    /// As for [`Cluster::kubectl`].
    pub async fn kubectl_with(&self, args: &[&str], input: &str) -> Result<Output> {
        let mut child = Command::new(&self.kubectl)
            .args(args)
            .env("KUBECONFIG", &self.kubeconfig)
            // By default discovery is cached by address, and a port may have been another control plane's.
            .env("KUBECACHEDIR", self.kubeconfig.with_file_name("kubectl-cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("running {}", self.kubectl.display()))?;
        let mut stdin = child.stdin.take().context("kubectl has no standard input")?;
        let (written, output) =
            tokio::join!(async move { stdin.write_all(input.as_bytes()).await }, child.wait_with_output());
        let output = output?;
        // A kubectl that does not read its input closes it.
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            return Err(error.into());
        }
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ok(Output {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code: output.status.code().unwrap_or(-1),
        })
    }

    /// Applies an object (server-side, by force), and returns it as it is then. Its status is not written.
    ///
    /// # Errors
    /// The server refuses it, or it has no kind or name.
    pub async fn apply(&self, object: &Value) -> Result<DynamicObject> {
        let (api, name) = self.addressed(object)?;
        let params = PatchParams::apply(MANAGER).force();
        api.patch(&name, &params, &Patch::Apply(object)).await.with_context(|| format!("applying {name}"))
    }

    /// Writes `status` of an object (merge patch on the subresource).
    ///
    /// # Errors
    /// As for [`Cluster::apply`].
    pub async fn set_status(&self, object: &Value, status: &Value) -> Result<DynamicObject> {
        let (api, name) = self.addressed(object)?;
        let patch = serde_json::json!({"status": status});
        let patched = api.patch_status(&name, &PatchParams::default(), &Patch::Merge(&patch)).await;
        patched.with_context(|| format!("writing the status of {name}"))
    }

    fn addressed(&self, object: &Value) -> Result<(Api<DynamicObject>, String)> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").context("the object has no name")?;
        let api_version = text("/apiVersion").context("the object has no apiVersion")?;
        let kind = text("/kind").context("the object has no kind")?;
        Ok((self.api(api_version, kind, text("/metadata/namespace")), name.to_owned()))
    }

    /// The objects of a kind, in a namespace or (without) of the whole cluster.
    pub fn api(&self, api_version: &str, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client(), namespace, &resource),
            None => Api::all_with(self.client(), &resource),
        }
    }

    /// Eno's objects of a kind, in a namespace.
    pub fn eno(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        self.api(eno_shared::names::ENO_API_VERSION, kind, Some(namespace))
    }
}
