//! An incremental decoder of server-sent events (WHATWG HTML §9.2.6).

#[cfg(test)]
mod tests;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its type, `message` where the stream gives none.
    pub kind: String,
    /// Its data, the lines joined with a line feed. For MCP this is one JSON-RPC message.
    pub data: Vec<u8>,
}

/// A stream that is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseFault {
    /// An event or a line is larger than the limit.
    #[error("an event of the stream has more than {limit} bytes")]
    TooLarge {
        /// Bytes allowed.
        limit: usize,
    },
}

/// Takes a stream in pieces of any size and gives its events. How the stream is cut never matters.
#[derive(Debug)]
pub struct Decoder {
    max_event: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    kind: Vec<u8>,
    after_return: bool,
    in_first_line: bool,
    fault: Option<SseFault>,
}

impl Decoder {
    /// A decoder that takes events, and lines, of up to `max_event` bytes.
    pub const fn new(max_event: usize) -> Self {
        Self {
            max_event,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            kind: Vec::new(),
            after_return: false,
            in_first_line: true,
            fault: None,
        }
    }

    /// Takes the next piece and gives the events that it completes. Events before a fault are given first, and the
    /// fault with the next call.
    ///
    /// # Errors
    /// The stream broke a limit; nothing more comes of it.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<Event>, SseFault> {
        let mut events = Vec::new();
        for byte in piece {
            if self.fault.is_some() {
                break;
            }
            self.byte(*byte, &mut events);
        }
        match self.fault {
            Some(fault) if events.is_empty() => Err(fault),
            _ => Ok(events),
        }
    }

    /// The end of the stream; an event without its closing blank line is dropped, as the standard demands.
    ///
    /// # Errors
    /// The stream had broken a limit.
    pub fn finish(self) -> Result<(), SseFault> {
        self.fault.map_or(Ok(()), Err)
    }

    fn byte(&mut self, byte: u8, events: &mut Vec<Event>) {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => {}
            b'\r' | b'\n' => self.end_line(events),
            _ => {
                if self.line.len() + self.data.len() >= self.max_event {
                    self.fault = Some(SseFault::TooLarge { limit: self.max_event });
                } else {
                    self.line.push(byte);
                }
            }
        }
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let taken = std::mem::take(&mut self.line);
        let mut line = taken.as_slice();
        if std::mem::take(&mut self.in_first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(events);
        } else {
            let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
            let (field, rest) = line.split_at_checked(colon).unwrap_or((line, &[]));
            let value = rest.strip_prefix(b":").unwrap_or(rest);
            self.field(field, value.strip_prefix(b" ").unwrap_or(value));
        }
        // Keeps the allocation for the next line.
        self.line = taken;
        self.line.clear();
    }

    /// An empty name is a comment; `id` and `retry` serve a resumption that MCP does not have.
    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.kind = value.to_vec(),
            _ => {}
        }
    }

    fn end_event(&mut self, events: &mut Vec<Event>) {
        let kind = std::mem::take(&mut self.kind);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let kind =
                if kind.is_empty() { "message".into() } else { String::from_utf8_lossy(&kind).into_owned() };
            events.push(Event { kind, data });
        }
    }
}
