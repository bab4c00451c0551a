//! `kubectl eno plan-delete`: what a deletion would do, before anybody asks for it.

mod composition;
mod danger;
mod namespace;
mod plan;
mod slice;
mod symphony;
mod text;

use std::process::ExitCode;

use eno_shared::Lookup;
use eno_shared::api::{Composition, ResourceSlice};

use super::why::target::{Kind, Target};
use crate::cli::{Cascade, Cli, PlanDeleteFlags};
use crate::downstream::Downstream;
use crate::failure::{CANNOT_TELL, Failure};
use crate::output::table::sanitized;
use crate::output::{self, Format, Objects};
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::source::Source;
use plan::Plan;

/// What is asked, and what is known.
struct Asked<'a> {
    snapshot: &'a Snapshot,
    namespace: &'a str,
    name: &'a str,
    cascade: Cascade,
}

/// Runs the command.
///
/// # Errors
/// Where the object does not exist, or cannot be read.
pub(super) async fn run(flags: &PlanDeleteFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let Target { kind, name } = Target::parse(&flags.object)?;
    let (source, namespace) = super::source(&flags.source, cli)?;
    let downstream = Downstream::open(&flags.downstream, cli, &source)?;
    let mut plan = match kind {
        Kind::Slice | Kind::Composition => object(&source, namespace, kind, &name, flags.cascade).await?,
        Kind::Symphony => {
            let symphony = source.symphony(namespace.as_deref(), &name).await?;
            let home = symphony.metadata.namespace.clone();
            let snapshot = source.all_of(&home, Depth::Manifests).await?;
            let asked = Asked { snapshot: &snapshot, namespace: &home, name: &name, cascade: flags.cascade };
            symphony::plan(&asked, &symphony)
        }
        Kind::Namespace => {
            let (found, symphonies, snapshot) = futures::join!(
                source.namespace(&name),
                source.symphonies(Some(&name)),
                source.all_of(&name, Depth::Manifests)
            );
            let snapshot = snapshot?;
            // A dump may lack the namespace itself, and hold what is in it.
            let holds = !snapshot.slices.is_empty() || snapshot.namespaces.compositions(&name).names().next().is_some();
            let offline = matches!(source, Source::Dump(_));
            if found.found().is_none() && !(holds && offline) && (offline || found == Lookup::Missing) {
                return Err(kind.not_found(&name, offline));
            }
            let asked = Asked { snapshot: &snapshot, namespace: &name, name: &name, cascade: flags.cascade };
            namespace::plan(&asked, &found, &symphonies)
        }
        Kind::Pod => {
            return Err(Failure::local("cannot plan the deletion of a pod: nothing of Eno's rests on pods"));
        }
    };
    for fate in [&mut plan.deleted, &mut plan.left_behind, &mut plan.at_risk] {
        let resources = std::mem::take(fate).into_iter().map(|resource| resource.of).collect();
        *fate = downstream.look(resources).await;
    }
    print(&format, &plan, flags)?;
    Ok(if plan.cannot_tell { ExitCode::from(CANNOT_TELL) } else { ExitCode::SUCCESS })
}

/// A slice or a composition. All of its namespace is read: others may hold the same resources.
async fn object(
    source: &Source,
    namespace: Option<String>,
    kind: Kind,
    name: &str,
    cascade: Cascade,
) -> Result<Plan, Failure> {
    let query = Query {
        namespace: namespace.clone(),
        depth: Depth::Manifests,
        slices_may_fail: kind == Kind::Composition,
        ..Query::default()
    };
    let snapshot = source.snapshot(&query).await?;
    let offline = matches!(source, Source::Dump(_));
    let homes: Vec<String> = match (namespace, kind) {
        (Some(namespace), _) => vec![namespace],
        (None, Kind::Slice) => {
            let named = snapshot.slices.iter().map(|seen| seen.metadata()).filter(|metadata| metadata.name == name);
            named.map(|metadata| metadata.namespace.clone()).collect()
        }
        (None, Kind::Composition | Kind::Symphony | Kind::Namespace | Kind::Pod) => {
            let has = |home: &&str| snapshot.namespaces.compositions(home).names().any(|found| found == name);
            snapshot.namespaces.names().filter(has).map(str::to_owned).collect()
        }
    };
    let [home] = homes.as_slice() else {
        return Err(match (homes.as_slice(), kind) {
            ([], Kind::Slice) => Failure::not_found::<ResourceSlice>(name, offline),
            ([], _) => Failure::not_found::<Composition>(name, offline),
            (several, _) => Failure::local(format_args!(
                "{}/{name} is in several namespaces: {}; choose one with -n",
                kind.singular(),
                several.join(", ")
            )),
        });
    };
    let asked = Asked { snapshot: &snapshot, namespace: home, name, cascade };
    let plan = if kind == Kind::Slice { slice::plan(&asked) } else { composition::plan(&asked) };
    plan.ok_or_else(|| kind.not_found(name, offline))
}

fn print(format: &Format, plan: &Plan, flags: &PlanDeleteFlags) -> Result<(), Failure> {
    match format {
        Format::Text { .. } => output::lines(text::render(plan, flags.show_all, !flags.source.filenames.is_empty())),
        Format::Name => output::lines(vec![sanitized(&plan.resource_name())]),
        Format::Objects(form) => {
            let object = serde_json::to_value(plan).map_err(Failure::local)?;
            form.print(Objects::One(object), flags.output.no_headers)
        }
    }
}
