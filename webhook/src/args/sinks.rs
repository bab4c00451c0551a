//! The flags of the sinks: who is told when a pod is destroyed.

use std::path::PathBuf;
use std::time::Duration;

use ::http::Uri;
use clap::Args as Flags;

use super::control::nonzero;
use crate::pods::sinks::address::Guard;
use crate::pods::sinks::http::{self, ContentMode};
use crate::pods::sinks::json_lines::Target;
use crate::pods::sinks::{Limits, Options};

#[derive(Debug, Flags)]
#[command(next_help_heading = "Who is told of destroyed pods")]
pub(super) struct Sinks {
    /// Post Events, on the composition that a pod worked for: for people, and no promise.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    sink_events: bool,
    /// Post each destroy to this URL, as a CloudEvent, until it is taken.
    #[arg(long, value_name = "URL")]
    sink_url: Option<Uri>,
    /// How a CloudEvent goes into a request: all in the body, or its attributes in headers.
    #[arg(long, value_enum, default_value_t = ContentMode::Structured, requires = "sink_url")]
    sink_content_mode: ContentMode,
    /// Who signs the receiver's certificate, in PEM; without, the system's authorities.
    #[arg(long, value_name = "FILE", requires = "sink_url")]
    sink_ca_file: Option<PathBuf>,
    /// Bearer token for the receiver; read again for each attempt.
    #[arg(long, value_name = "FILE", requires = "sink_url")]
    sink_token_file: Option<PathBuf>,
    /// How long one attempt may take.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = nonzero, requires = "sink_url")]
    sink_timeout: Duration,
    /// Let the receiver be on this host, or be link-local.
    #[arg(long, requires = "sink_url")]
    sink_allow_local: bool,
    /// Write each destroy to the end of this file, as a CloudEvent in JSON, one a line; `-` is standard output.
    #[arg(long, value_name = "FILE", value_parser = target)]
    sink_json_lines: Option<Target>,
}

impl Sinks {
    /// Who is told.
    pub(super) fn options(&self) -> Options {
        Options {
            events: self.sink_events,
            http: self.sink_url.as_ref().map(|url| http::Options {
                url: url.clone(),
                mode: self.sink_content_mode,
                ca_file: self.sink_ca_file.clone(),
                token_file: self.sink_token_file.clone(),
                timeout: self.sink_timeout,
                guard: Guard { allow_local: self.sink_allow_local },
            }),
            json_lines: self.sink_json_lines.clone(),
            limits: Limits::default(),
        }
    }
}

#[allow(clippy::unnecessary_wraps)] // as clap wants it
fn target(text: &str) -> Result<Target, String> {
    Ok(if text == "-" { Target::Stdout } else { Target::File(text.into()) })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        sinks: Sinks,
    }

    fn parse(flags: &[&str]) -> Result<Options, String> {
        let cli = Cli::try_parse_from(["x"].iter().chain(flags)).map_err(|error| error.to_string())?;
        Ok(cli.sinks.options())
    }

    #[test]
    fn people_are_told_by_default_and_nobody_else() {
        let options = parse(&[]).unwrap();
        assert!(options.events && options.http.is_none() && options.json_lines.is_none());
    }

    #[test]
    fn flags_of_the_receiver_need_one() {
        for flag in ["--sink-allow-local", "--sink-token-file=t", "--sink-content-mode=binary"] {
            assert!(parse(&[flag]).unwrap_err().contains("--sink-url"), "{flag}");
            assert!(parse(&[flag, "--sink-url=https://a/b"]).is_ok(), "{flag}");
        }
    }

    #[test]
    fn lines_go_to_a_file_or_to_standard_output() {
        assert_eq!(parse(&["--sink-json-lines=-"]).unwrap().json_lines, Some(Target::Stdout));
        let file = Some(Target::File("a/b".into()));
        assert_eq!(parse(&["--sink-json-lines=a/b"]).unwrap().json_lines, file);
    }
}
