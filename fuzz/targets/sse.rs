//! How a stream is cut never matters, and no event is larger than the limit. The first byte is the limit.
#![no_main]

use aldgate_wire::sse::{Decoder, Event, SseFault};
use libfuzzer_sys::fuzz_target;

fn decoded<'a>(
    limit: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Event>, Result<(), SseFault>) {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        match decoder.push(piece) {
            Ok(more) => events.extend(more),
            Err(fault) => return (events, Err(fault)),
        }
    }
    (events, decoder.finish())
}

fuzz_target!(|data: &[u8]| {
    let Some((limit, stream)) = data.split_first() else { return };
    let limit = usize::from(*limit);
    let whole = decoded(limit, [stream]);
    for event in &whole.0 {
        assert!(event.data.len() <= limit && !event.kind.is_empty(), "{event:?}");
        assert!(!event.kind.contains(['\r', '\n']) && !event.data.contains(&b'\r'), "{event:?}");
    }
    for size in [1, 2, 3, 7] {
        assert_eq!(decoded(limit, stream.chunks(size)), whole);
    }
    for at in 0..=stream.len().min(100) {
        let (before, after) = stream.split_at(at);
        assert_eq!(decoded(limit, [before, after]), whole, "cut at {at}");
    }
});
