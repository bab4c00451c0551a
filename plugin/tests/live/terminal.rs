//! The plugin in a terminal: it prompts, and draws its progress.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use nix::pty::{Winsize, openpty};

/// How long a terminal may show nothing new.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs a command in a terminal of so many columns. Each answer is typed once its question has appeared. Returns the exit
/// code and all that the terminal has shown.
pub fn run(command: &mut Command, columns: u16, answers: &[(&str, &str)]) -> (i32, String) {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    let stdio = || Stdio::from(pty.slave.try_clone().unwrap());
    let mut child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).env("TERM", "xterm").spawn().unwrap();
    // The child's are the only ends left: reading ends with it. The command keeps its own until then.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(pty.slave);
    let mut master = File::from(pty.master);
    let (send, received) = mpsc::channel();
    let mut reader = master.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        // An error is how Linux says that the other end is closed.
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if send.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let (mut shown, mut from, mut answers) = (String::new(), 0, answers.iter());
    let mut next = answers.next();
    loop {
        match received.recv_timeout(LIMIT) {
            Ok(bytes) => shown += &String::from_utf8_lossy(&bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("nothing happens; the terminal shows:\n{shown}");
            }
        }
        if let Some((question, answer)) = next
            && let Some(at) = shown[from..].find(question)
        {
            from += at + question.len();
            master.write_all(answer.as_bytes()).unwrap();
            next = answers.next();
        }
    }
    assert!(next.is_none(), "{next:?} was never asked:\n{shown}");
    (child.wait().unwrap().code().unwrap(), shown)
}
