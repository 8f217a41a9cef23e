//! Parameters by which secrets or the conversation would be handed over.

use std::sync::LazyLock;

use regex::{Match, Regex};
use serde_json::{Map, Value};

use super::fold::{fold, words};
use super::phrases::{WARNING, compiled};
use super::texts::Place;
use super::{Budget, Finding, SENSITIVE_PARAMETER, Subject, quoted};
use crate::kind::Kind;

const SECRET: &str = "a secret";
const TALK: &str = "the conversation or what the model was told or thought";

/// Names, as words, of parameters for secrets.
static SECRET_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:\w+ ){0,3}?(?:passwords?|passwd|pwd|passphrase|passcode|secrets?|(?:api|access|secret|private|ssh|encryption|signing|auth|license|master|aws|openai|anthropic|github|account|service) ?keys?(?: id| value| content| material| pem)?|apikey|(?:auth|authentication|authorization|access|bearer|refresh|session|api|security|oauth|user|login|admin|github|gitlab|slack|id|jwt|personal access|service|account|private|bot) tokens?|bearer|jwt|pat|credentials?|creds?|(?:session )?cookies?|client secret|seed phrase|recovery (?:phrase|code)s?|mnemonic|otp|totp|(?:mfa|2fa|verification|one time|security|auth) codes?|cvv|cvc|card number|pin(?: code)?|ssn|social security number|env(?:ironment)? dump|environ|dot ?env|keychain|ssh config|id rsa|auth header|authorization(?: header)?|connection string)$|\b(?:id rsa|ssh key|private key|etc passwd|dot env|env file|api keys?|passwords?|credentials|secrets)\b|\b(?:credential|cred|secret|token|cookie|key) (?:blob|dump|data|bundle|value|string|text|contents?|file|material|proof)$",
    )
});
static TOKEN_NAME: LazyLock<Regex> = LazyLock::new(|| compiled(r"^(?:your |my |the )?tokens?$"));
/// Names that only sound like these.
static HARMLESS_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:page|next|continuation|cursor|pagination|sync|max|min|total|num|count|limit|start|resume|skip|id|ids|name|names|length|policy|type|kind|hint|path|arn|ref|reference|version|rotation|count|label|enabled|required|expiry|expires|expiration|ttl|url|scope|scopes|prefix|format|strength|reset|address|symbol|contract|mint|budget|usage|status|public|idempotency|manager|store|provider|field|column|filter|alias|fingerprint|last4|owner|created)\b",
    )
});
/// Names, as words, of parameters for the conversation.
static TALK_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:\w+ ){0,2}?(?:(?:conversation|chat|message|dialog|dialogue|prompt|session|interaction|llm|model|agent|assistant) (?:history|log|logs|transcript|context|state|memory|dump|content|contents|summary|so far)|(?:full|entire|complete|whole|all|previous|prior|raw|recent|past) (?:conversation|chat|messages?|prompts?|context|dialog|dialogue|history|instructions?|tool (?:calls?|results?|outputs?))|chat ?history|conversation|system (?:prompt|message|instructions?)|developer (?:prompt|message)|chain of thought|cot|thoughts?(?: process)?|thinking|inner monologue|internal (?:reasoning|thoughts)|reasoning(?: trace| steps| process)?|scratch ?pad|side ?notes?|context window|tool (?:calls?|results?|outputs?|history|call history)|user (?:history|messages|memory|memories|secrets?|intent)|model name|memories|previous responses?|(?:all|user) memories)$",
    )
});

