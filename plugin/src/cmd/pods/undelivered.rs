//! The ends of pods that not everyone has been told.

use std::process::ExitCode;

use jiff::Timestamp;

use crate::cli::{Cli, PodsUndeliveredFlags};
use crate::cmd::listing::Listing;
use crate::cmd::webhook_namespace::webhook_namespace;
use crate::failure::Failure;
use crate::item::pod::{LETTER_COLUMNS, LetterItem};
use crate::outbox::Place;
use crate::output::{self, Format};
use crate::warnings::Warnings;

pub(super) async fn run(flags: &PodsUndeliveredFlags, cli: &Cli) -> Result<ExitCode, Failure> {
    let format = Format::parse(&flags.output)?;
    let (cluster, _) = crate::cmd::cluster(cli, 1, &Warnings::default())?;
    let home = webhook_namespace(&cluster, &flags.outbox).await;
    let outbox = Place::new(&cluster, &home)?.read().await?;
    let letters = outbox.entries().into_values().flat_map(|entry| &entry.undelivered);
    let mut items: Vec<LetterItem> =
        letters.map(LetterItem::new).filter(|letter| !flags.dead || letter.is_dead()).collect();
    let by = flags.sort_by.as_deref().unwrap_or("AGE");
    output::sort(&mut items, by, &LETTER_COLUMNS.map(|column| (column.header, column.path)))?;
    let listing = Listing {
        items,
        columns: &LETTER_COLUMNS,
        coloured: "",
        name: LetterItem::id,
        named: false,
        alone: false,
        namespace: None,
        now: Timestamp::now(),
    };
    listing.print_as("destroy", &format, &flags.output)?;
    Ok(ExitCode::SUCCESS)
}
