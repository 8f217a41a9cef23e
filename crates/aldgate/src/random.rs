//! Random bytes from the system.

/// Fresh random bytes.
pub(crate) fn bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| std::io::Error::other("the system's random source does not work"))?;
    Ok(bytes)
}

/// A token that nobody guesses: `agt_` and 256 random bits.
pub(crate) fn token() -> std::io::Result<String> {
    Ok(format!("agt_{}", hex::encode(bytes::<32>()?)))
}
