//! The binaries of a control plane: what they are, and where they are found.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::build;

/// Chooses the Kubernetes that is built: `oldest` is the oldest one that is supported; the newest is the default.
pub const KUBERNETES_VARIABLE: &str = "ENO_KUBERNETES";

/// Where envtest's binaries are installed, unless `KUBEBUILDER_ASSETS` says otherwise.
const ENVTEST: &str = "/usr/local/kubebuilder/bin";

/// A program that the harness runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// The garbage collector, the namespace controller and others.
    KubeControllerManager,
    /// The command line that matches them.
    Kubectl,
}

impl Component {
    /// All of them, in the order of their start.
    pub const ALL: [Self; 4] = [Self::Etcd, Self::KubeApiserver, Self::KubeControllerManager, Self::Kubectl];

    /// The file name of its binary.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::Kubectl => "kubectl",
        }
    }

    /// The Go package that it is built from.
    pub fn package(self) -> String {
        match self {
            Self::Etcd => self.module().into(),
            Self::KubeApiserver | Self::KubeControllerManager | Self::Kubectl => {
                format!("{}/cmd/{}", self.module(), self.name())
            }
        }
    }

    fn module(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::KubeApiserver | Self::KubeControllerManager | Self::Kubectl => "k8s.io/kubernetes",
        }
    }

    fn project(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver | Self::KubeControllerManager | Self::Kubectl => "kubernetes",
        }
    }

    /// The folder of our Go module that names its version.
    ///
    /// # Errors
    /// `ENO_KUBERNETES` is neither `oldest` nor `newest`.
    pub fn source(self) -> Result<PathBuf> {
        let folder = match self {
            Self::Etcd => self.project(),
            Self::KubeApiserver | Self::KubeControllerManager | Self::Kubectl => kubernetes()?,
        };
        Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("controlplane").join(folder))
    }

    /// Its version, as `go.mod` has it: `v1.37.2`.
    ///
    /// # Errors
    /// `go.mod` does not require it.
    pub fn version(self) -> Result<String> {
        let path = self.source()?.join("go.mod");
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let require = |line: &str| match *line.split_whitespace().collect::<Vec<_>>() {
            [module, version, ..] if module == self.module() => Some(version.to_owned()),
            _ => None,
        };
        text.lines().find_map(require).with_context(|| format!("{} does not require {}", path.display(), self.module()))
    }

    /// Where its build is kept: outside target/, by version.
    ///
    /// # Errors
    /// There is no home folder, or no version.
    pub fn cached(self) -> Result<PathBuf> {
        Ok(cache()?.join(format!("{}-{}", self.project(), self.version()?)).join(self.name()))
    }

    /// Its binary, where there is one: envtest's, else our build; our build only where a version was chosen.
    ///
    /// # Errors
    /// As for [`Component::cached`].
    pub fn find(self) -> Result<Option<PathBuf>> {
        let envtest = env::var_os("KUBEBUILDER_ASSETS").map_or_else(|| PathBuf::from(ENVTEST), PathBuf::from);
        let chosen = env::var_os(KUBERNETES_VARIABLE).is_some();
        let candidates = [(!chosen).then(|| envtest.join(self.name())), Some(self.cached()?)];
        Ok(candidates.into_iter().flatten().find(|path| path.is_file()))
    }
}

/// The folder of the Kubernetes to build.
fn kubernetes() -> Result<&'static str> {
    match env::var(KUBERNETES_VARIABLE).as_deref() {
        Err(_) | Ok("" | "newest") => Ok("kubernetes"),
        Ok("oldest") => Ok("kubernetes-oldest"),
        Ok(other) => bail!("{KUBERNETES_VARIABLE}={other}: expected oldest or newest"),
    }
}

/// The folder of our builds: `ENO_CONTROLPLANE_CACHE`, else `kubectl-eno/controlplane` of the user's cache.
///
/// # Errors
/// There is no home folder.
pub fn cache() -> Result<PathBuf> {
    if let Some(dir) = env::var_os("ENO_CONTROLPLANE_CACHE") {
        return Ok(dir.into());
    }
    let user = match env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => env::home_dir().context("no home folder: set ENO_CONTROLPLANE_CACHE")?.join(".cache"),
    };
    Ok(user.join("kubectl-eno/controlplane"))
}

/// The path of each [`Component`].
#[derive(Debug, Clone)]
pub struct Binaries([PathBuf; 4]);

impl Binaries {
    /// The binaries that are there.
    ///
    /// # Errors
    /// One is missing.
    pub fn find() -> Result<Self> {
        Self::each(|component| match component.find()? {
            Some(path) => Ok(path),
            None => bail!("no {}: run `cargo xtask controlplane build`", component.name()),
        })
    }

    /// The binaries; those that are missing are built, with progress on standard error.
    ///
    /// # Errors
    /// A build fails, or there is no Go.
    pub fn ensure() -> Result<Self> {
        Self::each(|component| match component.find()? {
            Some(path) => Ok(path),
            None => build::build(component),
        })
    }

    fn each(mut find: impl FnMut(Component) -> Result<PathBuf>) -> Result<Self> {
        let [etcd, apiserver, controller_manager, kubectl] = Component::ALL;
        Ok(Self([find(etcd)?, find(apiserver)?, find(controller_manager)?, find(kubectl)?]))
    }

    /// The binary of a component.
    pub fn path(&self, component: Component) -> &Path {
        &self.0[component as usize]
    }
}
