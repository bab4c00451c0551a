//! A node of a tree, and how it is drawn.

use eno_shared::api::ResourceRef;
use eno_shared::names::ENO_GROUP;
use jiff::Timestamp;
use serde::Serialize;

use crate::age::age;
use crate::downstream::Presence;

/// A node. `-o json` prints it as it is.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    /// `Symphony`, `Composition`, `DependsOn`, `Synthesis`, `ResourceSlice`, or that of a resource.
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// State or verdict.
    pub state: &'static str,
    /// Why; null where there is nothing to say.
    pub reason: Option<String>,
    pub creation_timestamp: Option<Timestamp>,
    /// Of a resource: does it exist?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
    #[serde(skip)]
    pub resource: Option<ResourceRef>,
    pub children: Vec<Node>,
}

impl Node {
    /// One of Eno's objects.
    pub(super) fn new(kind: &str, namespace: &str, name: &str, state: &'static str) -> Self {
        Node {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            state,
            reason: None,
            creation_timestamp: None,
            presence: None,
            resource: None,
            children: vec![],
        }
    }

    /// Visits all resources below it, in order.
    pub(super) fn resources(&self, visit: &mut impl FnMut(&ResourceRef)) {
        self.resource.iter().for_each(&mut *visit);
        self.children.iter().for_each(|child| child.resources(visit));
    }

    /// Answers for all resources below it, in the same order.
    pub(super) fn set_presence(&mut self, next: &mut impl FnMut() -> Option<Presence>) {
        if self.resource.is_some() {
            self.presence = next();
        }
        self.children.iter_mut().for_each(|child| child.set_presence(next));
    }

    /// `composition.eno.azure.io/NAME`
    pub(super) fn resource_name(&self) -> String {
        format!("{}.{ENO_GROUP}/{}", self.kind.to_lowercase(), self.name)
    }

    /// Adds its rows of a table: NAME, STATE, REASON, AGE. At most `few` resources of each slice, and no more than `height`
    /// rows in all.
    pub(super) fn rows(
        &self,
        drawing: &Drawing,
        few: usize,
        now: Timestamp,
        height: usize,
        rows: &mut Vec<Vec<String>>,
    ) {
        self.draw(&Pen { drawing, few, now, height }, ("", ""), rows);
    }

    /// How many rows it has.
    pub(super) fn height(&self, few: usize) -> usize {
        let hidden = self.hidden(few);
        let shown = self.children.iter().take(self.children.len() - hidden);
        1 + shown.map(|child| child.height(few)).sum::<usize>() + usize::from(hidden > 0)
    }

    /// How many of its resources are not shown.
    fn hidden(&self, few: usize) -> usize {
        self.children.iter().filter(|child| child.resource.is_some()).count().saturating_sub(few)
    }

    fn draw(&self, pen: &Pen<'_>, (first, rest): (&str, &str), rows: &mut Vec<Vec<String>>) {
        let Pen { drawing, few, now, height } = *pen;
        if rows.len() >= height {
            return;
        }
        let age = self.creation_timestamp.map_or_else(String::new, |since| age(Some(since), now));
        rows.push(vec![format!("{first}{}", self.label()), self.state.to_owned(), self.shown_reason(), age]);
        let hidden = self.hidden(few);
        let shown = self.children.len() - hidden;
        for (index, child) in self.children.iter().take(shown).enumerate() {
            let last = index + 1 == shown && hidden == 0;
            let (tee, line) = if last { (drawing.last, "   ") } else { (drawing.tee, drawing.line) };
            child.draw(pen, (&format!("{rest}{tee}"), &format!("{rest}{line}")), rows);
        }
        if hidden > 0 && rows.len() < height {
            let more = format!("{rest}{}{} {hidden} more (--show-all)", drawing.last, drawing.dots);
            rows.push(vec![more, String::new(), String::new(), String::new()]);
        }
    }

    pub(super) fn label(&self) -> String {
        match &self.resource {
            Some(resource) => resource.to_string(),
            // As much of a uuid as tells syntheses apart.
            None if self.kind == "Synthesis" => {
                let uuid = self.name.find('/').map_or(self.name.len(), |slash| (slash + 9).min(self.name.len()));
                format!("{}/{}", self.kind, self.name.get(..uuid).unwrap_or(&self.name))
            }
            None => format!("{}/{}", self.kind, self.name),
        }
    }

    pub(super) fn shown_reason(&self) -> String {
        let presence = self.presence.as_ref().filter(|presence| **presence != Presence::NotLookedAt);
        let parts: Vec<String> = presence.map(ToString::to_string).into_iter().chain(self.reason.clone()).collect();
        parts.join("; ")
    }
}

/// What a tree is drawn with.
struct Pen<'a> {
    drawing: &'a Drawing,
    few: usize,
    now: Timestamp,
    height: usize,
}

/// The characters of the branches.
pub(super) struct Drawing {
    tee: &'static str,
    last: &'static str,
    line: &'static str,
    dots: &'static str,
}

impl Drawing {
    /// ASCII only.
    pub(super) const ASCII: Self = Drawing { tee: "|- ", last: "`- ", line: "|  ", dots: "..." };
    const BOXES: Self = Drawing { tee: "├─ ", last: "└─ ", line: "│  ", dots: "…" };

    /// Boxes, where the locale is one of UTF-8.
    pub(super) fn of_locale() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::BOXES } else { Self::ASCII }
    }
}
