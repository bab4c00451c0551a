//! Label and field selectors, for dumps: on a cluster the API server applies them.

use std::collections::BTreeSet;

use eno_shared::api::Metadata;
use kube::core::{Expression, Selector, SelectorExt};

/// What `-l` and `--field-selector` select.
#[derive(Debug, Default)]
pub struct Selection {
    labels: Selector,
    /// Is it negated, what is looked at, and the value.
    fields: Vec<(bool, Field, String)>,
}

#[derive(Debug, Clone, Copy)]
enum Field {
    Name,
    Namespace,
}

impl Selection {
    /// Reads both selectors.
    ///
    /// # Errors
    /// Says what is malformed.
    pub fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<Self, String> {
        let labels = split(labels.unwrap_or_default()).map(expression).collect::<Result<_, _>>()?;
        let fields = split(fields.unwrap_or_default()).map(field).collect::<Result<_, _>>()?;
        Ok(Selection { labels, fields })
    }

    /// Is the object selected?
    pub fn matches(&self, metadata: &Metadata) -> bool {
        self.labels.matches(&metadata.labels)
            && self.fields.iter().all(|(negated, field, value)| {
                let found = match field {
                    Field::Name => &metadata.name,
                    Field::Namespace => &metadata.namespace,
                };
                (found == value) != *negated
            })
    }
}

/// Splits at the commas outside of parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        inside = c == '(' || (inside && c != ')');
        c == ',' && !inside
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

fn expression(text: &str) -> Result<Expression, String> {
    let malformed = || {
        format!(
            "unable to parse requirement {text:?}: expected key=value, key!=value, key, !key, key in (a,b) or key notin (a,b)"
        )
    };
    let checked = |key: &str| {
        let key = key.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if key.is_empty() || !key.chars().all(plain) { Err(malformed()) } else { Ok(key.to_owned()) }
    };
    if let Some((key, set)) = text.split_once('(') {
        let set = set.strip_suffix(')').ok_or_else(malformed)?;
        let values: BTreeSet<String> = set.split(',').map(|value| value.trim().to_owned()).collect();
        return match key.trim().rsplit_once(char::is_whitespace) {
            Some((key, "in")) => Ok(Expression::In(checked(key)?, values)),
            Some((key, "notin")) => Ok(Expression::NotIn(checked(key)?, values)),
            Some(_) | None => Err(malformed()),
        };
    }
    if let Some((key, value)) = text.split_once("!=") {
        return Ok(Expression::NotEqual(checked(key)?, value.trim().to_owned()));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Expression::Equal(checked(key)?, value.trim().to_owned()));
    }
    match text.strip_prefix('!') {
        Some(key) => checked(key).map(Expression::DoesNotExist),
        None => checked(text).map(Expression::Exists),
    }
}

fn field(text: &str) -> Result<(bool, Field, String), String> {
    let (negated, (key, value)) = match (text.split_once("!="), text.split_once("==").or_else(|| text.split_once('=')))
    {
        (Some(parts), _) => (true, parts),
        (None, Some(parts)) => (false, parts),
        (None, None) => return Err(format!("invalid field selector {text:?}: expected field=value or field!=value")),
    };
    let field = match key.trim() {
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        other => return Err(format!("field label not supported: {other}; use metadata.name or metadata.namespace")),
    };
    Ok((negated, field, value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(labels: &str, fields: &str) -> bool {
        let metadata = Metadata {
            name: "web-a".into(),
            namespace: "team-a".into(),
            labels: [("app".to_owned(), "web".to_owned()), ("x/y".to_owned(), "1".to_owned())].into(),
            ..Metadata::default()
        };
        Selection::parse(Some(labels), Some(fields)).unwrap().matches(&metadata)
    }

    #[test]
    fn selects_by_labels() {
        for labels in
            ["", "app=web", "app==web, x/y=1", "app!=db", "app", "!nope", "app in (db, web)", "app notin (db)"]
        {
            assert!(selects(labels, ""), "{labels}");
        }
        for labels in ["app=db", "app!=web", "nope", "!app", "app in (db)", "app notin (web,db),x/y"] {
            assert!(!selects(labels, ""), "{labels}");
        }
    }

    #[test]
    fn selects_by_fields() {
        assert!(selects("", "metadata.name=web-a,metadata.namespace!=team-b"));
        assert!(!selects("", "metadata.name!=web-a"));
    }

    #[test]
    fn says_what_is_malformed() {
        for labels in ["app in web", "app in (web", "=x", "a b=c"] {
            assert!(Selection::parse(Some(labels), None).is_err(), "{labels}");
        }
        let error = Selection::parse(None, Some("status.phase=x")).unwrap_err();
        assert!(error.starts_with("field label not supported: status.phase"), "{error}");
    }
}
