//! `kubectl eno`: what may happen to Eno's resource slices, and why.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_eno::run(std::env::args_os())
}
