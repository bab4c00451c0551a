//! How a command fails: what people read on stderr, in kubectl's words, and the exit code.

use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

use eno_shared::api::Kind;
use eno_shared::client::ReadError;
use eno_shared::names::ENO_GROUP;

use crate::output::table::sanitized;
use crate::warnings::say;

/// Exit code of errors, usage errors among them: as kubectl's.
pub const ERROR: u8 = 1;
/// Exit code of `why` where the verdict is Unknown.
pub const CANNOT_TELL: u8 = 2;
/// Exit code of what was refused for safety.
pub const REFUSED: u8 = 4;
/// Exit code of a wait that took too long.
pub const TIMED_OUT: u8 = 124;
/// Exit code of a command that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    text: String,
    quiet: bool,
    code: u8,
}

impl Failure {
    /// An error of this side, printed as `error: …`.
    pub fn local(message: impl fmt::Display) -> Self {
        Failure::verbatim(format!("error: {message}"))
    }

    /// A text that is printed as it is.
    pub fn verbatim(text: impl Into<String>) -> Self {
        Failure { text: text.into(), quiet: false, code: ERROR }
    }

    /// The same with another exit code.
    pub fn with_code(self, code: u8) -> Self {
        Failure { code, ..self }
    }

    /// A command line that cannot be read, with what clap says of it.
    pub fn usage(rendered: String) -> Self {
        Failure::verbatim(rendered)
    }

    /// The API server, or the dump, has no such object.
    pub fn not_found<K: Kind>(name: &str, offline: bool) -> Self {
        let object = format!("{}.{ENO_GROUP} \"{name}\" not found", K::PLURAL);
        if offline {
            return Failure::local(format_args!("{object} in the dump"));
        }
        Failure::verbatim(format!("Error from server (NotFound): {object}"))
    }

    /// A read of the API server failed. `host` is where it was expected, `HOST:PORT`.
    pub fn read<K: Kind>(error: &ReadError, host: &str) -> Self {
        Failure::request(error, &format!("{}.{ENO_GROUP}", K::PLURAL), host)
    }

    fn request(error: &ReadError, resource: &str, host: &str) -> Self {
        match error {
            ReadError::Api(status) if status.code == 401 => {
                let why = if status.message.is_empty() { "Unauthorized" } else { &status.message };
                Failure::local(format_args!("You must be logged in to the server ({why})"))
            }
            ReadError::Api(status) if status.code == 404 => {
                Failure::local(format_args!("the server doesn't have a resource type \"{resource}\""))
            }
            ReadError::Api(status) => match status.reason.as_str() {
                "" => Failure::verbatim(format!("Error from server: {}", status.message)),
                reason => Failure::verbatim(format!("Error from server ({reason}): {}", status.message)),
            },
            ReadError::Transport(error) => Failure::transport(error, host),
            ReadError::TimedOut(_) => {
                Failure::verbatim(format!("Unable to connect to the server: {error} (--request-timeout)"))
            }
            ReadError::Decode(_) | ReadError::Malformed(_) => Failure::local(error),
        }
    }

    /// A request about objects of Kubernetes' own failed.
    pub fn core(error: &ReadError, plural: &str, host: &str) -> Self {
        Failure::request(error, plural, host)
    }

    /// There was no answer of the API server's.
    pub fn transport(error: &kube::Error, host: &str) -> Self {
        let mut cause: &dyn std::error::Error = error;
        loop {
            if let Some(error) = cause.downcast_ref::<kube::client::AuthError>() {
                return crate::context::credentials::failure(error);
            }
            if cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::ConnectionRefused) {
                return Failure::verbatim(format!(
                    "The connection to the server {host} was refused - did you specify the right host or port?"
                ));
            }
            match cause.source() {
                Some(inner) => cause = inner,
                None => return Failure::verbatim(format!("Unable to connect to the server: {cause}")),
            }
        }
    }

    /// Prints it, and says the exit code.
    pub fn report(&self) -> ExitCode {
        if !self.quiet {
            say(self);
        }
        ExitCode::from(if self.quiet { 0 } else { self.code })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Messages come from the cluster too: no escape sequence reaches the terminal.
        for (index, line) in self.text.lines().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&sanitized(line))?;
        }
        Ok(())
    }
}

/// Errors of writing the result. A reader that has gone away (`| head`) is no failure.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure { quiet: error.kind() == ErrorKind::BrokenPipe, ..Failure::local(error) }
    }
}
