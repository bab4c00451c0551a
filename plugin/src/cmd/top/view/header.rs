//! The two lines above the rows: where this is, whether it is true now, and the tabs.

use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::super::keys::Tab;
use super::super::model::{Link, Model};
use super::Canvas;
use crate::age::age;
use crate::output::table::shortened;

/// How much is said in the tabs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Much {
    /// Titles, and words.
    All,
    /// Titles, and marks.
    Marks,
    /// Only the title of the tab that is seen.
    One,
}

impl Canvas<'_> {
    pub(super) fn header(&mut self, model: &Model) {
        let width = usize::from(self.area().width);
        let (link, alarming) = match &model.link {
            Link::Live => ("live".to_owned(), false),
            Link::Offline => ("offline".to_owned(), false),
            Link::Stale { since, .. } => (format!("STALE {}", age(Some(*since), model.now)), true),
        };
        let scope = model.scope.namespace.as_deref().unwrap_or("all namespaces");
        let place = format!("{}   {scope}", model.scope.context);
        let room = width.saturating_sub(link.width() + 2);
        let titled = format!("kubectl eno top   {place}");
        let place = if titled.width() <= room { titled } else { shortened(&place, room).into_owned() };
        self.line(0, &place, Style::new());
        let style = if alarming { self.alarm() } else { Style::new() };
        self.text(u16::try_from(width.saturating_sub(link.width())).unwrap_or_default(), 0, &link, style);

        let forms = [Much::All, Much::Marks, Much::One].map(|much| (much, tabs(model, much)));
        let fits = |(_, tabs): &&(Much, Vec<String>)| {
            tabs.iter().map(|tab| tab.width() + 2).sum::<usize>().saturating_sub(2) <= width
        };
        let (_, tabs) = forms.iter().find(fits).unwrap_or(&forms[2]);
        let mut x = 0;
        for (tab, text) in Tab::ALL.into_iter().zip(tabs) {
            let alarming = match model.list(tab) {
                Some(list) => list.counts().1 > 0,
                None => model.webhook.alarming,
            };
            let mut style = if alarming { self.alarm() } else { Style::new() };
            if tab == model.tab {
                style = style.add_modifier(Modifier::BOLD);
            }
            self.text(x, 1, text, style);
            x += u16::try_from(text.width() + 2).unwrap_or_default();
        }
    }
}

fn tabs(model: &Model, much: Much) -> Vec<String> {
    let tab = |tab: Tab| {
        let number = tab as usize + 1;
        let title = if much == Much::One && tab != model.tab { String::new() } else { format!(" {}", tab.title()) };
        let text = match (model.list(tab), much) {
            (None, Much::All) => format!("{number}{title}: {}", model.webhook.word),
            (None, _) => format!("{number}{title}{}", if model.webhook.alarming { "!" } else { "" }),
            (Some(list), _) => {
                let (all, stuck) = list.counts();
                let all = if title.is_empty() { String::new() } else { format!(" {all}") };
                let stuck = match (stuck, much) {
                    (0, _) => String::new(),
                    (stuck, Much::All) => format!(", {stuck} stuck"),
                    (stuck, _) => format!(" !{stuck}"),
                };
                format!("{number}{title}{all}{stuck}")
            }
        };
        if tab == model.tab { format!("[{text}]") } else { text }
    };
    Tab::ALL.map(tab).to_vec()
}
