//! The metrics: what the sources register, with the labels that their types have.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syn::{Expr, GenericArgument, Member, PathArguments, Type};

use super::source::{Source, literal};
use super::{code, table};
use crate::workspace;

/// What the registry puts before each name.
const PREFIX: &str = "eno_webhook";

/// A metric, as Prometheus shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name: a counter's ends with `_total`.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it counts.
    pub help: String,
}

/// All metrics of the webhook, by name.
///
/// # Errors
/// A source registers one in a way that this does not read.
pub fn metrics() -> Result<Vec<Metric>> {
    let mut all = vec![];
    for path in sources(&workspace::root().join("webhook/src"))? {
        let source = Source::read(&path)?;
        let calls = source.calls("register");
        // Others register other things, by no name.
        for call in calls.iter().filter(|call| call.args.len() == 3) {
            let args: Vec<_> = call.args.iter().collect();
            let name =
                literal(args[0]).with_context(|| format!("{path} registers a metric whose name is no literal"))?;
            let help = literal(args[1]).with_context(|| format!("{path} says nothing of {name}"))?;
            let metric = metric(&source, &name, help, args[2]);
            all.push(metric.with_context(|| format!("{path} registers {name}, whose type this does not find"))?);
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The files named `metrics.rs`, in the workspace.
fn sources(folder: &Path) -> Result<Vec<String>> {
    let mut found = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.ends_with("metrics.rs") {
            found.push(path.strip_prefix(workspace::root())?.display().to_string());
        }
    }
    Ok(found)
}

fn metric(source: &Source, name: &str, help: String, value: &Expr) -> Option<Metric> {
    let structs = source.structs();
    let field = field(value)?;
    let of_struct = |name: &str| structs.iter().find(|(found, _)| found == name).map(|(_, fields)| fields);
    let mut found = structs.iter().flat_map(|(_, fields)| fields).find(|(name, _)| *name == field)?.1.clone();
    // A type of our own around one of the library's.
    if let Some([(_, inner)]) = of_struct(&last(&found)?.0).map(Vec::as_slice) {
        found = inner.clone();
    }
    let (mut outer, mut arguments) = last(&found)?;
    let mut labels = vec![];
    if outer == "Family" {
        let fields = of_struct(&last(arguments.first()?)?.0)?;
        labels = fields.iter().map(|(name, _)| name.clone()).collect();
        (outer, arguments) = last(arguments.get(1)?)?;
    }
    let _ = arguments;
    let (kind, ending) = match outer.as_str() {
        "Counter" => ("counter", "_total"),
        "Gauge" => ("gauge", ""),
        "Histogram" => ("histogram", ""),
        _ => return None,
    };
    Some(Metric { name: format!("{PREFIX}_{name}{ending}"), kind, labels, help })
}

/// The last named field of `inner.reviews.clone()` or `self.delays.0.clone()`.
fn field(expr: &Expr) -> Option<String> {
    match expr {
        Expr::MethodCall(call) => field(&call.receiver),
        Expr::Field(access) => match &access.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => field(&access.base),
        },
        _ => None,
    }
}

/// The last name of a type's path, and the types in its angle brackets.
fn last(of: &Type) -> Option<(String, Vec<Type>)> {
    let Type::Path(path) = of else { return None };
    let segment = path.path.segments.last()?;
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(brackets) => brackets
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Type(of) => Some(of.clone()),
                _ => None,
            })
            .collect(),
        PathArguments::None | PathArguments::Parenthesized(_) => vec![],
    };
    Some((segment.ident.to_string(), arguments))
}

pub(super) fn section(page: &mut String) -> Result<()> {
    let row = |metric: Metric| {
        let labels: Vec<_> = metric.labels.iter().map(|label| code(label)).collect();
        vec![code(&metric.name), metric.kind.to_owned(), labels.join(", "), metric.help]
    };
    let rows: Vec<_> = metrics()?.into_iter().map(row).collect();
    let text = format!(
        "On `--metrics-bind-address`, path `/metrics`. A histogram has the usual `_bucket`, `_sum` and `_count`. All label \
         values come from closed sets.\n{}",
        table(&["metric", "type", "labels", "what"], &rows)
    );
    super::section(page, "Metrics of eno-webhook", &text)
}
