//! `-o custom-columns`: a header and a path for each column.

use serde_json::Value;

use super::jsonpath::{Template, text_of};

/// The columns that were asked for.
pub struct Columns(Vec<(String, Template)>);

impl Columns {
    /// Reads `HEADER:PATH,HEADER:PATH`.
    ///
    /// # Errors
    /// Says what is malformed, in kubectl's words.
    pub fn parse(spec: &str) -> Result<Self, String> {
        if spec.is_empty() {
            return Err("custom-columns format specified but no custom columns given".to_owned());
        }
        let column = |part: &str| {
            let (header, path) =
                part.split_once(':').filter(|(header, path)| !header.is_empty() && !path.is_empty()).ok_or_else(
                    || format!("unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"),
                )?;
            Ok((header.to_owned(), Template::relaxed(path)?))
        };
        split(spec).into_iter().map(column).collect::<Result<_, String>>().map(Columns)
    }

    /// Reads the text of a file: a line of headers and a line of paths, at spaces.
    ///
    /// # Errors
    /// Says what is malformed.
    pub fn parse_file(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let (Some(headers), Some(paths)) = (lines.next(), lines.next()) else {
            return Err("missing first or second line of the custom-columns file: headers, then paths".to_owned());
        };
        let (headers, paths): (Vec<_>, Vec<_>) =
            (headers.split_whitespace().collect(), paths.split_whitespace().collect());
        if headers.len() != paths.len() || headers.is_empty() {
            return Err(format!(
                "number of headers ({}) and field specifications ({}) don't match",
                headers.len(),
                paths.len()
            ));
        }
        let column = |(header, path): (&str, &str)| Ok((header.to_owned(), Template::relaxed(path)?));
        headers.into_iter().zip(paths).map(column).collect::<Result<_, String>>().map(Columns)
    }

    /// The headers.
    pub fn headers(&self) -> Vec<&str> {
        self.0.iter().map(|(header, _)| header.as_str()).collect()
    }

    /// The cells of one object: several values are joined with commas, none is `<none>`.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn cells(&self, object: &Value) -> Result<Vec<String>, String> {
        let cell = |(_, template): &(String, Template)| {
            let values = template.values(object)?;
            let text_or_none = |value: &&Value| if value.is_null() { "<none>".to_owned() } else { text_of(value) };
            Ok(match values.is_empty() {
                true => "<none>".to_owned(),
                false => values.iter().map(text_or_none).collect::<Vec<_>>().join(","),
            })
        };
        self.0.iter().map(cell).collect()
    }
}

/// Splits at the commas outside of brackets: `[0,1]` is one path.
fn split(spec: &str) -> Vec<&str> {
    let mut depth = 0usize;
    spec.split(|c| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_columns_as_kubectl_does() {
        let columns = Columns::parse("NAME:.name,CODES:.blockers[*].code,NOPE:nope,FIRST:.blockers[0,1].code").unwrap();
        assert_eq!(columns.headers(), ["NAME", "CODES", "NOPE", "FIRST"]);
        let object = json!({"name": "web", "blockers": [{"code": "A"}, {"code": "B"}]});
        assert_eq!(columns.cells(&object).unwrap(), ["web", "A,B", "<none>", "A,B"]);
    }

    #[test]
    fn reads_columns_from_a_file() {
        let columns = Columns::parse_file("NAME  V\n.name {.v}\n").unwrap();
        assert_eq!(columns.cells(&json!({"name": "web", "v": 1})).unwrap(), ["web", "1"]);
        assert!(Columns::parse_file("A B\n.a\n").is_err_and(|error| error.contains("don't match")));
    }

    #[test]
    fn says_what_is_malformed() {
        for spec in ["NAME", "NAME:", ":.name"] {
            assert!(Columns::parse(spec).is_err_and(|error| error.contains("expected <header>:<json-path-expr>")));
        }
        assert!(Columns::parse("").is_err());
    }
}
