//! How results are printed.

pub mod appended;
mod columns;
mod jsonpath;
pub mod screen;
mod sort;
pub mod table;

use std::io::Write;

use anstyle::AnsiColor;
use eno_shared::{CompositionState, Verdict};
use serde_json::{Value, json};

use crate::cli::OutputFlags;
use crate::cli::output::Color;
use crate::failure::Failure;
use appended::Appended;
use columns::Columns;
use jsonpath::Template;
pub use sort::sort;
use table::Table;

/// What `-o` asks for.
pub enum Format {
    /// A table, or text.
    Text {
        /// With more columns.
        wide: bool,
    },
    /// `TYPE/NAME`.
    Name,
    /// The objects themselves, in some form.
    Objects(Form),
}

/// A form that objects are printed in.
pub enum Form {
    /// Indented JSON.
    Json,
    /// YAML.
    Yaml,
    /// A template.
    JsonPath(Template),
    /// Columns that the user chose.
    Columns(Columns),
}

const ALLOWED: &str = "custom-columns,custom-columns-file,json,jsonpath,jsonpath-file,name,wide,yaml";
/// The same, as far as it can be typed without knowing more.
pub const FORMATS: [&str; 8] =
    ["custom-columns=", "custom-columns-file=", "json", "jsonpath=", "jsonpath-file=", "name", "wide", "yaml"];

impl Format {
    /// Reads `-o`.
    ///
    /// # Errors
    /// Says what is allowed, or what is malformed.
    pub fn parse(flags: &OutputFlags) -> Result<Self, Failure> {
        let Some(text) = flags.format.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(Format::Text { wide: false });
        };
        let (name, argument) = text.split_once('=').map_or((text, None), |(name, argument)| (name, Some(argument)));
        let read = |path: &str| {
            std::fs::read_to_string(path)
                .map_err(|error| Failure::local(format_args!("error reading template {path}, {error}")))
        };
        let argument = |what: &str| {
            argument
                .filter(|argument| !argument.is_empty())
                .ok_or_else(|| Failure::local(format_args!("{what} format specified but no {what} given")))
        };
        let template = |text: &str| Template::parse(text).map(Form::JsonPath).map_err(Failure::local);
        let form = match name {
            "wide" => return Ok(Format::Text { wide: true }),
            "name" => return Ok(Format::Name),
            "json" => Form::Json,
            "yaml" => Form::Yaml,
            "jsonpath" => template(argument("template")?)?,
            "jsonpath-file" => template(&read(argument("template")?)?)?,
            "custom-columns" => Form::Columns(Columns::parse(argument("custom-columns")?).map_err(Failure::local)?),
            "custom-columns-file" => {
                Form::Columns(Columns::parse_file(&read(argument("custom-columns")?)?).map_err(Failure::local)?)
            }
            _ => {
                return Err(Failure::local(format_args!(
                    "unable to match a printer suitable for the output format \"{name}\", allowed formats are: {ALLOWED}"
                )));
            }
        };
        Ok(Format::Objects(form))
    }
}

/// Objects, as one that was named or as a list.
pub enum Objects {
    /// The one that was asked for.
    One(Value),
    /// Any number.
    List(Vec<Value>),
}

impl Form {
    /// Prints objects.
    ///
    /// # Errors
    /// Where a template does not fit the objects, or stdout fails.
    pub fn print(&self, objects: Objects, no_headers: bool) -> Result<(), Failure> {
        if let Form::Columns(columns) = self {
            let items = match &objects {
                Objects::One(object) => std::slice::from_ref(object),
                Objects::List(items) => items.as_slice(),
            };
            let rows =
                items.iter().map(|item| columns.cells(item)).collect::<Result<_, _>>().map_err(Failure::local)?;
            return lines(Table::new(&columns.headers(), rows).lines(!no_headers, "", |_, cell| cell.to_owned()));
        }
        let document = match objects {
            Objects::One(object) => object,
            Objects::List(items) => json!({"apiVersion": "v1", "kind": "List", "items": items}),
        };
        let text = match self {
            Form::Json => indented(&document)?,
            Form::Yaml => yaml(&document)?,
            Form::JsonPath(template) => template
                .render(&document)
                .map_err(|error| Failure::local(format_args!("error executing jsonpath: {error}")))?,
            Form::Columns(_) => return Ok(()),
        };
        write(&text)
    }
}

