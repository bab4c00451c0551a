//! A plot as SVG: panels side by side, each with the same lines, from zero upwards.

use std::fmt::Write;

use anyhow::Result;

/// Size of a panel.
const WIDTH: f64 = 240.0;
/// Size of a panel.
const HEIGHT: f64 = 170.0;
/// Room for the numbers at its side.
const LEFT: f64 = 60.0;
/// Room for its title.
const TOP: f64 = 30.0;
/// Room for the numbers below, and for the legend.
const BOTTOM: f64 = 60.0;
/// Told apart by everybody, on white and on black.
const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];

/// The plot.
pub struct Plot {
    /// What the numbers below are of.
    pub across: &'static str,
    /// The panels: titles and lines.
    pub panels: Vec<(&'static str, Vec<Line>)>,
}

/// A line.
pub struct Line {
    /// What it is of.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// As SVG.
    ///
    /// # Errors
    /// None: writing to a String does not fail.
    pub fn svg(&self) -> Result<String> {
        let (width, height) = ((WIDTH + LEFT) * self.panels.len() as f64 + 20.0, TOP + HEIGHT + BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#888\">\n"
        );
        for (index, (title, lines)) in self.panels.iter().enumerate() {
            writeln!(svg, "<g transform=\"translate({} {TOP})\">", LEFT + (WIDTH + LEFT) * index as f64)?;
            panel(&mut svg, title, lines)?;
            svg.push_str("</g>\n");
        }
        let lines = self.panels.first().map(|(_, lines)| lines.as_slice()).unwrap_or_default();
        let below = TOP + HEIGHT + 32.0;
        writeln!(svg, "<text x=\"{LEFT}\" y=\"{below}\">{}</text>", self.across)?;
        for (index, (line, colour)) in lines.iter().zip(COLOURS).enumerate() {
            let at = LEFT + 180.0 + 110.0 * index as f64;
            writeln!(svg, "<rect x=\"{at}\" y=\"{}\" width=\"18\" height=\"3\" fill=\"{colour}\"/>", below - 5.0)?;
            writeln!(svg, "<text x=\"{}\" y=\"{below}\">{}</text>", at + 24.0, line.name)?;
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }
}

fn panel(svg: &mut String, title: &str, lines: &[Line]) -> Result<()> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let right = points().map(|point| point.0).fold(1.0, f64::max);
    let top = points().map(|point| point.1).fold(0.1, f64::max) * 1.1;
    let place = |(x, y): (f64, f64)| (x / right * WIDTH, HEIGHT - y / top * HEIGHT);
    writeln!(svg, "<text x=\"0\" y=\"-10\" font-weight=\"bold\">{title}</text>")?;
    for part in 0..=4 {
        let value = top * f64::from(part) / 4.0;
        let y = place((0.0, value)).1;
        let digits = if top < 10.0 { 1 } else { 0 };
        writeln!(svg, "<path d=\"M0 {y:.1}H{WIDTH}\" stroke=\"#888\" stroke-width=\".3\"/>")?;
        writeln!(svg, "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{value:.digits$}</text>", y + 4.0)?;
    }
    if let Some(line) = lines.first() {
        for (x, _) in &line.points {
            writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{x}</text>",
                place((*x, 0.0)).0,
                HEIGHT + 15.0
            )?;
        }
    }
    for (line, colour) in lines.iter().zip(COLOURS) {
        let path: Vec<_> =
            line.points.iter().map(|point| place(*point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        )?;
        for (x, y) in line.points.iter().map(|point| place(*point)) {
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>")?;
        }
    }
    Ok(())
}
