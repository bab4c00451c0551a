//! `kubectl eno options`.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::{cli, output};

pub(super) fn run() -> Result<ExitCode, Failure> {
    output::lines(cli::options().trim_end().lines().map(str::to_owned).collect())?;
    Ok(ExitCode::SUCCESS)
}
