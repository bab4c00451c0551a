//! The page: one file, with its style and its script in it. Nothing is ever loaded, and nothing else can run: the policy
//! names the hashes of the two.

use ring::digest::{SHA256, digest};

use super::contents::{Contents, Origin};
use super::html::{Text, duration, seconds};
use super::{graph, tables, totals};

pub(super) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole file.
pub(super) fn of(contents: &Contents<'_>) -> String {
    let headline = totals::headline(contents);
    let origin = origin(contents);
    let gaps = gaps(&contents.gaps);
    let (stuck, totals) = (tables::stuck(contents), totals::of(contents));
    let (graph, compositions, slices) = (graph::of(contents), tables::compositions(contents), tables::slices(contents));
    let policy = policy();
    let (version, patience) = (env!("CARGO_PKG_VERSION"), duration(contents.patience));
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Eno report: {headline}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>Eno report</h1>
<p class="headline">{headline}</p>
<p>{origin} Stuck is what something blocks for longer than {patience}. By kubectl-eno {version}.</p>
{gaps}<nav aria-label="Sections"><a href="#stuck">Stuck</a> <a href="#totals">Totals</a> <a href="#graph">Graph</a> <a href="#all-compositions">Compositions</a> <a href="#all-slices">Slices</a></nav>
</header>
<main>
<section id="stuck"><h2>Stuck</h2>
{stuck}</section>
<section id="totals"><h2>Totals</h2>
{totals}</section>
<form id="filter" role="search" aria-label="Filter" hidden></form>
<p id="found" role="status"></p>
<section id="graph"><h2>Graph</h2>
<p>Symphonies, their compositions, and the slices of these: each with the letter of its verdict, and with ! where it is
stuck; - is a slice that should be there. The tables below say the same in words.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Graph">
{graph}</div></section>
<section id="all-compositions"><h2>Compositions</h2>
{compositions}</section>
<section id="all-slices"><h2>Slices</h2>
{slices}</section>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"##
    )
}

/// What was read, and when.
fn origin(contents: &Contents<'_>) -> String {
    let place = match (contents.namespace, &contents.origin) {
        (Some(namespace), _) => format!("namespace {}", Text(namespace)),
        (None, Origin::Cluster(_)) => "all namespaces".to_owned(),
        (None, Origin::Files(_)) => "all namespaces there are in it".to_owned(),
    };
    let origin = match &contents.origin {
        Origin::Cluster(host) => format!("Cluster {}, {place}, as it was at", Text(host)),
        Origin::Files(names) => format!("A dump ({}), {place}, judged as of", Text(&names.join(", "))),
    };
    format!("{origin} <time>{}</time>.", seconds(contents.now))
}

/// What could not be read.
fn gaps(gaps: &[String]) -> String {
    if gaps.is_empty() {
        return String::new();
    }
    let all: String = gaps.iter().map(|gap| format!("<li>{}</li>\n", Text(gap))).collect();
    format!("<div class=\"gaps\"><p>It is not whole:</p>\n<ul>\n{all}</ul></div>\n")
}

/// No source but these two texts.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(digest(&SHA256, text.as_bytes()).as_ref()));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        (0..=chunk.len()).map(move |index| char::from(ALPHABET[(bits >> (18 - 6 * index)) as usize & 63]))
    };
    let mut text: String = bytes.chunks(3).flat_map(sextets).collect();
    text.extend(std::iter::repeat_n('=', (3 - bytes.len() % 3) % 3));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_base64() {
        for (plain, encoded) in [("", ""), ("h", "aA=="), ("hi", "aGk="), ("hi!", "aGkh"), ("\u{ff}", "w78=")] {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }
}
