//! jsonpath in kubectl's dialect: text with `{…}` actions, `{range}` and `{end}`, paths without a leading `$`.
//!
//! It is not RFC 9535: a missing field prints nothing, `..` and filters work as in kubectl, `\.` escapes a dot.

mod parse;
mod walk;

use serde_json::Value;

/// A parsed template.
#[derive(Debug)]
pub struct Template(Vec<Node>);

#[derive(Debug, PartialEq)]
enum Node {
    Text(String),
    Path(Path),
    Range(Path, Vec<Node>),
}

type Path = Vec<Step>;

#[derive(Debug, PartialEq)]
enum Step {
    /// `$`: the whole object, also within a range.
    Root,
    /// `.name`
    Field(String),
    /// `[0,-1]`, `['a','b.c']`: all of them, one after the other.
    Union(Vec<Path>),
    /// `[from:to:by]`; `[3]` is from 3 to 4, and must exist.
    Index(i64),
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        by: usize,
    },
    /// `[*]` or `.*`
    Wildcard,
    /// `..`: the value and all that it holds.
    Recursive,
    /// `[?(@.a == "b")]`
    Filter(Operand, Option<(Comparison, Operand)>),
}

#[derive(Debug, PartialEq)]
enum Operand {
    Literal(Value),
    Path(Path),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// Says what is malformed.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::template(text).map(Template)
    }

    /// Parses a field as custom columns and `--sort-by` take it: braces and the leading dot may be left out.
    ///
    /// # Errors
    /// Says what is malformed.
    pub fn relaxed(text: &str) -> Result<Self, String> {
        let path = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let path = path.strip_prefix('.').unwrap_or(path);
        if path.is_empty() || path.contains(['{', '}']) {
            return Err(format!(
                "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or \
                 '{{.name1.name2}}', found {text:?}"
            ));
        }
        let dot = if path.starts_with('[') { "" } else { "." };
        Template::parse(&format!("{{{dot}{path}}}"))
    }

    /// The text of the template for an object.
    ///
    /// # Errors
    /// Where an index is out of bounds, or the object has another shape than the template says.
    pub fn render(&self, object: &Value) -> Result<String, String> {
        walk::render(&self.0, object, object)
    }

    /// What the paths of the template lead to.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn values<'v>(&self, object: &'v Value) -> Result<Vec<&'v Value>, String> {
        let mut values = vec![];
        for node in &self.0 {
            if let Node::Path(path) = node {
                values.extend(walk::values(path, object, object)?);
            }
        }
        Ok(values)
    }

    /// The first of [`Template::values`], `None` where there is none or it is null.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn first(&self, object: &Value) -> Result<Option<Value>, String> {
        Ok(self.values(object)?.first().filter(|value| !value.is_null()).map(|value| (*value).clone()))
    }
}

/// A value as jsonpath and custom columns print it: strings bare, all else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
