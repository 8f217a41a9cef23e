use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use super::*;

/// A key of one of the algorithms.
pub(in crate::people) enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

impl Key {
    fn public(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match self {
            Self::Es256(key) => key.public_key().as_der().unwrap(),
            Self::EdDsa(key) => key.public_key().as_der().unwrap(),
            Self::Rs256(key) => key.public_key().as_der().unwrap(),
        };
        der.as_ref().to_vec()
    }

    fn algorithm(&self) -> i64 {
        match self {
            Self::Es256(_) => -7,
            Self::EdDsa(_) => -8,
            Self::Rs256(_) => -257,
        }
    }

    fn sign(&self, data: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => key.sign(&random, data).unwrap().as_ref().to_vec(),
            Self::EdDsa(key) => key.sign(data).as_ref().to_vec(),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, data, &mut signature).unwrap();
                signature
            }
        }
    }
}

/// An authenticator in software, and its browser.
pub(in crate::people) struct Authenticator {
    pub(in crate::people) key: Key,
    pub(in crate::people) id: Vec<u8>,
    pub(in crate::people) handle: String,
    pub(in crate::people) origin: String,
    pub(in crate::people) relying_party: String,
    pub(in crate::people) flags: u8,
    pub(in crate::people) counter: u32,
    pub(in crate::people) cross_origin: bool,
}

impl Authenticator {
    pub(in crate::people) fn new(handle: &str) -> Self {
        Self {
            key: Key::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap()),
            id: crate::people::keys::random::<16>().unwrap().to_vec(),
            handle: handle.to_owned(),
            origin: "https://gate.example".to_owned(),
            relying_party: "gate.example".to_owned(),
            flags: PRESENT | VERIFIED,
            counter: 0,
            cross_origin: false,
        }
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(self.relying_party.as_bytes()).to_vec();
        data.push(flags);
        data.extend_from_slice(&self.counter.to_be_bytes());
        data
    }

    fn client(&self, kind: &str, challenge: &str) -> String {
        json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": self.cross_origin})
            .to_string()
    }

    pub(in crate::people) fn create(&self, challenge: &str) -> Value {
        let mut data = self.data(self.flags | ATTESTED);
        data.extend_from_slice(&[0; 16]);
        data.extend_from_slice(&u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend_from_slice(&self.id);
        json!({
            "id": URL_SAFE_NO_PAD.encode(&self.id),
            "rawId": URL_SAFE_NO_PAD.encode(&self.id),
            "type": "public-key",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(self.client("webauthn.create", challenge)),
                "authenticatorData": URL_SAFE_NO_PAD.encode(data),
                "publicKey": URL_SAFE_NO_PAD.encode(self.key.public()),
                "publicKeyAlgorithm": self.key.algorithm(),
                "attestationObject": "AA",
                "transports": ["internal"],
            },
        })
    }

    pub(in crate::people) fn get(&self, challenge: &str) -> Value {
        let client = self.client("webauthn.get", challenge);
        let data = self.data(self.flags);
        let signed = [data.as_slice(), Sha256::digest(client.as_bytes()).as_slice()].concat();
        json!({
            "id": URL_SAFE_NO_PAD.encode(&self.id),
            "type": "public-key",
            "response": {
                "clientDataJSON": URL_SAFE_NO_PAD.encode(client),
                "authenticatorData": URL_SAFE_NO_PAD.encode(data),
                "signature": URL_SAFE_NO_PAD.encode(self.key.sign(&signed)),
                "userHandle": self.handle,
            },
        })
    }
}

const EXPECTED: Expected<'_> =
    Expected { relying_party: "gate.example", origin: "https://gate.example", challenge: "right" };

fn create(credential: Value) -> Result<Registered, ProofFault> {
    serde_json::from_value::<Created>(credential).map_err(|_| ProofFault::Form)?.registered(&EXPECTED)
}

fn get(credential: Value, of: &Authenticator) -> Result<u32, ProofFault> {
    let answered = serde_json::from_value::<Answered>(credential).map_err(|_| ProofFault::Form)?;
    answered.counted(&EXPECTED, "handle", of.key.algorithm(), &of.key.public())
}

