//! The stdio transport: one message a line, answered in the order in which they come.

use aldgate_wire::guard::Limits;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

use crate::endpoint::{Bounds, answered, batch, rejected};
use crate::era::{self, Message};
use crate::reader::Reader;
use crate::server::EvidenceServer;

/// Standard input or output failed.
#[derive(Debug, thiserror::Error)]
pub enum StdioFault {
    /// Reading.
    #[error("standard input could not be read")]
    Read(#[source] std::io::Error),
    /// Writing.
    #[error("standard output could not be written")]
    Write(#[source] std::io::Error),
}

/// Serves one reader until the input ends. A request is answered before the next line is read, so a
/// `notifications/cancelled` always comes too late, and is ignored.
///
/// # Errors
/// Where reading or writing fails.
pub async fn serve_stdio<R, W>(
    server: &EvidenceServer,
    reader: &Reader,
    input: R,
    mut output: W,
) -> Result<(), StdioFault>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    let Bounds { body_bytes, depth, .. } = Bounds::default();
    let limits = Limits { max_bytes: body_bytes, max_depth: depth };
    let mut input = BufReader::new(input);
    while let Some(line) = line(&mut input, body_bytes).await.map_err(StdioFault::Read)? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match era::read(None, line.trim_ascii(), &limits) {
            Err(rejection) => Some(rejected(&rejection)),
            Ok(Message::Notification) => None,
            Ok(Message::Request(asking)) => Some(answered(server, reader, asking).await.1),
            Ok(Message::Batch(messages)) => batch(server, reader, messages).await,
        };
        if let Some(mut answer) = answer {
            answer.push(b'\n');
            output.write_all(&answer).await.map_err(StdioFault::Write)?;
            output.flush().await.map_err(StdioFault::Write)?;
        }
    }
    Ok(())
}

/// The next line; of one that is too long, so much that it is seen to be. `None` at the end of the input.
async fn line<R: AsyncRead + Unpin>(
    input: &mut BufReader<R>,
    most: usize,
) -> std::io::Result<Option<Vec<u8>>> {
    let enough = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(2);
    let mut line = Vec::new();
    let read = (&mut *input).take(enough).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    while line.len() > most && line.last() != Some(&b'\n') {
        let mut rest = Vec::new();
        if (&mut *input).take(enough).read_until(b'\n', &mut rest).await? == 0 {
            break;
        }
        if rest.last() == Some(&b'\n') {
            break;
        }
    }
    Ok(Some(line))
}
