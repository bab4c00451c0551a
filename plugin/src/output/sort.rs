//! `--sort-by`: by a column, or by a jsonpath of the item.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use super::jsonpath::Template;
use crate::failure::Failure;

/// Sorts items, least first; those that lack the value come first, as in kubectl.
///
/// # Errors
/// Where the field does not parse, or no item has it.
pub fn sort<T: Serialize>(items: &mut Vec<T>, by: &str, columns: &[(&str, &str)]) -> Result<(), Failure> {
    let path = columns.iter().find(|(header, _)| header.eq_ignore_ascii_case(by)).map_or(by, |(_, path)| path);
    let template = Template::relaxed(path)
        .map_err(|error| Failure::local(format_args!("couldn't find any field with path {path:?}: {error}")))?;
    let key = |item: &T| template.first(&serde_json::to_value(item).map_err(Failure::local)?).map_err(Failure::local);
    let mut keyed = items.drain(..).map(|item| Ok((key(&item)?, item))).collect::<Result<Vec<_>, Failure>>()?;
    if !keyed.is_empty() && keyed.iter().all(|(key, _)| key.is_none()) {
        return Err(Failure::local(format_args!("couldn't find any field with path {path:?} in the list of objects")));
    }
    keyed.sort_by(|(a, _), (b, _)| compare(a.as_ref(), b.as_ref()));
    items.extend(keyed.into_iter().map(|(_, item)| item));
    Ok(())
}

fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    match (a, b) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_f64().partial_cmp(&b.as_f64()),
        (Some(Value::String(a)), Some(Value::String(b))) => Some(a.cmp(b)),
        (Some(Value::Bool(a)), Some(Value::Bool(b))) => Some(a.cmp(b)),
        (Some(a), Some(b)) => Some(rank(a).cmp(&rank(b)).then_with(|| a.to_string().cmp(&b.to_string()))),
        (a, b) => Some(a.is_some().cmp(&b.is_some())),
    }
    .unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) | Value::Object(_) => 4,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(by: &str) -> Result<Vec<String>, String> {
        let mut items = vec![
            json!({"name": "c", "n": 10, "t": "2026-01-01"}),
            json!({"name": "a", "n": 9, "t": null}),
            json!({"name": "b", "t": "2025-01-01"}),
        ];
        sort(&mut items, by, &[("AGE", ".t")]).map_err(|failure| failure.to_string())?;
        Ok(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn sorts_by_path_and_by_column() {
        assert_eq!(names(".name").unwrap(), ["a", "b", "c"]);
        assert_eq!(names("{.n}").unwrap(), ["b", "a", "c"]);
        assert_eq!(names("age").unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn unknown_field_is_an_error() {
        assert!(names(".nope").unwrap_err().contains("couldn't find any field with path"));
    }
}
