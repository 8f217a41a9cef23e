use super::config::ModelLimits;
use super::fault::ModelFault;
use super::talk::Piece;

#[cfg(test)]
mod tests;

/// One answer of a model, put together from the pieces that it came in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) blocks: Vec<Block>,
    /// What the model said when it declined.
    pub(super) refusal: String,
    /// Why it ended, in the service's words.
    pub(super) stopped: Option<String>,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    /// Whether the last event came.
    pub(super) ended: bool,
}

/// A part of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Call(RawCall),
}

/// A call as the model wrote it.
#[derive(Debug, PartialEq)]
pub(super) struct RawCall {
    index: usize,
    pub(super) id: String,
    pub(super) name: String,
    /// JSON, or what the model takes for it.
    pub(super) arguments: String,
}

/// The longest id or name that is read, in bytes.
const MAX_WORD: usize = 512;

impl Reply {
    /// Adds a piece.
    pub(super) fn take(&mut self, piece: Piece, limits: &ModelLimits) -> Result<(), ModelFault> {
        match piece {
            Piece::Began { id, model } => {
                self.id = self.id.take().or(id.filter(|id| id.len() <= MAX_WORD));
                self.model = self.model.take().or(model.filter(|model| model.len() <= MAX_WORD));
            }
            Piece::Text(text) => match self.blocks.last_mut() {
                Some(Block::Text(all)) => all.push_str(&text),
                _ => self.blocks.push(Block::Text(text)),
            },
            Piece::Refusal(text) => self.refusal.push_str(&text),
            Piece::Call { index, id, name } => {
                if id.len() > MAX_WORD || name.len() > MAX_WORD {
                    return Err(ModelFault::Bound {
                        of: "bytes in the name or id of a call",
                        limit: MAX_WORD,
                    });
                }
                if self.calls().any(|call| call.index == index || call.id == id) {
                    return Err(ModelFault::stream("found two calls with one index or id"));
                }
                if self.calls().count() >= limits.max_calls {
                    return Err(ModelFault::Bound { of: "calls", limit: limits.max_calls });
                }
                self.blocks.push(Block::Call(RawCall { index, id, name, arguments: String::new() }));
            }
            Piece::Arguments { index, text } => {
                let call = self.blocks.iter_mut().find_map(|block| match block {
                    Block::Call(call) if call.index == index => Some(call),
                    _ => None,
                });
                let call =
                    call.ok_or_else(|| ModelFault::stream("found arguments of a call that did not begin"))?;
                if call.arguments.len().saturating_add(text.len()) > limits.max_arguments {
                    return Err(ModelFault::Bound {
                        of: "bytes of arguments in a call",
                        limit: limits.max_arguments,
                    });
                }
                call.arguments.push_str(&text);
            }
            Piece::Usage { input, output } => {
                self.input = input.or(self.input);
                self.output = output.or(self.output);
            }
            Piece::Stopped(reason) => self.stopped = Some(super::service::cut(&reason, 80)),
            Piece::Ended => self.ended = true,
        }
        Ok(())
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &RawCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) => None,
        })
    }

    /// The text, without the calls.
    pub(super) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Call(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}
