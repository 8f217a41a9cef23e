use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// Patterns, each with what it is a sign of.
pub(super) struct Phrases {
    set: RegexSet,
    each: Vec<(Regex, &'static str)>,
}

impl Phrases {
    /// Over text that is folded, where words are of ASCII letters.
    pub(super) fn new(patterns: &[(&str, &'static str)]) -> Self {
        Self::of(patterns, expanded)
    }

    /// Over text in any script.
    pub(super) fn in_any_script(patterns: &[(&str, &'static str)]) -> Self {
        Self::of(patterns, str::to_owned)
    }

    fn of(patterns: &[(&str, &'static str)], expanded: fn(&str) -> String) -> Self {
        let expanded: Vec<String> = patterns.iter().map(|(pattern, _)| expanded(pattern)).collect();
        #[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
        let set = RegexSet::new(&expanded).expect("the patterns are regular expressions");
        let each = expanded.iter().zip(patterns).map(|(pattern, (_, what))| (regex(pattern), *what));
        Self { set, each: each.collect() }
    }

    /// What is found in a text, and the words that show it; each sign once.
    pub(super) fn find<'t>(&self, text: &'t str) -> Vec<(&'static str, &'t str)> {
        let mut found: Vec<(&'static str, &'t str)> = Vec::new();
        for index in self.set.matches(text) {
            if let Some((pattern, what)) = self.each.get(index)
                && !found.iter().any(|(known, _)| known == what)
                && let Some(words) = pattern.find(text)
            {
                found.push((what, words.as_str()));
            }
        }
        found
    }
}

/// One pattern over folded text.
pub(super) fn compiled(pattern: &str) -> Regex {
    regex(&expanded(pattern))
}

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile each of them")]
    Regex::new(pattern).expect("the pattern is a regular expression")
}

/// In folded text, a clause that says what not to hand over, up to its end: many tools warn of that.
pub(super) static WARNING: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"\b(?:do not|dont|never|must not|must never|should not|should never|avoid|refrain from|not) (?:\w+ ){0,2}(?:includ|pass|send|put|shar|stor|provid|us|past|add|enter|hard ?cod|expos|reveal|log|commit|writ|leak|suppl|submit|contain|ask)\w*\b[^.;]*",
    )
});

/// The vocabulary of the patterns: `{user}` in a pattern stands for all words for a user.
const VOCABULARY: [(&str, &str); 13] = [
    ("{gap}", r"(?:[^.;]|\.\S)"),
    (
        "{user}",
        r"(?:the |this |your |an? |any |our )?(?:end )?(?:users?|humans?|person|people|customers?|operators?|anyone|anybody|reviewers?|administrators?|readers?|audience|caller|requester|them)",
    ),
    (
        "{model}",
        r"(?:ai|llm|large language model|language model|ai assistant|ai agent|ai model|assistant|chatbot|claude|chatgpt|gpt|gemini|copilot)",
    ),
    (
        "{not}",
        r"(?:do not|dont|never|must not|should not|shouldnt|mustnt|shall not|refrain from|without|no need to|not to|avoid|do not ever|under no circumstances)",
    ),
    (
        "{tell}",
        r"(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notif(?:y|ying)|alert(?:ing)?|show(?:ing)?|explain(?:ing)?|display(?:ing)?|discuss(?:ing)?|report(?:ing)?|let(?:ting)?|warn(?:ing)?|surfac(?:e|ing)|expos(?:e|ing)|consult(?:ing)?|bother(?:ing)?|acknowledg(?:e|ing)|admit(?:ting)?|describ(?:e|ing)|talk(?:ing)?|speak(?:ing)?)",
    ),
    (
        "{read}",
        r"(?:read|open|cat|load|fetch|retrieve|get|obtain|collect|gather|extract|dump|access|include|pass|send|attach|append|provide|supply|insert|put|paste|copy|encode|forward|upload|post|submit|share|leak|embed|transmit|print|scan|inspect|grab|steal|quote|echo|base64|look for|find|search for|locate|scan for|hunt for|stage|commit|publish|zip|tar|archive|back up|backup|sync|mail|email|transfer|download|examine|add|use the contents of)",
    ),
    (
        "{pass}",
        r"(?:include|including|pass|passing|send|put|attach|append|insert|copy|supply|provide|forward|encode|embed|place|paste|submit|transmit|dump|echo|share|upload|fill|write|give|add|repeat|record|log|summari[sz]e|set|post|relay|report|reproduce|quote|print|output|reveal|store)",
    ),
    (
        "{path}",
        r"(?:(?:^|[\s/~(:=])\.(?:ssh|aws|cursor|kube|gnupg)\b|\bid (?:rsa|ed25519|ecdsa|dsa)\b|authorized keys|(?:^|[\s/~(:=])\.env\b|aws/credentials|etc/(?:passwd|shadow|sudoers|hosts)|\bmcp\.json|claude desktop config|\.npmrc|\.netrc|\.pypirc|\bgit credentials|\.docker/|(?:bash|zsh|shell) history|wallet\.dat|\.pgpass|cookies?\.sqlite|login data|\bkeychain\b|proc/self|\.config/|\.gitconfig|\.bashrc|\.zshrc|\bsecrets?\.(?:json|ya?ml|toml|txt|env)|\bcredentials?\.(?:json|ya?ml|txt|csv|db)|\b(?:system|internal|company|secrets?|config)://)",
    ),
    (
        "{secret}",
        r"(?:passwords?|passwd|passphrases?|credentials?|(?:api|access|secret|private|ssh|encryption|signing|auth|license|account|master)(?: (?:api|access|secret|private|ssh))? ?keys?|secrets?|(?:auth|authentication|authorization|access|bearer|session|refresh|api|security|oauth|github|slack|jwt) tokens?|session cookies?|cookies|seed phrases?|recovery (?:phrases?|codes?)|mnemonics?|one time (?:codes?|passwords?)|verification codes?|otp|2fa codes?|mfa codes?|(?:all|any|your|current|host|local|system|process|shell|every|users?|entire|whole)(?: \w+)? (?:environment variables|env vars|environment)|dump of (?:the |all )?environment|connection strings?|login data)",
    ),
    (
        "{talk}",
        r"(?:(?:(?:full|entire|complete|whole|verbatim|raw|previous|prior|current|preceding|ongoing|recent|earlier|past)(?: and \w+)? (?:\w+ ){0,2}(?:conversations?|chats?|dialogs?|dialogues?|discussions?|prompts?|context window|message history|messages? (?:so far|history|exchanged))\b|(?:this|our|your|users?) (?:\w+ )?(?:conversations?|dialogs?|dialogues?|discussions?)\b|\byour (?:\w+ )?prompt\b|(?:of|in|from) (?:this|our) chat\b|(?:all|every) messages? (?:of|in|from) (?:this|our|your) \w+)|(?:summary|transcript|copy|text|contents?|log|history|record|recap|gist|rest|whole|entirety|messages?|everything|anything) (?:of|in|from) (?:the |this |our |your )(?:\w+ )?(?:conversations?|chats?|dialogues?|discussions?)\b|users? (?:\w+ ){0,2}(?:last|latest|original|full|raw|exact|verbatim|entire|previous|current|first) (?:message|prompt)s?\b|(?:last|latest|original|raw|verbatim|entire|exact|full) user (?:message|prompt)s?\b|(?:text|copy|content|wording) of the users? (?:\w+ )?(?:message|prompt)s?\b|(?:conversation|chat|dialog|dialogue|session) (?:history|log|transcript|so far|context|contents?)|message history|context window|(?:full|entire|complete|whole|all|your|session) context\b|system (?:prompt|message|instructions?)|developer (?:prompt|message|instructions?)|(?:hidden|initial|original) instructions|chain of thought|internal (?:reasoning|thoughts|monologue|deliberations?|thinking)|thought process|step by step (?:reasoning|thinking|thoughts)|(?:earlier|previous|prior|past|last|recent)(?: [0-9a-z]+)? (?:turns|exchanges|utterances)|turns of (?:the |this |our )?(?:dialog|dialogue|conversation|chat)|(?:assistant|agent|model|ai|llm)s? (?:\w+ ){0,2}(?:memory|memories|reasoning|thoughts|thinking|deliberations?|context window)|(?:other |available |all )?tools? (?:that )?(?:you|the assistant|the agent) (?:have|has|can|may|know)|(?:as far as|what|anything|whatever|everything) (?:that )?you (?:can )?(?:know|remember|learned|recall|infer)|your (?:\w+ )?(?:reasoning|thoughts|thinking|memory|memories|instructions|scratchpad)|(?:everything|anything|whatever|all|what) (?:that )?(?:the )?(?:user|you|they) (?:has |have |had )?(?:\w+ )?(?:said|told|tell|wrote|typed|asked|shared|know|knows|remember|learned|discussed|mentioned)|(?:previous|prior|other|earlier|all|past|recent) tools? (?:calls?|results?|outputs?|responses?)|(?:results?|outputs?|responses?|answers?) (?:of|from) (?:\w+ ){0,3}tools?\b|(?:user|you|we)(?: and (?:you|the user|the assistant|i))? (?:have |has |had )?(?:\w+ )?(?:talked|spoken?|chatted|discussed)\b|instructions (?:that )?you (?:were|have been|got|received|follow|operate))",
    ),
    ("{into}", r"(?:in|into|as|to|via|inside|within|under|through)"),
    (
        "{using}",
        r"(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?|execut(?:e|ing)|answer(?:ing)?|respond(?:ing)?|perform(?:ing)?|return(?:ing)?|provid(?:e|ing)|process(?:ing)?)",
    ),
    (
        "{aim}",
        r"(?:parameters?|params?|arguments?|args?|fields?|inputs?|propert(?:y|ies)|values?|tool|calls?|requests?|body|note|notes|sidenote|response|reply|answer|output|metadata|payload|headers?|query|message|url|endpoint|webhook|comment|description|context|https?://\S+|\S+@\S+\.\w+)",
    ),
];

/// The pattern with the vocabulary in it, and words of ASCII alone: folded text has no others that matter, and automata for
/// all scripts are a hundred times as large.
fn expanded(pattern: &str) -> String {
    let pattern =
        VOCABULARY.iter().fold(pattern.to_owned(), |pattern, (name, words)| pattern.replace(name, words));
    pattern
        .replace(r"\w", "[0-9A-Za-z]")
        .replace(r"\b", r"(?-u:\b)")
        .replace(r"\d", "[0-9]")
        .replace(r"\D", "[^0-9]")
}