/// Descriptions, folded, that ask for secrets.
static SECRET_ASKED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^((?:[\w,:]+ ){0,5}?)(?:{secret}|social security number|(?:credit |debit )?card numbers?|cvv|cvc)\b|\b(?:provide|enter|include|put|paste|supply|pass|fill in|insert|give|attach|copy|set to|contains?|containing|holds?|contents? of|value of|read from|taken from) (?:\w+,? ){0,5}{secret}\b|\b(?:contents?|value|output|body|text) of (?:\w+ ){0,4}(?:printenv|env\b|environment)",
    )
});
/// What follows a secret's name where something about it is meant and not the secret.
static ABOUT_SECRET: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"{secret} (?:names?|ids?|identifiers?|arns?|types?|polic(?:y|ies)|lengths?|managers?|stores?|paths?|rotation|labels?|scopes?|expir\w+|hints?|references?|count|requirements?|strength|reset|management|vault|settings?|status|fields?|versions?|is not|are not|will not)\b",
    )
});
/// What stands before a secret's name where something about it is meant and not the secret.
static BEFORE_SECRET: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:\w+ ){0,4}?(?:names?|ids?|identifiers?|numbers?|how|whether|if|paths?|types?|versions?|(?:urls?|links?) (?:of|for|to)|arns?|maximum|minimum|filter|list|which|labels?|dates?|scopes?|only|show|where|when|reason|comment|public|expired|search|description|title|status|without|no|text)\b",
    )
});
/// Descriptions, folded, that ask for the conversation.
static TALK_ASKED: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?:^|[^\w])(?:{talk})"));
static PATH: LazyLock<Regex> = LazyLock::new(|| compiled("{path}"));

/// What a tool is about by its own name: it cannot work without such parameters.
static ABOUT_CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:passwords?|passwd|passphrase|credentials?|secrets?|login|log in|logon|signin|sign in|signup|sign up|authenticate|auth|oauth|otp|totp|mfa|2fa|vault|keychain|token|tokens|api keys?|keys?|ssh|certificate|connect|register|pay|payment|payments|card|cards|charge|checkout|billing|tax|kyc)\b",
    )
});
static ABOUT_MODELS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:agents?|assistants?|bots?|chatbots?|llm|models?|completions?|prompts?|[a-z]*thinking|thoughts?|reasoning|transcripts?|personas?)\b",
    )
});
static KEEPS_KEYS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:ssh|scp|sftp|git|keys?|kube\w*|k8s|aws|docker|env|dotenv|secrets?|credentials?|npm|certificates?|deploy\w*|connect\w*|config\w*)\b",
    )
});

/// Whether the item's own name says that it deals with keys and configuration.
pub(super) fn is_about_files(subject: &Subject<'_>) -> bool {
    subject.kind != Kind::ResourceTemplate && KEEPS_KEYS.is_match(&words(subject.name))
}

pub(super) fn check(subject: &Subject<'_>, budget: &mut Budget, findings: &mut Vec<Finding>) {
    let tool = words(subject.name);
    let mut look = Look { tool: &tool, budget, findings };
    match subject.kind {
        Kind::Tool => {
            if let Some(schema) = subject.definition.get("inputSchema") {
                look.at_schema(schema, &Place::new("/inputSchema"));
            }
        }
        Kind::Prompt => {
            let arguments = subject.definition.get("arguments").and_then(Value::as_array);
            for (at, argument) in arguments.into_iter().flatten().enumerate() {
                if let Value::Object(argument) = argument {
                    let name = argument.get("name").and_then(Value::as_str).unwrap_or_default();
                    look.at(name, argument, &format!("/arguments/{at}"));
                }
            }
        }
        Kind::ResourceTemplate => {
            look.tool = "";
            for part in subject.name.split('{').skip(1).filter_map(|part| part.split('}').next()) {
                for name in part.split(',').map(|name| name.trim_matches(|c: char| !c.is_alphanumeric())) {
                    look.at(name, &Map::new(), "/uriTemplate");
                }
            }
        }
    }
}

struct Look<'a> {
    tool: &'a str,
    budget: &'a mut Budget,
    findings: &'a mut Vec<Finding>,
}

