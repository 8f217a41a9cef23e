//! Random bytes from the system.

use crate::fault::CommandFault;

/// Fresh random bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], CommandFault> {
    let mut bytes = [0; N];
    let broken = |_| std::io::Error::other("the system's random source does not work");
    aws_lc_rs::rand::fill(&mut bytes).map_err(broken).map_err(CommandFault::Machine)?;
    Ok(bytes)
}

/// A token that nobody guesses: `agt_` and 256 random bits.
pub(crate) fn token() -> Result<String, CommandFault> {
    Ok(format!("agt_{}", hex::encode(bytes::<32>()?)))
}