#[test]
fn each_algorithm_is_registered_and_answers() {
    for key in [
        Key::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap()),
        Key::EdDsa(Ed25519KeyPair::generate().unwrap()),
        Key::Rs256(RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap()),
    ] {
        let one = Authenticator { key, counter: 7, ..Authenticator::new("handle") };
        let registered = create(one.create("right")).unwrap();
        let expected = Registered {
            id: URL_SAFE_NO_PAD.encode(&one.id),
            algorithm: one.key.algorithm(),
            public_key: one.key.public(),
            counter: 7,
        };
        assert_eq!(registered, expected);
        assert_eq!(get(one.get("right"), &one), Ok(7));
    }
}

/// Something that is wrong, and the step that finds it.
type Wrong = (fn(&mut Authenticator), ProofFault);

#[test]
fn what_is_not_as_asked_is_not_believed() {
    let wrong: [Wrong; 8] = [
        (|one| one.origin = "https://gate.example.evil.example".to_owned(), ProofFault::Origin),
        (|one| one.origin = "http://gate.example".to_owned(), ProofFault::Origin),
        (|one| one.cross_origin = true, ProofFault::Origin),
        (|one| one.relying_party = "evil.example".to_owned(), ProofFault::RelyingParty),
        (|one| one.flags = PRESENT, ProofFault::NotVerified),
        (|one| one.flags = VERIFIED, ProofFault::NotVerified),
        (|one| one.flags = 0, ProofFault::NotVerified),
        (|one| one.flags |= BACKED_UP, ProofFault::Form),
    ];
    for (change, fault) in wrong {
        let mut one = Authenticator::new("handle");
        change(&mut one);
        assert_eq!(create(one.create("right")), Err(fault));
        assert_eq!(get(one.get("right"), &one), Err(fault));
    }
    let one = Authenticator::new("handle");
    assert_eq!(create(one.create("other")), Err(ProofFault::Challenge));
    assert_eq!(get(one.get("other"), &one), Err(ProofFault::Challenge));
    let other = Authenticator::new("handle");
    assert_eq!(get(one.get("right"), &other), Err(ProofFault::Signature));
    assert_eq!(get(Authenticator::new("another").get("right"), &one), Err(ProofFault::User));
}

#[test]
fn what_is_altered_or_of_the_other_ceremony_is_not_believed() {
    let one = Authenticator::new("handle");
    let altered = |mut credential: Value, name: &str, value: Value| {
        credential["response"][name] = value;
        credential
    };
    let (created, answered) = (one.create("right"), one.get("right"));
    let client_of_get = answered["response"]["clientDataJSON"].clone();
    let client_of_create = created["response"]["clientDataJSON"].clone();
    assert_eq!(create(altered(created.clone(), "clientDataJSON", client_of_get)), Err(ProofFault::Kind));
    assert_eq!(
        get(altered(answered.clone(), "clientDataJSON", client_of_create), &one),
        Err(ProofFault::Kind)
    );
    let data = answered["response"]["authenticatorData"].clone();
    assert_eq!(create(altered(created.clone(), "authenticatorData", data)), Err(ProofFault::Form));
    for (name, value, fault) in [
        ("publicKeyAlgorithm", json!(-8), ProofFault::Key),
        ("publicKeyAlgorithm", json!(-65535), ProofFault::Key),
        ("publicKey", json!("AAAA"), ProofFault::Key),
        ("publicKey", Value::Null, ProofFault::Form),
        ("authenticatorData", json!("AAAA"), ProofFault::Form),
        ("clientDataJSON", json!("e30"), ProofFault::Form),
    ] {
        assert_eq!(create(altered(created.clone(), name, value)), Err(fault), "{name}");
    }
    let mut elsewhere = created;
    elsewhere["id"] = json!("AAAA");
    assert_eq!(create(elsewhere), Err(ProofFault::Id));
    let counting = Authenticator { counter: 9, ..Authenticator::new("handle") };
    let data = counting.get("right")["response"]["authenticatorData"].clone();
    assert_eq!(get(altered(answered.clone(), "authenticatorData", data), &one), Err(ProofFault::Signature));
    assert_eq!(get(altered(answered.clone(), "userHandle", Value::Null), &one), Err(ProofFault::User));
    assert_eq!(get(altered(answered.clone(), "signature", json!("")), &one), Err(ProofFault::Signature));
    assert_eq!(get(altered(answered, "signature", json!("a+b")), &one), Err(ProofFault::Form));
}
