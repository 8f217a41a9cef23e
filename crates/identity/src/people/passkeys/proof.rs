//! What an authenticator says, and whether it is true (Web Authentication, level 3, §7).
//!
//! No attestation is asked for: what a browser says of a new passkey is believed as far as its session is, and the key comes
//! as `SubjectPublicKeyInfo` with it (§5.2.1.1). What counts is that the same key answers later.

#[cfg(test)]
pub(in crate::people) mod tests;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::people::keys::same;

/// The algorithms that are taken (COSE, RFC 9053 and RFC 8812): ES256, EdDSA, RS256.
pub(super) const ALGORITHMS: [i64; 3] = [-7, -8, -257];

/// How long a credential's id may be, in bytes (§4).
const LONGEST_ID: usize = 1023;

/// Whom and what the authenticator has to answer.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) relying_party: &'a str,
    pub(super) origin: &'a str,
    pub(super) challenge: &'a str,
}

/// A credential that was made (`RegistrationResponseJSON`).
#[derive(Deserialize)]
pub(super) struct Created {
    id: String,
    response: CreatedResponse,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    authenticator_data: String,
    public_key: String,
    public_key_algorithm: i64,
}

/// A credential that answers (`AuthenticationResponseJSON`).
#[derive(Deserialize)]
pub(super) struct Answered {
    pub(super) id: String,
    response: AnsweredResponse,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    authenticator_data: String,
    signature: String,
    user_handle: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

/// The parts of `authenticatorData` (§6.1).
struct Said<'a> {
    flags: u8,
    counter: u32,
    rest: &'a [u8],
}

const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const ATTESTED: u8 = 0x40;

/// A new passkey.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) algorithm: i64,
    pub(super) public_key: Vec<u8>,
    pub(super) counter: u32,
}

/// Why an authenticator is not believed; each is the step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofFault {
    Form,
    Kind,
    Challenge,
    Origin,
    RelyingParty,
    NotVerified,
    Id,
    Key,
    User,
    Signature,
}

impl ProofFault {
    /// The step, as the log calls it.
    pub(super) const fn step(self) -> &'static str {
        match self {
            Self::Form => "passkey form",
            Self::Kind => "passkey ceremony",
            Self::Challenge => "passkey challenge",
            Self::Origin => "passkey origin",
            Self::RelyingParty => "passkey relying party",
            Self::NotVerified => "passkey user not verified",
            Self::Id => "passkey credential id",
            Self::Key => "passkey algorithm or key",
            Self::User => "passkey user handle",
            Self::Signature => "passkey signature",
        }
    }
}

fn decode(text: &str) -> Result<Vec<u8>, ProofFault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| ProofFault::Form)
}

fn algorithm(of: i64) -> Result<&'static dyn VerificationAlgorithm, ProofFault> {
    match of {
        -7 => Ok(&ECDSA_P256_SHA256_ASN1),
        -8 => Ok(&ED25519),
        -257 => Ok(&RSA_PKCS1_2048_8192_SHA256),
        _ => Err(ProofFault::Key),
    }
}

fn check_client(data: &[u8], kind: &str, expected: &Expected<'_>) -> Result<(), ProofFault> {
    let client: ClientData = serde_json::from_slice(data).map_err(|_| ProofFault::Form)?;
    if client.r#type != kind {
        return Err(ProofFault::Kind);
    }
    if !same(&client.challenge, expected.challenge) {
        return Err(ProofFault::Challenge);
    }
    if client.origin != expected.origin || client.cross_origin {
        return Err(ProofFault::Origin);
    }
    Ok(())
}

fn said<'a>(data: &'a [u8], expected: &Expected<'_>) -> Result<Said<'a>, ProofFault> {
    let (relying_party, rest) = data.split_first_chunk::<32>().ok_or(ProofFault::Form)?;
    let ([flags], rest) = rest.split_first_chunk::<1>().ok_or(ProofFault::Form)?;
    let (counter, rest) = rest.split_first_chunk::<4>().ok_or(ProofFault::Form)?;
    if *relying_party != <[u8; 32]>::from(Sha256::digest(expected.relying_party.as_bytes())) {
        return Err(ProofFault::RelyingParty);
    }
    // A passkey stands for two factors: the device, and that it knows its person.
    if flags & PRESENT == 0 || flags & VERIFIED == 0 {
        return Err(ProofFault::NotVerified);
    }
    if flags & BACKED_UP != 0 && flags & BACKUP_ELIGIBLE == 0 {
        return Err(ProofFault::Form);
    }
    Ok(Said { flags: *flags, counter: u32::from_be_bytes(*counter), rest })
}

impl Created {
    /// The passkey that was made (§7.1).
    pub(super) fn registered(&self, expected: &Expected<'_>) -> Result<Registered, ProofFault> {
        check_client(&decode(&self.response.client_data)?, "webauthn.create", expected)?;
        let data = decode(&self.response.authenticator_data)?;
        let said = said(&data, expected)?;
        if said.flags & ATTESTED == 0 {
            return Err(ProofFault::Form);
        }
        let (_model, rest) = said.rest.split_first_chunk::<16>().ok_or(ProofFault::Form)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(ProofFault::Form)?;
        let length = usize::from(u16::from_be_bytes(*length));
        let id = rest.get(..length).ok_or(ProofFault::Form)?;
        if id.is_empty() || length > LONGEST_ID || decode(&self.id)? != id {
            return Err(ProofFault::Id);
        }
        let public_key = decode(&self.response.public_key)?;
        let of = self.response.public_key_algorithm;
        ParsedPublicKey::new(algorithm(of)?, &public_key).map_err(|_| ProofFault::Key)?;
        Ok(Registered { id: self.id.clone(), algorithm: of, public_key, counter: said.counter })
    }
}

impl Answered {
    /// What the authenticator counts, where the answer is of this key and for this account (§7.2).
    pub(super) fn counted(
        &self,
        expected: &Expected<'_>,
        account: &str,
        of: i64,
        public_key: &[u8],
    ) -> Result<u32, ProofFault> {
        // An account's id is 16 bytes in base64url, as is the handle that the authenticator was given.
        if self.response.user_handle.as_deref() != Some(account) {
            return Err(ProofFault::User);
        }
        let client = decode(&self.response.client_data)?;
        check_client(&client, "webauthn.get", expected)?;
        let mut data = decode(&self.response.authenticator_data)?;
        let counter = said(&data, expected)?.counter;
        data.extend_from_slice(&Sha256::digest(&client));
        let key = ParsedPublicKey::new(algorithm(of)?, public_key).map_err(|_| ProofFault::Key)?;
        let signature = decode(&self.response.signature)?;
        key.verify_sig(&data, &signature).map_err(|_| ProofFault::Signature)?;
        Ok(counter)
    }
}
