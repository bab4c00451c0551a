//! The body of a call, as far as it is kept: within its bounds, and without the manifests of slices.

mod skim;

use axum::body::{Body, HttpBody};
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::deadline::Deadline;

pub use skim::Skimmed;

/// The largest body: two objects of the 3 MiB that the API server takes, and what surrounds them.
pub const LARGEST: usize = 7 * 1024 * 1024;

/// What is kept of the bodies of all calls until they are answered. Whoever reaches the port may send some: without a bound they
/// would use up the memory, of which the manifest grants four times as much for this and all else.
pub const ROOM: usize = 64 * 1024 * 1024;

/// Why a body was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// It is longer than any review.
    #[error("the body is larger than {LARGEST} bytes")]
    TooLarge,
    /// Other bodies have taken the room.
    #[error("too many large bodies at once; try again")]
    NoRoom,
    /// The time of the call is up.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// The connection ended.
    #[error("the body broke off: {0}")]
    BrokenOff(axum::Error),
}

/// Reads a body. It takes room for what is kept of it, and not for what is announced: who wants to take all room must send as
/// much.
///
/// # Errors
/// [`Unread`].
pub async fn read(
    mut body: Body,
    deadline: Deadline,
    room: &Semaphore,
) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > LARGEST {
        return Err(Unread::TooLarge);
    }
    let take = |bytes: usize| room.try_acquire_many(bytes.try_into().unwrap_or(u32::MAX)).map_err(|_| Unread::NoRoom);
    let mut kept = Skimmed::with_capacity(announced);
    let (mut taken, mut arrived) = (take(0)?, 0);
    loop {
        let frame = tokio::time::timeout_at(deadline.at(), body.frame()).await.map_err(|_| Unread::TooSlow)?;
        let Some(frame) = frame else { return Ok((kept.into_bytes(), taken)) };
        // A frame that is not data is a trailer.
        let Ok(data) = frame.map_err(Unread::BrokenOff)?.into_data() else { continue };
        arrived += data.len();
        if arrived > LARGEST {
            return Err(Unread::TooLarge);
        }
        let before = kept.len();
        kept.push(&data);
        taken.merge(take(kept.len() - before)?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_of(body: impl Into<Body>, room: &Semaphore) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread> {
        read(body.into(), Deadline::of_query(None), room).await
    }

    #[tokio::test]
    async fn bodies_share_a_bounded_room_until_they_are_answered() {
        let room = Semaphore::new(8);
        let (body, held) = read_of(" ".repeat(5), &room).await.unwrap();
        assert_eq!(body.len(), 5);
        assert!(matches!(read_of(" ".repeat(5), &room).await, Err(Unread::NoRoom)));
        assert!(read_of(" ".repeat(3), &room).await.is_ok(), "a refused body holds nothing");
        drop(held);
        assert!(read_of(" ".repeat(8), &room).await.is_ok());
    }

    #[tokio::test]
    async fn manifests_take_no_room() {
        let room = Semaphore::new(15);
        let body = format!(r#"{{"manifest":"{}"}}"#, "x".repeat(1000));
        assert_eq!(read_of(body, &room).await.unwrap().0, br#"{"manifest":""}"#);
    }
}
