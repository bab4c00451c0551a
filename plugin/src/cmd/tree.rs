//! `kubectl eno tree`: symphonies, their compositions, syntheses, slices and resources.

mod build;
mod node;
mod watched;

use std::process::ExitCode;

use eno_shared::Lookup;
use eno_shared::api::{Composition, Kind as _, Symphony};
use jiff::Timestamp;

use super::why::target::{Kind, Target};
use crate::cli::{Cli, TreeFlags};
use crate::downstream::{Downstream, Resource};
use crate::failure::{CANNOT_TELL, Failure};
use crate::output::screen::Size;
use crate::output::table::{Table, sanitized};
use crate::output::{self, Format, Objects};
use crate::query::{Depth, Query};
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::surroundings::Listing;
use crate::warnings::say;
use build::Forest;
use node::{Drawing, Node};

/// How many resources of a slice are shown, unless all are asked for.
const FEW: usize = 10;

/// Runs the command.
///
/// # Errors
/// Where the object does not exist, or cannot be read.
pub(super) async fn run(flags: &TreeFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let target = if flags.object.is_empty() { None } else { Some(Target::parse(&flags.object)?) };
    if flags.watch.watch {
        return watched::run(flags, cli, format, target).await;
    }
    let (source, namespace) = super::source(&flags.source, cli)?;
    let downstream = Downstream::open(&flags.downstream, cli, &source)?;
    let query = query(namespace.clone());
    let (snapshot, symphonies) = futures::join!(source.snapshot(&query), source.symphonies(namespace.as_deref()));
    let snapshot = snapshot?;
    let forest = Forest::of(&snapshot, &symphonies.items, namespace.as_deref());
    let mut roots = match &target {
        None => forest.all(),
        Some(target) => vec![root(&forest, target, &symphonies, &source, namespace.as_deref()).await?],
    };
    look(&mut roots, &downstream).await;
    print(&format, roots, &snapshot, target.is_some(), flags)?;
    if !downstream.is_looked_at() && matches!(format, Format::Text { .. }) && matches!(source, Source::Cluster(_)) {
        say("Resources are shown as their slices see them; whether they exist was not looked at (see --target-same)");
    }
    Ok(ExitCode::SUCCESS)
}

fn query(namespace: Option<String>) -> Query {
    Query { namespace, depth: Depth::Manifests, slices_may_fail: true, ..Query::default() }
}

async fn root(
    forest: &Forest<'_>,
    Target { kind, name }: &Target,
    symphonies: &Listing<Symphony>,
    source: &Source,
    namespace: Option<&str>,
) -> Result<Node, Failure> {
    let offline = matches!(source, Source::Dump(_));
    match kind {
        Kind::Symphony => {
            match symphonies.items.iter().filter(|one| one.metadata.name == *name).collect::<Vec<_>>()[..] {
                [symphony] => Ok(forest.symphony(symphony)),
                // It says which of several, or that there is none.
                _ => Err(source.symphony(namespace, name).await.err().unwrap_or_else(|| kind.not_found(name, offline))),
            }
        }
        Kind::Composition => match forest.homes(name)[..] {
            [] => Err(match forest.snapshot.namespaces.compositions(namespace.unwrap_or_default()).get(name) {
                // What could not be read is not missing.
                Lookup::Unknown(why) if !offline => Failure::local(why).with_code(CANNOT_TELL),
                Lookup::Unknown(_) | Lookup::Missing | Lookup::Found(_) => {
                    Failure::not_found::<Composition>(name, offline)
                }
            }),
            [home] => forest.composition(home, name).ok_or_else(|| Failure::not_found::<Composition>(name, offline)),
            ref several => Err(Failure::local(format_args!(
                "{}/{name} is in several namespaces: {}; choose one with -n",
                Composition::SINGULAR,
                several.join(", ")
            ))),
        },
        Kind::Slice | Kind::Namespace | Kind::Pod => Err(not_a_root(*kind)),
    }
}

fn not_a_root(kind: Kind) -> Failure {
    Failure::local(format_args!("cannot draw a {}: the type must be symphony or composition", kind.singular()))
}

/// Looks for all resources at once.
async fn look(roots: &mut [Node], downstream: &Downstream<'_>) {
    let mut asked = vec![];
    roots.iter().for_each(|root| root.resources(&mut |resource| asked.push(resource.clone())));
    let mut answers = downstream.look(asked).await.into_iter();
    roots.iter_mut().for_each(|root| {
        root.set_presence(&mut || answers.next().map(|Resource { presence, .. }| presence));
    });
}

/// The lines of the trees. In so much room, so many columns of so many lines.
fn drawn(roots: &[Node], now: Timestamp, flags: &TreeFlags, room: Option<Size>) -> Vec<String> {
    let drawing = if flags.ascii { Drawing::ASCII } else { Drawing::of_locale() };
    let height = room.map_or(usize::MAX, |room| room.rows);
    let mut rows = vec![];
    roots.iter().for_each(|root| root.rows(&drawing, few(flags), now, height, &mut rows));
    let table = Table::new(&["NAME", "STATE", "REASON", "AGE"], rows);
    let table = if let Some(room) = room { table.within(room.columns) } else { table };
    let paint = output::painter(flags.output.color);
    let style = |header: &str, cell: &str| if header == "STATE" { paint(cell) } else { cell.to_owned() };
    table.lines(!flags.output.no_headers, "", style)
}

/// How many resources of a slice are shown.
fn few(flags: &TreeFlags) -> usize {
    if flags.show_all { usize::MAX } else { FEW }
}

fn print(format: &Format, roots: Vec<Node>, snapshot: &Snapshot, one: bool, flags: &TreeFlags) -> Result<(), Failure> {
    match format {
        Format::Text { .. } => {
            if roots.is_empty() {
                say("No resources found");
            }
            output::lines(drawn(&roots, snapshot.now, flags, None))
        }
        Format::Name => output::lines(roots.iter().map(|root| sanitized(&root.resource_name())).collect()),
        Format::Objects(form) => {
            let values = roots.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
            let mut values = values.map_err(Failure::local)?;
            let objects = if one && values.len() == 1 { Objects::One(values.remove(0)) } else { Objects::List(values) };
            form.print(objects, flags.output.no_headers)
        }
    }
}
