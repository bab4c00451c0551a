//! What must be read to explain an object.

use eno_shared::Lookup;
use eno_shared::api::Symphony;
use jiff::SignedDuration;

use super::explanation::Explanation;
use super::target::Kind;
use super::{Advice, Asked, composition, dump_flags, home, namespace, pod, slice, symphony};
use crate::cli::WhyFlags;
use crate::failure::Failure;
use crate::finding::pod::composition_of;
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::source::Source;

/// What is asked, and of whom.
pub(super) struct Reading<'a> {
    pub source: &'a Source,
    pub flags: &'a WhyFlags,
    pub name: &'a str,
    pub kind: Kind,
}

impl<'a> Asked<'a> {
    /// With what the flags say.
    pub(super) fn new(
        flags: &WhyFlags,
        name: &'a str,
        snapshot: &'a Snapshot,
        namespace: &'a str,
    ) -> Result<Self, Failure> {
        Ok(Asked {
            snapshot,
            namespace,
            name,
            patience: SignedDuration::try_from(flags.source.stuck_after).map_err(Failure::local)?,
            advice: Advice::new(namespace, dump_flags(&flags.source)),
        })
    }
}

/// What must be known to explain it.
pub(super) fn query(kind: Kind, name: &str, namespace: Option<String>) -> Query {
    let is_slice = kind == Kind::Slice;
    Query {
        namespace,
        names: if is_slice { vec![name.to_owned()] } else { vec![] },
        composition: (kind == Kind::Composition).then(|| name.to_owned()),
        depth: match kind {
            Kind::Slice | Kind::Composition | Kind::Namespace => Depth::Manifests,
            Kind::Symphony => Depth::Undone,
            Kind::Pod => Depth::Rules,
        },
        slices_may_fail: !is_slice,
        ..Query::default()
    }
}

impl Reading<'_> {
    /// A slice or a composition.
    pub(super) async fn object(&self, namespace: Option<String>) -> Result<Explanation, Failure> {
        let is_slice = self.kind == Kind::Slice;
        let query = query(self.kind, self.name, namespace);
        let snapshot = self.source.snapshot(&query).await?;
        let namespace = home(&snapshot, &query, self.kind, self.name).ok_or_else(|| self.not_found())??;
        let asked = self.asked(&snapshot, &namespace)?;
        let explanation = if is_slice { slice::explain(&asked) } else { composition::explain(&asked) };
        explanation.ok_or_else(|| self.not_found())
    }

    /// A symphony, with the compositions of its namespace.
    pub(super) async fn symphony(&self, namespace: Option<String>) -> Result<Explanation, Failure> {
        let symphony: Symphony = self.source.symphony(namespace.as_deref(), self.name).await?;
        let namespace = symphony.metadata.namespace.clone();
        let snapshot = self.source.all_of(&namespace, Depth::Undone).await?;
        Ok(symphony::explain(&self.asked(&snapshot, &namespace)?, &symphony))
    }

    /// A namespace, with all that it holds of Eno's.
    pub(super) async fn namespace(&self) -> Result<Explanation, Failure> {
        let (namespace, symphonies, snapshot) = futures::join!(
            self.source.namespace(self.name),
            self.source.symphonies(Some(self.name)),
            self.source.all_of(self.name, Depth::Manifests)
        );
        let namespace = self.found(namespace)?;
        let snapshot = snapshot?;
        Ok(namespace::explain(&self.asked(&snapshot, self.name)?, &namespace, &symphonies))
    }

    /// A pod, with the compositions of the namespace that it works for.
    pub(super) async fn pod(&self, namespace: Option<String>) -> Result<Explanation, Failure> {
        let pod = self.found(self.source.pod(namespace.as_deref(), self.name).await)?;
        let home = composition_of(&pod.metadata).map_or(pod.metadata.namespace.as_str(), |(home, _)| home);
        let snapshot = self.source.all_of(home, Depth::Rules).await?;
        Ok(pod::explain(&self.asked(&snapshot, home)?, &pod))
    }

    fn asked<'s>(&'s self, snapshot: &'s Snapshot, namespace: &'s str) -> Result<Asked<'s>, Failure> {
        Asked::new(self.flags, self.name, snapshot, namespace)
    }

    fn found<T>(&self, lookup: Lookup<T>) -> Result<T, Failure> {
        match lookup {
            Lookup::Found(object) => Ok(object),
            Lookup::Missing => Err(self.not_found()),
            Lookup::Unknown(_) if self.is_offline() => Err(self.not_found()),
            Lookup::Unknown(why) => {
                Err(Failure::local(format_args!("cannot get {}/{}: {why}", self.kind.singular(), self.name)))
            }
        }
    }

    fn not_found(&self) -> Failure {
        self.kind.not_found(self.name, self.is_offline())
    }

    fn is_offline(&self) -> bool {
        matches!(self.source, Source::Dump(_))
    }
}
