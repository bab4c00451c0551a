//! Can the colours be read? Every colour of text has a contrast of at least 4.5 to what it stands on, as WCAG AA asks.

use std::collections::BTreeMap;

use super::page::STYLE;

/// The palettes of the style: light, dark, print.
fn palettes() -> Vec<BTreeMap<&'static str, [f64; 3]>> {
    let palette = |block: &'static str| {
        let block = block.split_once('}').map_or(block, |(block, _)| block);
        let properties = block.split([';', '{', '\n']).filter_map(|property| property.trim().strip_prefix("--"));
        properties
            .filter_map(|property| {
                let (name, value) = property.split_once(": #")?;
                let channel = |index: usize| f64::from(u8::from_str_radix(&value[index..index + 2], 16).unwrap());
                Some((name, [channel(0), channel(2), channel(4)]))
            })
            .collect()
    };
    STYLE.split(":root {").skip(1).map(palette).collect()
}

fn luminance(color: [f64; 3]) -> f64 {
    let [red, green, blue] = color.map(|channel| {
        let share = channel / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[test]
fn every_colour_of_text_can_be_read() {
    let palettes = palettes();
    assert_eq!(palettes.len(), 3);
    let texts = ["text", "quiet", "link", "keep", "collect", "wait", "hold", "release", "unknown", "alarm"];
    for palette in palettes {
        for text in texts {
            for ground in ["page", "panel", "stuck"] {
                let (a, b) = (luminance(palette[text]), luminance(palette[ground]));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2} in {palette:?}");
            }
        }
    }
}
