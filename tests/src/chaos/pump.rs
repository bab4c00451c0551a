//! One direction of a connection through a [`Wire`](super::wire::Wire).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use super::wire::Trouble;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    Requests,
    /// From the server to the client.
    Answers,
}

/// How a direction ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// There are no more bytes.
    Itself,
    /// The trouble said so.
    Trouble,
}

/// The connection is to be reset, or was.
#[derive(Debug)]
pub struct Reset;

/// What is to be done next.
enum Next {
    Piece(usize),
    HalfClose,
    Other,
}

/// Carries bytes until there are no more, or the trouble says so, and tells the other end.
pub async fn pump(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    direction: Direction,
    mut trouble: watch::Receiver<Option<Trouble>>,
) -> Result<End, Reset> {
    let mut buffer = vec![0; 16 * 1024];
    // Bytes since the trouble began.
    let mut passed = 0;
    loop {
        let now = *trouble.borrow_and_update();
        let idle = match (now, direction) {
            (Some(Trouble::HalfClose(idle)), Direction::Answers) => idle,
            _ => Duration::MAX,
        };
        let hangs = now == Some(Trouble::Hang);
        match now {
            Some(Trouble::Cut | Trouble::Impostor) => return Err(Reset),
            Some(Trouble::Reset { after }) if passed >= after => return Err(Reset),
            Some(Trouble::Truncate { after }) if passed >= after && direction == Direction::Answers => {
                return half_close(to, End::Trouble).await;
            }
            _ => {}
        }
        let room = match now {
            Some(Trouble::Reset { after } | Trouble::Truncate { after }) => (after - passed.min(after)).max(1),
            _ => buffer.len(),
        };
        let room = room.min(buffer.len());
        let next = tokio::select! {
            read = from.read(&mut buffer[..room]), if !hangs => Next::Piece(read.map_err(|_| Reset)?),
            () = sleep(idle) => Next::HalfClose,
            changed = trouble.changed() => {
                changed.map_err(|_| Reset)?;
                passed = 0;
                Next::Other
            }
        };
        match next {
            Next::Other => {}
            Next::HalfClose => return half_close(to, End::Trouble).await,
            Next::Piece(0) => return half_close(to, End::Itself).await,
            Next::Piece(bytes) => {
                pass(&buffer[..bytes], to, direction, now, &trouble).await?;
                passed += bytes;
            }
        }
    }
}

/// Tells the other end that there are no more bytes this way.
async fn half_close(to: &mut OwnedWriteHalf, end: End) -> Result<End, Reset> {
    to.shutdown().await.map(|()| end).map_err(|_| Reset)
}

async fn pass(
    mut piece: &[u8],
    to: &mut OwnedWriteHalf,
    direction: Direction,
    now: Option<Trouble>,
    trouble: &watch::Receiver<Option<Trouble>>,
) -> Result<(), Reset> {
    match now {
        Some(Trouble::Delay(delay)) => sleep(delay).await,
        Some(Trouble::Trickle(pause)) if direction == Direction::Requests => {
            while let [first, rest @ ..] = piece
                && trouble.has_changed().is_ok_and(|changed| !changed)
            {
                to.write_all(&[*first]).await.map_err(|_| Reset)?;
                sleep(pause).await;
                piece = rest;
            }
        }
        _ => {}
    }
    to.write_all(piece).await.map_err(|_| Reset)
}
