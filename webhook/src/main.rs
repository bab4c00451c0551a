//! The binary `eno-webhook`.

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    eno_webhook::exit(eno_webhook::run(eno_webhook::Args::parse()).await)
}
