use proptest::prelude::*;

use super::{SealFault, SealKey};

#[test]
fn a_short_secret_is_refused() {
    assert!(matches!(SealKey::derive(&[7; 31]), Err(SealFault::ShortSecret { found: 31 })));
}

proptest! {
    #[test]
    fn what_was_sealed_opens_and_nothing_else_does(
        plain in proptest::collection::vec(any::<u8>(), 0..200), nonce: [u8; 12], at: prop::sample::Index, bit in 0u8..8,
    ) {
        let key = SealKey::derive(&[1; 32]).expect("key");
        let sealed = key.seal("state", nonce, &plain).expect("sealed");
        prop_assert_eq!(key.open("state", &sealed).expect("opens"), plain);
        prop_assert!(key.open("arguments", &sealed).is_err());
        prop_assert!(SealKey::derive(&[2; 32]).expect("key").open("state", &sealed).is_err());
        let mut altered = sealed.clone();
        altered[at.index(sealed.len())] ^= 1 << bit;
        prop_assert!(key.open("state", &altered).is_err());
        prop_assert!(key.open("state", &sealed[..at.index(sealed.len())]).is_err());
    }
}
