//! What commands that list objects have in common: what they refuse, and how they print.

use eno_shared::api::Kind;
use eno_shared::names::ENO_GROUP;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::cli::OutputFlags;
use crate::failure::Failure;
use crate::item::Column;
use crate::output::table::{Table, sanitized};
use crate::output::{self, Format, Objects};
use crate::warnings::say;

/// What kubectl refuses, in its words. `everywhere` is `-A`, where that is not a dump's.
pub(super) fn check_names(names: &[String], everywhere: bool, selects: bool) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    if everywhere {
        return Err(Failure::local("a resource cannot be retrieved by name across all namespaces"));
    }
    if selects {
        return Err(Failure::local("name cannot be provided when a selector is specified"));
    }
    Ok(())
}

/// Objects of a kind, and how they are shown.
pub(super) struct Listing<'a, I: 'static> {
    pub items: Vec<I>,
    pub columns: &'static [Column<I>],
    /// Header of the column whose words are coloured.
    pub coloured: &'static str,
    /// An object's name.
    pub name: fn(&I) -> &str,
    /// Were objects asked for by name?
    pub named: bool,
    /// One object alone is no list, where it was asked for by its name.
    pub alone: bool,
    /// All namespaces, where there is none.
    pub namespace: Option<&'a str>,
    pub now: Timestamp,
}

impl<I: Serialize> Listing<'_, I> {
    /// Prints it; where nothing was found, says so.
    pub(super) fn print<K: Kind>(self, format: &Format, flags: &OutputFlags) -> Result<(), Failure> {
        self.print_as(&format!("{}.{ENO_GROUP}", K::SINGULAR), format, flags)
    }

    /// The same for others than Eno's: `-o name` prints `resource/NAME`.
    pub(super) fn print_as(self, resource: &str, format: &Format, flags: &OutputFlags) -> Result<(), Failure> {
        let (nothing, named, namespace) = (self.items.is_empty(), self.named, self.namespace);
        match format {
            Format::Text { wide } => output::lines(self.table(*wide, flags))?,
            Format::Name => {
                let full = |item: &I| sanitized(&format!("{resource}/{}", (self.name)(item)));
                output::lines(self.items.iter().map(full).collect())?;
            }
            Format::Objects(form) => {
                let values = self.items.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
                let mut values = values.map_err(Failure::local)?;
                let alone = self.alone && values.len() == 1;
                let objects = if alone { Objects::One(values.remove(0)) } else { Objects::List(values) };
                return form.print(objects, flags.no_headers);
            }
        }
        match namespace {
            Some(_) | None if !nothing || named => {}
            Some(namespace) => say(format_args!("No resources found in {namespace} namespace.")),
            None => say("No resources found"),
        }
        Ok(())
    }

    fn table(&self, wide: bool, flags: &OutputFlags) -> Vec<String> {
        let shown =
            |column: &&Column<I>| (wide || !column.wide) && (self.namespace.is_none() || column.header != "NAMESPACE");
        let columns: Vec<&Column<I>> = self.columns.iter().filter(shown).collect();
        let headers: Vec<&str> = columns.iter().map(|column| column.header).collect();
        let row = |item: &I| columns.iter().map(|column| column.cell(item, self.now)).collect();
        let paint = output::painter(flags.color);
        let style = |header: &str, cell: &str| if header == self.coloured { paint(cell) } else { cell.to_owned() };
        Table::new(&headers, self.items.iter().map(row).collect()).lines(!flags.no_headers, "", style)
    }
}