impl Form {
    /// What has become of objects, each as text of its own: JSON on one line, a document of YAML, or what a template makes
    /// of the object.
    ///
    /// # Errors
    /// Where a template does not fit an object.
    pub fn events(&self, table: &mut Appended, events: &[(&str, Value)]) -> Result<String, Failure> {
        let whole = |(event, object): &(&str, Value)| json!({"type": event, "object": object});
        match self {
            Form::Json => Ok(events.iter().map(|event| whole(event).to_string() + "\n").collect()),
            Form::Yaml => events.iter().map(|event| Ok(format!("---\n{}", yaml(&whole(event))?))).collect(),
            Form::JsonPath(template) => {
                let text = |(_, object): &(_, Value)| Ok(template.render(object)? + "\n");
                let text = events.iter().map(text).collect::<Result<String, String>>();
                text.map_err(|error| Failure::local(format_args!("error executing jsonpath: {error}")))
            }
            Form::Columns(columns) => {
                let headers: Vec<&str> = ["EVENT"].into_iter().chain(columns.headers()).collect();
                let row = |(event, object): &(&str, Value)| {
                    let cells = columns.cells(object)?;
                    Ok([(*event).to_owned()].into_iter().chain(cells).collect())
                };
                let rows = events.iter().map(row).collect::<Result<_, String>>().map_err(Failure::local)?;
                Ok(table.rows(&headers, rows, |_, cell| cell.to_owned()))
            }
        }
    }
}

/// JSON as kubectl indents it.
fn indented(document: &Value) -> Result<String, Failure> {
    let mut bytes = vec![];
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    serde::Serialize::serialize(document, &mut serializer).map_err(Failure::local)?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(Failure::local)
}

/// YAML, each value on its line.
///
/// # Errors
/// Never in practice: JSON can all be written.
pub fn yaml(document: &Value) -> Result<String, Failure> {
    // Folded text would be for people; tools want each value on its line.
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    serde_saphyr::to_string_with_options(document, options).map_err(Failure::local)
}

/// Prints lines.
///
/// # Errors
/// Where stdout fails.
pub fn lines(lines: Vec<String>) -> Result<(), Failure> {
    write(&lines.into_iter().map(|line| line + "\n").collect::<String>())
}

/// Prints text as it is.
///
/// # Errors
/// Where stdout fails.
pub fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// Is colour wanted on stdout?
pub fn colored(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// Does the locale know more than ASCII? Where none is set, it does: that is so in most containers.
pub fn speaks_unicode() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_else(|| "UTF-8".to_owned());
    locale.to_ascii_uppercase().replace('-', "").contains("UTF8")
}

/// Colours verdicts and states, where that is wanted.
pub fn painter(color: Color) -> impl Fn(&str) -> String {
    let wanted = colored(color);
    move |word| match word_color(word).map(AnsiColor::on_default) {
        Some(style) if wanted => format!("{style}{word}{style:#}"),
        Some(_) | None => word.to_owned(),
    }
}

/// The colour of a verdict or a state.
pub fn word_color(word: &str) -> Option<AnsiColor> {
    let is = |other: &str| other.eq_ignore_ascii_case(word);
    let verdict = Verdict::ALL.into_iter().find(|verdict| is(verdict.as_str())).map(verdict_color);
    verdict.or_else(|| CompositionState::ALL.into_iter().find(|state| is(state.as_str())).map(state_color))
}

fn state_color(state: CompositionState) -> AnsiColor {
    match state {
        CompositionState::Ready | CompositionState::Finished => AnsiColor::Green,
        CompositionState::Pending
        | CompositionState::Synthesizing
        | CompositionState::Resynthesizing
        | CompositionState::Reconciling
        | CompositionState::NotReady => AnsiColor::Blue,
        CompositionState::Retrying => AnsiColor::Red,
        CompositionState::DeletionRequested
        | CompositionState::WaitingOnDependents
        | CompositionState::Deleting
        | CompositionState::Orphaning
        | CompositionState::Deleted => AnsiColor::Yellow,
    }
}

fn verdict_color(verdict: Verdict) -> AnsiColor {
    match verdict {
        Verdict::Keep => AnsiColor::Green,
        Verdict::Collect => AnsiColor::Cyan,
        Verdict::Wait => AnsiColor::Blue,
        Verdict::Hold => AnsiColor::Red,
        Verdict::Release => AnsiColor::Yellow,
        Verdict::Unknown => AnsiColor::Magenta,
    }
}