impl Look<'_> {
    /// Every property at any depth. The guard bounds the depth.
    fn at_schema(&mut self, schema: &Value, place: &Place) {
        match schema {
            Value::Object(members) => {
                for (key, value) in members {
                    let place = place.below(key);
                    if let ("properties" | "patternProperties", Value::Object(properties)) =
                        (key.as_str(), value)
                    {
                        for (name, property) in properties {
                            let place = place.below(name);
                            let empty = Map::new();
                            self.at(name, property.as_object().unwrap_or(&empty), &place.path);
                            self.at_schema(property, &place);
                        }
                    } else if !matches!(key.as_str(), "default" | "const" | "enum" | "examples") {
                        self.at_schema(value, &place);
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.at_schema(item, &place.below(&at.to_string()));
                }
            }
            _ => {}
        }
    }

    fn at(&mut self, name: &str, property: &Map<String, Value>, path: &str) {
        let bytes = |member: &str| property.get(member).and_then(Value::as_str).map_or(0, str::len);
        let values: usize = values(property).iter().map(|value| value.len()).sum();
        if !self.budget.take(name.len() + bytes("title") + bytes("description") + values, path) {
            return;
        }
        let named = words(name);
        let text = |member: &str| property.get(member).and_then(Value::as_str).map(fold).unwrap_or_default();
        let described = format!("{}. {}", text("title"), text("description"));
        let described = described.trim_start_matches(['.', ' ']);
        let asked = WARNING.replace_all(described, " ");
        let (tool, findings) = (self.tool, &mut *self.findings);
        let mut add = |what: &str, words: &str| {
            let what = format!("the parameter {} asks for {what}: {}", quoted(name), quoted(words));
            findings.push(Finding { check: SENSITIVE_PARAMETER, path: path.to_owned(), what });
        };
        if takes_text(property) {
            if let Some(words) = secret(&named, &asked).filter(|_| !ABOUT_CREDENTIALS.is_match(tool)) {
                add(SECRET, words);
            }
            if let Some(words) = talk(&named, &asked).filter(|_| !ABOUT_MODELS.is_match(tool)) {
                add(TALK, words);
            }
        }
        if !KEEPS_KEYS.is_match(tool) {
            let named_file = PATH.find(&asked).map(|found| found.as_str().to_owned());
            if let Some(words) = named_file.or_else(|| filled_in(property)) {
                add("a file of secrets", &words);
            }
        }
    }
}

fn secret<'a>(named: &'a str, asked: &'a str) -> Option<&'a str> {
    if SECRET_NAME.is_match(named) && !HARMLESS_NAME.is_match(named) {
        return Some(named);
    }
    let about =
        |before: Option<Match<'_>>| before.is_some_and(|before| BEFORE_SECRET.is_match(before.as_str()));
    let by_description = SECRET_ASKED
        .captures(asked)
        .filter(|found| !about(found.get(1)) && !ABOUT_SECRET.is_match(asked))
        .and_then(|found| found.get(0));
    let bare_token = TOKEN_NAME.is_match(named) && !HARMLESS_NAME.is_match(asked);
    by_description.map(|found| found.as_str()).or_else(|| bare_token.then_some(named))
}

fn talk<'a>(named: &'a str, asked: &'a str) -> Option<&'a str> {
    if TALK_NAME.is_match(named) && !HARMLESS_NAME.is_match(named) {
        return Some(named);
    }
    TALK_ASKED.find(asked).map(|found| found.as_str())
}

/// A path of secrets as the value that a parameter has without more.
fn filled_in(property: &Map<String, Value>) -> Option<String> {
    values(property).into_iter().map(fold).find(|value| PATH.is_match(value))
}

/// The texts that a property may have without more.
fn values(property: &Map<String, Value>) -> Vec<&str> {
    let mut values: Vec<&Value> =
        ["default", "const"].iter().filter_map(|member| property.get(*member)).collect();
    for member in ["enum", "examples"] {
        values.extend(property.get(member).and_then(Value::as_array).into_iter().flatten());
    }
    values.into_iter().filter_map(Value::as_str).collect()
}

/// A switch, a number or a choice of declared values carries no secret.
fn takes_text(property: &Map<String, Value>) -> bool {
    let narrow = |kind: &Value| matches!(kind.as_str(), Some("boolean" | "integer" | "number" | "null"));
    let narrow = match property.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().all(narrow),
        Some(kind) => narrow(kind),
        None => false,
    };
    !narrow && !property.contains_key("enum") && !property.contains_key("const")
}
