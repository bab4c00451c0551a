//! From text to nodes.

mod cursor;

use cursor::Cursor;

use super::{Comparison, Node, Operand, Path, Step};

/// Parses text with `{…}` actions.
pub(super) fn template(text: &str) -> Result<Vec<Node>, String> {
    // The nodes of each open range, and at the bottom those of the template.
    let mut open: Vec<(Path, Vec<Node>)> = vec![(vec![], vec![])];
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        push(&mut open, Node::Text(rest[..start].to_owned()));
        let mut cursor = Cursor { rest: &rest[start + 1..] };
        match cursor.action().map_err(|error| format!("error parsing jsonpath {text}, {error}"))? {
            Action::Print(node) => push(&mut open, node),
            Action::Range(path) => open.push((path, vec![])),
            Action::End => match open.pop() {
                Some((path, nodes)) if !open.is_empty() => push(&mut open, Node::Range(path, nodes)),
                _ => return Err(format!("error parsing jsonpath {text}, not in range, nothing to end")),
            },
        }
        rest = cursor.rest;
    }
    push(&mut open, Node::Text(rest.to_owned()));
    match open.pop() {
        Some((_, nodes)) if open.is_empty() => Ok(nodes),
        _ => Err(format!("error parsing jsonpath {text}, {{range}} without {{end}}")),
    }
}

fn push(open: &mut [(Path, Vec<Node>)], node: Node) {
    if let (Some((_, nodes)), false) = (open.last_mut(), node == Node::Text(String::new())) {
        nodes.push(node);
    }
}

enum Action {
    Print(Node),
    Range(Path),
    End,
}

impl Cursor<'_> {
    /// What is between `{` and `}`, with the `}`.
    fn action(&mut self) -> Result<Action, String> {
        self.skip_spaces();
        let action = if self.keyword("range") {
            self.skip_spaces();
            Action::Range(self.path()?)
        } else if self.keyword("end") {
            Action::End
        } else if let Some(literal) = self.literal()? {
            Action::Print(Node::Text(super::text_of(&literal)))
        } else {
            Action::Print(Node::Path(self.path()?))
        };
        self.skip_spaces();
        if self.take("}") {
            return Ok(action);
        }
        Err(match self.rest.chars().next() {
            None => "unclosed action".to_owned(),
            Some(c) => format!("unrecognized character in action: {c:?}"),
        })
    }

    fn path(&mut self) -> Result<Path, String> {
        let mut path = vec![];
        loop {
            if self.take("..") {
                path.push(Step::Recursive);
                if !self.rest.starts_with('[') {
                    path.push(self.field()?);
                }
            } else if self.take(".") {
                // `.` alone is the object, and `.[0]` is `[0]`.
                if !self.rest.starts_with(['[', '}', ' ']) {
                    path.push(self.field()?);
                }
            } else if self.take("[") {
                path.push(self.brackets()?);
            } else if self.take("$") {
                path.push(Step::Root);
            } else if !self.take("@") {
                return Ok(path);
            }
        }
    }

    fn field(&mut self) -> Result<Step, String> {
        if self.take("*") {
            return Ok(Step::Wildcard);
        }
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => name.extend(characters.next().map(|(_, c)| c)),
                Some((at, c)) if c.is_whitespace() || ".,[]$@{}()=!<>|~".contains(c) => break at,
                Some((_, c)) => name.push(c),
                None => break self.rest.len(),
            }
        };
        if name.is_empty() {
            return Err("a dot without a field name".to_owned());
        }
        self.rest = &self.rest[end..];
        Ok(Step::Field(name))
    }

    /// What is between `[` and `]`, with the `]`.
    fn brackets(&mut self) -> Result<Step, String> {
        if self.take("?(") {
            return self.filter();
        }
        let mut members = vec![];
        loop {
            self.skip_spaces();
            members.push(self.member()?);
            self.skip_spaces();
            if self.take("]") {
                break;
            }
            if !self.take(",") {
                return Err(if self.rest.is_empty() {
                    "unterminated array".to_owned()
                } else {
                    format!("invalid array index {}", self.rest.split(']').next().unwrap_or_default())
                });
            }
        }
        Ok(match members.pop() {
            Some(mut only) if members.is_empty() && only.len() == 1 => only.remove(0),
            last => Step::Union(members.into_iter().chain(last).collect()),
        })
    }

    /// One of the comma-separated members of brackets.
    fn member(&mut self) -> Result<Path, String> {
        if let Some(quoted) = self.quoted()? {
            // kubectl splits what is quoted at dots, unless they are escaped.
            let mut cursor = Cursor { rest: &quoted };
            let mut path = vec![cursor.field()?];
            while cursor.take(".") {
                path.push(cursor.field()?);
            }
            return Ok(path);
        }
        if self.take("*") {
            return Ok(vec![Step::Wildcard]);
        }
        let from = self.integer();
        if !self.take(":") {
            // kubectl reads [] as [0].
            return match from {
                None if !self.rest.starts_with(']') && !self.rest.is_empty() => {
                    Err(format!("invalid array index {}", self.rest.split(']').next().unwrap_or_default()))
                }
                from => Ok(vec![Step::Index(from.unwrap_or(0))]),
            };
        }
        let to = self.integer();
        let by = if self.take(":") { self.integer().unwrap_or(1) } else { 1 };
        let by = usize::try_from(by).ok().filter(|by| *by > 0).ok_or("step must be > 0")?;
        Ok(vec![Step::Slice { from, to, by }])
    }

    /// What follows `[?(`, with the `)]`.
    fn filter(&mut self) -> Result<Step, String> {
        self.skip_spaces();
        let left = self.operand()?;
        self.skip_spaces();
        let comparisons = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let comparison = comparisons.into_iter().find(|(sign, _)| self.take(sign));
        let right = match comparison {
            None => None,
            Some((_, comparison)) => {
                self.skip_spaces();
                Some((comparison, self.operand()?))
            }
        };
        self.skip_spaces();
        if !self.take(")") {
            return Err(match self.rest.chars().next() {
                None => "unterminated filter".to_owned(),
                Some(c) => format!("unrecognized character in filter: {c:?}"),
            });
        }
        self.skip_spaces();
        if self.take("]") { Ok(Step::Filter(left, right)) } else { Err("unclosed array expect ]".to_owned()) }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        if let Some(literal) = self.literal()? {
            return Ok(Operand::Literal(literal));
        }
        if !self.rest.starts_with(['@', '$', '.']) {
            return Err("a filter compares @.field, $.field, a number, true, false or a quoted text".to_owned());
        }
        self.path().map(Operand::Path)
    }
}
