use aldgate_wire::sse::{Decoder, Event, SseFault};
use proptest::prelude::*;

const LIMIT: usize = 24;

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "data: ?[a-z:]{0,9}",
        "event:[a-z]{0,3}",
        ":[a-z]{0,3}",
        "id: 1",
        "\\PC{0,4}",
        Just("\u{feff}".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes())
}

/// All events of a stream that comes in these pieces, and how it ends.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Result<(), SseFault>) {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        match decoder.push(piece) {
            Ok(more) => events.extend(more),
            Err(fault) => return (events, Err(fault)),
        }
    }
    (events, decoder.finish())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn how_the_stream_is_cut_does_not_matter(stream in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let whole = decode([stream.as_slice()]);
        prop_assert_eq!(&decode(stream.chunks(1)), &whole);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
        prop_assert_eq!(&decode(pieces), &whole);
    }

    /// What a server writes as one event is read as that event.
    #[test]
    fn events_round_trip(lines in prop::collection::vec("[a-z:]{0,3}", 1..4), ending in prop::sample::select(&["\n", "\r", "\r\n"][..])) {
        let text: String = lines.iter().map(|line| format!("data: {line}{ending}")).collect();
        let (events, end) = decode([format!("{text}{ending}").as_bytes()]);
        prop_assert_eq!(end, Ok(()));
        prop_assert_eq!(events.len(), 1);
        prop_assert_eq!(&events[0].data, &lines.join("\n").into_bytes());
    }
}
