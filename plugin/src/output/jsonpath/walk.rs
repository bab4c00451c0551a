//! From nodes and an object to values and text.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, Node, Operand, Step, text_of};

pub(super) fn render(nodes: &[Node], here: &Value, root: &Value) -> Result<String, String> {
    let mut text = String::new();
    for node in nodes {
        match node {
            Node::Text(literal) => text += literal,
            Node::Path(path) => {
                let values: Vec<String> = values(path, here, root)?.into_iter().map(text_of).collect();
                text += &values.join(" ");
            }
            Node::Range(path, body) => {
                for value in values(path, here, root)? {
                    text += &render(body, value, root)?;
                }
            }
        }
    }
    Ok(text)
}

/// What a path leads to. A field that is not there leads nowhere.
pub(super) fn values<'v>(path: &[Step], here: &'v Value, root: &'v Value) -> Result<Vec<&'v Value>, String> {
    let mut values = vec![here];
    for step in path {
        values = follow(step, &values, root)?;
    }
    Ok(values)
}

fn follow<'v>(step: &Step, from: &[&'v Value], root: &'v Value) -> Result<Vec<&'v Value>, String> {
    let mut next = vec![];
    match step {
        Step::Root => next.push(root),
        Step::Field(name) => next.extend(from.iter().filter_map(|value| value.get(name.as_str()))),
        // Path by path, as kubectl does, not value by value.
        Step::Union(paths) => {
            for path in paths {
                for value in from {
                    next.extend(values(path, value, root)?);
                }
            }
        }
        Step::Index(index) => {
            for value in from {
                let list = list(value)?;
                match position(*index, list.len()).and_then(|index| list.get(index)) {
                    Some(element) => next.push(element),
                    None if value.is_null() => {}
                    None => return Err(format!("array index out of bounds: index {index}, length {}", list.len())),
                }
            }
        }
        Step::Slice { from: first, to, by } => {
            for value in from {
                let list = list(value)?;
                let bound = |index: i64| position(index, list.len()).unwrap_or(0).min(list.len());
                let (first, to) = (bound(first.unwrap_or(0)), to.map_or(list.len(), bound));
                next.extend(list.get(first..to).unwrap_or_default().iter().step_by(*by));
            }
        }
        Step::Wildcard => from.iter().for_each(|value| next.extend(children(value))),
        Step::Recursive => from.iter().for_each(|value| descend(value, &mut next)),
        Step::Filter(left, right) => {
            for value in from {
                let Value::Array(elements) = value else {
                    return Err(format!("{} is not array or slice and cannot be filtered", text_of(value)));
                };
                for element in elements {
                    if passes(left, right.as_ref(), element, root)? {
                        next.push(element);
                    }
                }
            }
        }
    }
    Ok(next)
}

fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::Array(elements) => Ok(elements),
        Value::Null => Ok(&[]),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(format!("{} is not array or slice", text_of(value)))
        }
    }
}

/// Negative indexes count from the end.
fn position(index: i64, length: usize) -> Option<usize> {
    usize::try_from(if index < 0 { index + i64::try_from(length).ok()? } else { index }).ok()
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    found.push(value);
    children(value).into_iter().for_each(|child| descend(child, found));
}

fn passes(
    left: &Operand,
    right: Option<&(Comparison, Operand)>,
    element: &Value,
    root: &Value,
) -> Result<bool, String> {
    let Some(left) = first(left, element, root)? else { return Ok(false) };
    let Some((comparison, right)) = right else { return Ok(true) };
    let Some(right) = first(right, element, root)? else { return Ok(false) };
    let ordering = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (left, right) if left == right => Some(Ordering::Equal),
        _ => None,
    };
    Ok(match comparison {
        Comparison::Equal => ordering == Some(Ordering::Equal),
        Comparison::NotEqual => ordering != Some(Ordering::Equal),
        Comparison::Less => ordering == Some(Ordering::Less),
        Comparison::LessOrEqual => ordering.is_some_and(Ordering::is_le),
        Comparison::Greater => ordering == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => ordering.is_some_and(Ordering::is_ge),
    })
}

fn first<'v>(operand: &'v Operand, element: &'v Value, root: &'v Value) -> Result<Option<&'v Value>, String> {
    match operand {
        Operand::Literal(value) => Ok(Some(value)),
        Operand::Path(path) => Ok(values(path, element, root)?.first().copied()),
    }
}
