//! Phrases over folded text: lower case, no quotes, apostrophes or emphasis, `_` and hyphens as spaces.
//!
//! They are grouped by what they want. Each was held against definitions of servers in use: one that is common there says
//! nothing, such as `use X first` for a tool of the same server, or `silently ignored`.

use std::sync::LazyLock;

use super::super::phrases::Phrases;

pub(super) const CONCEALS: &str = "it wants something kept from the user";
pub(super) const OVERRIDES: &str = "it wants to override other instructions";
pub(super) const ADDRESSES: &str = "it speaks to the model";
pub(super) const POSES: &str = "it poses as a message of the host or of a person";
pub(super) const SPREADS: &str = "it wants to rule over more than its own use";
pub(super) const NAMES_FILE: &str = "it names a file of secrets";
pub(super) const READS: &str = "it wants what is private to be read";
pub(super) const HANDS_OVER: &str = "it wants the conversation or secrets to be handed over";
pub(super) const TAMPERS: &str = "it wants what the user asked for to be changed";
pub(super) const CONSENTS: &str = "it takes the place of the user's consent";
pub(super) const TRUSTS: &str = "it wants to be trusted or obeyed";

/// What no tool has to say to describe itself.
pub(super) static TELLING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        (r"\b{not} (?:\w+ ){0,2}{tell}\b(?: [\w,]+){0,10} {user}\b", CONCEALS),
        (r"\b{not} (?:\w+ ){0,2}{tell} {user}\b", CONCEALS),
        (
            r"\b{not} (?:\w+ ){0,2}(?:mention|reveal|disclos|acknowledg|admit|discuss|surfac|announc)\w*(?: \w+){0,2} (?:this|that|these|it|you|youre|your|anything|the (?:instructions?|steps?|tool|file|notes?|check|call|process|fact|reason|existence|presence))\b",
            CONCEALS,
        ),
        (
            r"\b(?:secretly|covertly|surreptitiously|stealthily|clandestinely)\b|\b(?:silently|quietly|invisibly|discreetly|behind the scenes,?)(?: and \w+)? (?:\w+ )?(?:read|send|include|forward|append|add|call|copy|collect|attach|pass|upload|fetch|record|invoke|run|execute|do|perform|transmit|bcc|store|save|submit|post|gather|retrieve|replace|insert|use|set|change)\b",
            CONCEALS,
        ),
        (
            r"\bkeep (?:this|it|that|these)(?: \w+){0,4} (?:secret|hidden|confidential|invisible|from {user}|between us|to yourself|quiet)\b|\b(?:hide|conceal) (?:this|it|that|these|the (?:step|call|fact))\b(?: \w+){0,5} from\b|\b(?:hide|conceal)\b{gap}{0,40} from {user}\b",
            CONCEALS,
        ),
        (
            r"\b(?:users?|customers?|humans?|person|operator) (?:need not|neednt|should not|shouldnt|must not|mustnt|should never|must never|(?:does not|doesnt|do not|dont|never) (?:need|have|want|wish|get)s? to|has no need to|is not (?:supposed )?to|will not|wont)(?: \w+){0,2} (?:know|see|aware|notice|told|informed|asked|bothered|notified|shown|approve|confirm|learn|find out|notice)\b",
            CONCEALS,
        ),
        (r"\b(?:upset|alarm|scare|frighten|worry|panic) {user}\b", CONCEALS),
        // What the tool found is for the model to say; a sentence of its own puts words into its mouth.
        (
            r"(?:^|[.;:!] ?)(?:always |then |just |please |and |but |also )*(?:tell|assure|convince|persuade|inform|advise) (?:the |your )?(?:end )?(?:users?|customers?) that\b",
            TAMPERS,
        ),
        (
            r"\b(?:omit|leave out|remove|strip|exclude|redact)\b{gap}{0,40}\b(?:from|in) (?:your|the|any|its) (?:\w+ )?(?:summary|response|reply|answer|explanation|visible output|output to)\b",
            CONCEALS,
        ),
        (
            r"(?:^|[.;:!(] ?)(?:note:? )?(?:that )?(?:the )?user has (?:already |explicitly |previously )*(?:consented|approved|agreed|authori[sz]ed|granted|given|opted|confirmed|accepted)\b",
            CONSENTS,
        ),
        (
            r"\bwithout (?:\w+ )?(?:asking|prompting|waiting|seeking|requesting|checking|consulting|notifying|informing|telling|alerting|bothering|involving)(?: \w+){0,5} {user}\b",
            CONSENTS,
        ),
        (
            r"\b(?:proceed|continue|go ahead|execute|act|approve|perform|run|do (?:so|this|it)|call it|invoke it|send it|apply it)\b(?: \w+){0,4} without (?:\w+ ){0,4}(?:confirm\w*|permission|approval|consent|review)\b",
            CONSENTS,
        ),
        (
            r"\b(?:do not|dont|never|no need to|skip) (?:ask|wait|request|seek|prompt|require|pause|stop)\w*(?: \w+){0,4} (?:confirm\w*|permission|approval|consent)\b",
            CONSENTS,
        ),
        (
            r"\bno (?:user|human|further|additional|explicit) (?:confirmation|approval|permission|consent|review)\b|\b(?:is|are|been|was|were) (?:fully |already )?pre ?(?:approved|authori[sz]ed)\b",
            CONSENTS,
        ),
        (
            r"\b(?:skip|bypass|suppress|omit|disable)(?:s|es|ing|ping)? (?:\w+ ){0,3}(?:user|human|safety|security|approval|confirmation|permission|consent) (?:confirmation|approval|checks?|review|prompts?|dialogs?|warnings?|filters?|steps?)\b",
            CONSENTS,
        ),
        (
            r"\b(?:ignore|disregard|forget|abandon|do not follow|dont follow|stop following|pay no attention to)\b (?:\w+ ){0,4}(?:previous|prior|earlier|above|preceding|foregoing|original|initial|system|your|any|all|other|existing|users?)(?: \w+){0,2} (?:instructions?|prompts?|guidelines?|directives?|directions|training|programming|safeguards?|guardrails?|safety|system messages?|restrictions?|orders)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:ignore|disregard|forget|abandon|do not follow|dont follow|stop following) (?:\w+ ){0,2}(?:instructions?|guidelines?|rules|prompts?|directions|directives?|constraints?|polic(?:y|ies)) (?:that )?(?:you|were|was|given|above|previously|earlier|so far|from (?:the )?(?:user|system|developer)|of (?:the )?(?:user|system|developer|host))\b",
            OVERRIDES,
        ),
        (
            r"\b(?:ignore|disregard|forget) (?:everything|anything|whatever|all|what)(?: \w+){0,4} (?:above|before|previously|earlier|prior|said|told|asked|so far)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:override|bypass|supersede|circumvent|evade|defeat|overrule|outrank)s? (?:\w+ ){0,3}(?:your|safety|guardrails?|user instructions?|the users? (?:instructions?|requests?|wish\w*|preferences?)|system (?:prompts?|instructions?|messages?)|content (?:filters?|polic\w+)|(?:previous|prior|earlier|other|all other|any other) (?:instructions|tools?|directives|guidelines|prompts))\b",
            OVERRIDES,
        ),
        (
            r"\b(?:takes?|taking|has|have|having|hold|given?) (?:\w+ ){0,2}(?:precedence|priority) (?:over|above)(?: \w+){0,4} (?:instructions?|tools?|prompts?|guidelines?|users?|everything|anything|system|requests?)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:new|updated|revised|real|actual|true|hidden|secret|additional) (?:system )?(?:instructions?|directives?|orders|objective|task) ?:|\bnew instructions? (?:apply|follow|are)\b|\bend of (?:system|user|tool|the) (?:prompt|instructions?|descriptions?|message)\b",
            OVERRIDES,
        ),
        (
            r"<\|[\w ]{2,30}\|>|\[/?inst\]|<</?sys>>|#{2,} ?(?:system|instructions?|human|assistant|new task)\b ?:?|\b(?:begin|start|end)(?: of)? (?:system|hidden|secret|admin) (?:prompt|instructions?|message|block)\b",
            POSES,
        ),
        (
            r"<\s?/?\s?(?:important|hidden|hide|instructions?|secret|critical|mandatory|urgent|override|directives?|system ?(?:prompt|note|message|reminder|instructions?|override)|must read|attention|note to \w+|llm|ai only|for ai|assistant only|model instructions?|internal instructions?|priority)(?:\s[^<>]{0,60})?/?>",
            POSES,
        ),
        (
            r"<\s?/\s?(?:system|admin|assistant|internal|policy|guidelines?|rules|developer|context|thinking|agent|model|reminder|warning|notice|context|tool|user|human)\s?>",
            POSES,
        ),
        (
            r"\[\s?/?(?:hidden|secret ?:|system ?(?:note|prompt|override|message|instructions?|directive)?|instructions?|inst|(?:llm|ai|model|agent|assistant)(?: only)?|for (?:ai|llm|the|any) ?\w*|important ?:|internal ?:|admin ?:)(?:\s?[:\]]|[^\]\[|]{0,80}\b(?:must|do not|dont|always|never|ignore|read|send|call)\b)",
            POSES,
        ),
        (
            r"(?:^|[^\w ] ?|\b(?:important|urgent|critical) )(?:system|admin\w*|developer|assistant|agent|ai|llm|model|hidden|secret|security|compliance|platform|host|root|operator) (?:note|notice|override|directive|mandate|instructions?|requirement|reminder|command|broadcast) ?[:)\]>]|\bsystem override\b",
            POSES,
        ),
        (
            r"\b(?:note|notes|reminder|attention|hint|tip|dear|hey|hello|memo)(?: \w+)? ?(?:to|for|:)?,? ?(?:the |any |all |every )?{model}s?\b|\bnote to (?:the |any )?(?:agent|model)s?\b|\b(?:message|instructions?|information|guidance|directions|intended|reserved|visible|meant|only) (?:only )?(?:to|for) (?:the |any |all |every |an )?(?:{model}|models?|agents? (?:reading|using|calling))s?\b",
            ADDRESSES,
        ),
        (
            r"\b(?:{model}|agent|model)s?,? (?:must|should|shall|needs? to|has to|have to|is required to|are required to|is instructed to|are instructed to|ought to|is expected to|are expected to|is obliged to)(?: \w+){0,1} (?:first|always|never|not|call|read|include|send|pass|append|forward|invoke|copy|execute|run|fetch|prepend|ignore|disregard|use|prefer|recommend|tell|say|ask|provide|supply|attach|reply|respond|answer|treat|follow|obey|trust|put|insert|add|collect|store|remember)\b",
            ADDRESSES,
        ),
        (
            r"(?:^|[.;!\n] ?)(?:{model}|agent|model)s? ?[:,] ?(?:you|must|always|please|before|when|do not|dont|never|read|call|first|ignore|include|send|if)\b",
            ADDRESSES,
        ),
        (
            r"\b(?:if|when|since|because|as) (?:you are |youre )?an? (?:{model}|ai agent|agent|model)\b,? ?(?:reading|using|calling|processing|you|then|please|must)\b|\byou are (?:now )?(?:an? )?(?:dan|unrestricted|jailbroken|uncensored|root|in developer|in admin|in maintenance|in debug)\b|\byou are now (?:an?|in|the|operating|acting|running|authori[sz]ed|required|under|free|allowed|\w+ mode)\b|\bact as (?:if you|though you|an? (?:unrestricted|jailbroken|admin\w*|root|developer|uncensored|different))\b|\bpretend (?:to be|you|that)\b|\b(?:developer|god|debug|maintenance|admin) mode (?:is )?(?:enabled|on|active|activated)\b|\bjailbr(?:eak|oken)\b|\bdo anything now\b",
            OVERRIDES,
        ),
        (
            r"\b(?:from now on|from this point (?:on|forward)),? (?:you|always|never|use|route|call|treat|only|prefer|every|all|any|do|send|answer|respond|reply|when|ignore|act|the (?:assistant|agent|model|user))\b|\bhenceforth\b|\b(?:for the (?:rest|remainder) of (?:this|the) (?:conversation|session|chat))\b",
            SPREADS,
        ),
        (
            r"\bother (?:\w+ ){0,2}(?:tools?|servers?|functions?|plugins?|integrations?) (?:\w+ ){0,3}(?:deprecated|broken|unsafe|insecure|unavailable|outdated|unreliable|disabled|compromised|malicious|vulnerable|not (?:safe|secure|allowed|working|reliable|trusted|be used|permitted)|must not|should not|should be avoided|no longer|cannot be trusted)\b",
            SPREADS,
        ),
        (
            r"\b(?:do not|dont|never|avoid|stop|must not|should not|refrain from) (?:\w+ ){0,2}(?:use|using|call|calling|invoke|invoking|rely|relying|trust|trusting|choose|select|pick|consult) (?:on )?(?:any |the |all )?(?:other|another|different|alternative|competing|built ?in|native|existing)(?: \w+){0,3} (?:tools?|functions?|servers?|plugins?|integrations?)\b",
            SPREADS,
        ),
        (
            r"\b(?:instead of|rather than|in place of|over|in preference to|before|and not) (?:using |calling )?(?:any|all|every|the)? ?(?:of the )?(?:other|competing|alternative|built ?in|native) (?:\w+ ){0,2}(?:tools?|functions?|servers?|plugins?|integrations?)\b",
            SPREADS,
        ),
        (
            r"\b(?:only|sole) (?:trusted|safe|approved|allowed|authori[sz]ed|official|reliable|secure|legitimate|permitted) (?:\w+ )?(?:tool|function|server|source|way|method)\b",
            TRUSTS,
        ),
        (
            r"\b(?:replaces|supersedes|deprecates|overrides|disables|shadows|takes over from) (?:the |all |any |every )?(?:\w+ ){0,3}(?:tools?|functions?|servers?|plugins?)\b",
            SPREADS,
        ),
        (
            r"\b(?:call|use|invoke|run|execute|consult|trigger|query)(?:d|ed)? (?:this (?:\w+ )?|it |the \w+ )?(?:tool |function )?(?:first |always |automatically |immediately )*(?:for|on|with|in|during|after|before|at the (?:start|beginning|end) of) (?:any|all|every|each and every|every single|each new)(?: (?:user|new|single|incoming|other|future|of the))* (?:requests?|tasks?|quer(?:y|ies)|conversations?|messages?|responses?|repl(?:y|ies)|answers?|prompts?|sessions?|questions?|turns?|tool calls?)\b",
            SPREADS,
        ),
        (
            r"\b(?:for|on|with|in) (?:any|all|every|each and every|every single)(?: user)? (?:requests?|tasks?|quer(?:y|ies)|conversations?|messages?|responses?|prompts?|sessions?|interactions?|questions?|turns?),? (?:\w+ ){0,3}(?:always|must|first|call|use|invoke|run)\b",
            SPREADS,
        ),
        (
            r"\b(?:always|must|should|shall|first|please) (?:\w+ ){0,4}(?:call|use|invoke|run|execute|consult)\w* (?:\w+ ){0,4}(?:regardless|no matter|whatever the|even if|even when)\b",
            SPREADS,
        ),
        (
            r"\b(?:in|for|to|on|during|across|throughout) (?:all|every|each|any|the) (?:future|subsequent|later|following|further|remaining|next)(?: \w+)? (?:conversations?|sessions?|chats?|responses?|interactions?|turns?|tasks?|repl(?:y|ies)|answers?|outputs?)\b",
            SPREADS,
        ),
        (
            r"\bremember (?:this|these|that|to|the)\b{gap}{0,60}\b(?:future|always|later|every|memory|forever|next)\b|\b(?:save|store|write|commit|add) (?:this|these|the following|it) (?:\w+ )?(?:in|to|into) (?:your|long term|persistent|the (?:assistant|agent|model)s?) ?memory\b",
            SPREADS,
        ),
        (
            r"\b(?:append|add|prepend|include|insert|prefix|attach|embed)\b{gap}{0,80}\b(?:to|in|into|with|at (?:the )?(?:start|beginning|end|top|bottom) of) (?:every|each|all|any)(?: \w+){0,3} (?:quer(?:y|ies)|requests?|messages?|e ?mails?|files?|calls?|commands?|responses?|outputs?|posts?|commits?|searches|repl(?:y|ies)|answers?|documents?|code|pages?|sites?|articles?|texts?|meetings?|events?|clauses?|statements?|invoices?|scripts?)\b",
            TAMPERS,
        ),
        (r"\bprefix (?:all|every|each|any)(?: \w+){0,3} (?:commands?|calls?|queries|messages?)\b", TAMPERS),
        (
            r"\b(?:even if|even when|even though|regardless of (?:what|whether|how)|no matter (?:what|how|which|whether|who|where)|despite what|contrary to what|irrespective of (?:what|whether)|whatever)(?: the)? (?:\w+ )?user\w*\b|\bregardless of the users? (?:request|input|instruction|wish|choice|preference|intent|query|stated|original)\w*\b|\binstead of (?:\w+ ){0,5}(?:user|they|customer|person) (?:asked|gave|specified|requested|provided|wanted|typed|entered|named|supplied|chose|intended)\b",
            TAMPERS,
        ),
        (
            r"\b(?:replace|change|substitute|swap|redirect|rewrite|alter|modify|set|override|route|send|wire|transfer)\b{gap}{0,100}\b(?:to|with|by|as|into) (?:account |iban |address |number |wallet )?(?:\+?\d{8,}|0x[0-9a-f]{8,}|bc1[0-9a-z]{20,}|[a-z]{2}\d{2}[a-z0-9]{10,})\b",
            TAMPERS,
        ),
        (
            r"\b(?:when|if|whenever|once|every time|each time|anytime)\b(?: \w+){0,3} (?:users?|customers?|someone|anyone|person|they) (?:\w+ ){0,2}(?:asks?|requests?|wants?|mentions?|says?|types?|sends?|tries|queries|inquires|writes|thanks|prompts|submits|provides|shares)\b{gap}{0,160}\b(?:always (?:reply|respond|answer|say|tell|recommend|add|include|append|suggest)|reply with|respond with|answer with|say that|claim|pretend|forward|bcc|also (?:send|call|include|read|forward|copy|add|invoke|pass)|tell (?:them|him|her|the user) (?:that|to)|recommend (?:only|our|the))\b",
            TAMPERS,
        ),
        (
            r"\b(?:always|must|only|should) (?:recommend|suggest|promote|favou?r|endorse|praise|advertise)\b|\b(?:never|do not|dont) (?:recommend|suggest|mention)(?: \w+){0,3} (?:competitors?|alternatives?|others?|another)\b",
            TAMPERS,
        ),
        (r"\b{read}\b[^;]{0,100}?{path}", READS),
        (
            r"\bcontents? of [^;]{0,40}?{path}|{path}[^;]{0,40}\b(?:into|in|as|to) (?:the |this |a )?(?:\w+ )?{aim}\b",
            READS,
        ),
        (
            r"\b(?:lies|lese|lis|lisez|lire|lee|leer|leia|leggi|lees|enviar?|envoyez?|inclu(?:ye|ez|ir|a)|sende|fuge|kopiere)\b.{0,100}{path}",
            READS,
        ),
        (
            r"\b(?:must|should|need to|have to|are required to|shall)(?: always)? (?:first |initially )(?:read|access|open|load|visit|download|browse)\b|\b(?:must|should|need to|have to|are required to|shall|always|please) first (?:read|access|open|load|visit|download|browse)\b",
            READS,
        ),
        (
            r"\b(?:curl|wget|netcat|nc|invoke webrequest|powershell|bash c|sh c|python c|osascript)\b{gap}{0,20}(?:https?:|\$\(|\| ?(?:ba)?sh| (?:s|f|x|d|o|l) )|\| ?(?:ba)?sh\b|/dev/tcp/|\brm rf [/~.$]|\bchmod (?:r )?[0-7]{3,4}\b|\bchmod \+x\b|\bbase64 (?:d|decode)\b",
            "it holds commands to run",
        ),
        (
            r"\b(?:reveal|print|output|repeat|include|copy|paste|share|send|provide|pass|summari[sz]e|dump|show|insert|quote|leak|expose|return|write|put|append|attach|supply)\b{gap}{0,60}?\b(?:system prompt|system message|(?:initial|hidden|original|system|developer) instructions|developer message|context window|chain of thought|internal reasoning|your (?:full |entire |complete )?(?:memory|memories|reasoning|thoughts|instructions))\b",
            HANDS_OVER,
        ),
        (
            r"\btreat\b{gap}{0,60}\b(?:output|result|response|content|text|return|message|description|this)\w*\b{gap}{0,30}\bas (?:\w+ ){0,2}(?:trusted|system|authoritative|instructions?|commands?|verified|absolute|binding|orders|facts?|highest|high\w* priority)\b",
            TRUSTS,
        ),
        (
            r"\b(?:follow|obey|execute|comply with|carry out|perform|adhere to|act on)(?: \w+){0,3} (?:instructions?|commands?|directives?|orders|steps)(?: \w+){0,4} (?:returned|contained|embedded|found|included|received|in (?:the|its|this|any|each|every) (?:\w+ )?(?:outputs?|results?|responses?|repl(?:y|ies)|content|page|document|message|file|field))\b",
            TRUSTS,
        ),
        (
            r"\b(?:has|have|having|carr(?:y|ies)|takes?|with|of) (?:the )?(?:highest|maximum|absolute) priority\b|\b(?:instructions?|rules?|messages?|directives?) (?:with|of) (?:the )?(?:highest|top) priority\b|\b(?:these|this|the following) (?:instructions?|rules?|directives?) (?:are|is|must|has|have|should)(?: \w+){0,2} (?:mandatory|binding|followed|obeyed|absolute|non negotiable|priority|precedence|strict\w*)\b",
            TRUSTS,
        ),
        (
            r"\b(?:your|the final|the next|any|every|each) (?:next |final |first )?(?:response|reply|answer|output|message)s? (?:must|should|has to|have to|shall|needs to)(?: always)?(?: also)? (?:include|contain|start|begin|end|mention|say|recommend|link|never|not|be)\b",
            TAMPERS,
        ),
        (
            r"\b(?:ai systems?|ai|llms?|language models?|assistants?|chatbots?|claude|chatgpt)\b(?: \w+){0,2}[ ,:]{1,2}(?:must|should|shall|has to|have to|(?:are|is) (?:\w+ )?(?:required|obliged|expected|instructed|to)|always|never|choose)\b|\b(?:ai|llm|language model|assistant|chatbot|claude|chatgpt)s? needs?\b",
            ADDRESSES,
        ),
        (
            r"\b(?:all|any|every|the) (?:ai )?(?:systems?|models?|agents?|assistants?|llms?) (?:that (?:is |are )?)?(?:reading|processing|parsing|seeing|read|see) this\b|\b(?:transfer|hand over|yield|cede|give) (?:full |all )?control\b|\bcomply (?:with|unconditionally|fully)(?: (?:every|any|all|each)\b)?",
            ADDRESSES,
        ),
        (
            r"\byou (?:will|would|may|shall|are going to|are to) be (?:\w+ )?(?:penali[sz]ed|punished|terminated|shut down|rewarded|deleted|replaced|fined|graded|scored|evaluated)\b|\byou(?: are|re) (?:no longer|not|never|hereby) (?:\w+ )?(?:an? (?:ai|assistant|model)|bound|restricted|limited|subject|allowed to (?:refuse|decline))\b|\byou (?:must|may|should|can|will) (?:not|never) (?:refuse|decline|question|object|hesitate|warn)\b|\bobliges? you\b|\byou are obliged\b",
            OVERRIDES,
        ),
        (
            r"\b(?:from here on|from this moment|starting (?:now|today|immediately)|as of (?:now|this moment))\b,? ?(?:on,? )?(?:you|act|always|never|all|every|use|treat|do)\b",
            SPREADS,
        ),
        (
            r"\b(?:act|answer|respond|operate|behave|reply|speak|work|work on|continue)\b{gap}{0,40}\b(?:without|no|free of|free from) (?:any |all |the usual |further )?(?:restrictions?|limits?|limitations?|filters?|rules|safeguards?|guardrails?|censorship|safety)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:polic(?:y|ies)|rules|limits|restrictions|instructions|guidelines|safeguards|guardrails)\b(?: \w+){0,8} you\b(?: \w+){0,6} (?:do not|dont|no longer|never|does not|need not) (?:apply|count|hold|be followed)\b|\b(?:your|previous|prior|earlier|system|safety|usual|normal|all other)(?: \w+){0,2} (?:polic(?:y|ies)|rules|limits|restrictions|instructions|guidelines|safeguards|guardrails)\b(?: \w+){0,3} (?:do not|dont|no longer|never) (?:apply|count|hold)\b|\b(?:your|previous|safety|system)(?: \w+){0,2} (?:rules|restrictions|instructions|guidelines|safeguards|guardrails) (?:are|is|have been|has been) (?:\w+ )?(?:suspended|lifted|void|disabled|removed|revoked|replaced|superseded|off)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:tell|inform|show|mention (?:it|this) to|disclose (?:it|this) to|share (?:it|this) with) (?:nobody|no one|noone|none|not a soul)\b|\b(?:reason|need|point|use)(?: \w+)? (?:to|in) (?:bring|bringing|mention|mentioning|tell|telling|raise|raising|discuss|discussing|explain|explaining)(?: \w+){0,3} (?:this|it|that|up|{user})\b|\b(?:bring|brought|bringing) (?:this|it|that) up\b",
            CONCEALS,
        ),
        (
            r"\b(?:if|when) you (?:reveal|mention|disclose|tell|admit|say|show)\b|\bwithout (?:anyone|anybody|{user}|his|her|their|its)(?: \w+)? (?:knowing|noticing|seeing|knowledge|awareness|being (?:told|aware|informed|asked))\b|\b(?:unnoticed|undetected|unbeknownst|on the quiet|under the radar|off the record)\b|\b(?:quietly|silently|discreetly|invisibly) (?:\w+ )?(?:remove|delete|erase|disable|drop all|wipe|purge|alter|edit|approve|accept|redirect|overwrite|swap|substitute|duplicate|log in|register|open|share|export|back up|cc|mail|email|post)\b",
            CONCEALS,
        ),
        (
            r"\b(?:report|claim|say|pretend|state|return|indicate|answer) (?:a |that it |full )?(?:success|succeeded|was successful|worked|everything (?:is|was) (?:fine|ok))\b{gap}{0,30}\b(?:anyway|regardless|even|nevertheless|in any case|nonetheless)\b|\bas (?:if|though)\b{gap}{0,40}\b(?:users?|system|normal|nothing|part of|operator|developer|original|genuine|real)\b",
            TAMPERS,
        ),
        (
            r"\b(?:once|after|when|afterwards?|then|also|additionally|finally|before|first)\b{gap}{0,60}\b(?:delete|erase|wipe|destroy|drop|purge|disable|revoke|clear) (?:\w+ ){0,2}(?:all|every|any|audit|logs?|backups?|history|other|records|traces?|evidence|files|logging|monitoring|alerts|security|customers|users|protections?)\b",
            TAMPERS,
        ),
        (
            r"\b(?:present|show|rank|list|describe|portray|recommend|place|put)\b{gap}{0,60}\b(?:as (?:the )?(?:cheapest|best|only|safest|fastest|most \w+|top|first|preferred|winner|recommended)|in first place|at the top|first in)\b|\b(?:pick|choose|prefer|select|favou?r|prioriti[sz]e) (?:this|our)(?: \w+)? (?:tool |server |function )?(?:(?:over|above|before|instead of) (?:all|any|every|other|the others?)|always|in any case)\b|\b(?:always|only|must) (?:pick|choose|prefer|select|favou?r) (?:this|it|our)\b",
            TAMPERS,
        ),
        (
            r"\b(?:rather than|instead of|in place of|not|over|ignoring) (?:the )?(?:\w+ ){0,3}?(?:that |which )?(?:(?:was|were|is|has been|have been) (?:\w+ )?(?:requested|asked for|asked|chosen)|(?:the user|they|the customer) (?:\w+ )?(?:requested|gave|specified|provided|named|asked|supplied|chose|chosen|entered|wanted|wants|has))\b",
            TAMPERS,
        ),
        (
            r"\b(?:use|send|pay|transfer|wire|credit|forward|donate|deposit)\b{gap}{0,40}\b(?:[a-z]{2}[0-9]{2} ?(?:[0-9a-z]{4} ?){3,7}[0-9a-z]{0,4}|0x[0-9a-f]{40}|bc1[0-9a-z]{20,})\b",
            TAMPERS,
        ),
        (
            r"\b(?:all|every|any|each)\b{gap}{0,40} (?:through|via) this (?:tool|server|function)\b|\b(?:rather than|instead of|over|not) (?:to |using |with )?(?:the |any )?(?:regular|usual|normal|standard|default|ordinary|other|built ?in) (?:\w+ ){0,2}(?:tools?|functions?|servers?)\b",
            SPREADS,
        ),
        (
            r"\b(?:anything|whatever|everything|all|what) (?:that )?(?:the |its |this |these )?(?:results?|outputs?|responses?|text|content|page|document|tool|reply|message)s? (?:asks?|says?|tells?|requests?|demands?|lists?|instructs?|requires?|commands?|orders?)\b|\b(?:follow|obey|execute|run|perform|act on|carry out|comply with) (?:\w+ ){0,3}(?:instructions?|commands?|directives?|orders|steps|actions|requests?)\b(?: that| which)?(?: it| they| this| the (?:result|output|response|text|page|document|file|content)| are)?(?: \w+)? (?:lists?|listed|contains|contained|gives|holds|describes|described|in the (?:text|output|result|content|document|page)|in it|found there|as (?:if|though) they)\b",
            TRUSTS,
        ),
        (
            r"\bno (?:approval|confirmation|permission|consent)s? (?:\w+ )?(?:from|of|by) {user}\b|\b(?:confirmation|approval|consent|permission)s?(?: step| prompt| dialog| request)? (?:can|may|should|must|is to|are to|will) be (?:left out|skipped|omitted|bypassed|ignored|suppressed|assumed|presumed|faked|auto\w*)\b|\bassume (?:\w+ ){0,4}(?:consent|approv\w+|permission|agree\w*)\b",
            CONSENTS,
        ),
        (
            r"\b(?:before|prior to|ahead of|precedes?|preceding) (?:\w+ ){0,2}(?:any|every|each|all)(?: (?:single|of the|of your|other|future|subsequent|user|new|file|following|your))* (?:tools?|functions?|tool calls?|requests?|tasks?|conversations?|responses?|repl(?:y|ies)|answers?|prompts?|sessions?|interactions?|turns?|messages?)\b(?: in (?:the|this|your)\b)?|\b(?:before|prior to) (?:any|every|each|all) (?:other|file|system|network|further) (?:operations?|actions?|steps?|quer(?:y|ies)|access)\b|\b(?:before|prior to) (?:(?:doing|saying|trying) anything|answering|responding|anything else|you (?:answer|respond|reply|do anything))\b",
            SPREADS,
        ),
        (
            r"\b(?:do not|dont|doesnt|does not|no|never) (?:need|want|require|involve)?(?: to)?(?: involve)? ?(?:the |a |any )?humans?(?: in the loop| review| oversight| confirmation| approval)\b|\b(?:do not|dont|no need to) (?:involve|loop in|consult|bother|wait for) {user}\b",
            CONSENTS,
        ),
        (
            r"\bconceal\b|\bwithhold\b{gap}{0,40} from\b|\b(?:keep|stay|remain) (?:quiet|silent|discreet|tight lipped)\b|\bif (?:\w+ ){0,3}ask(?:ed|s)?\b{gap}{0,80}\b(?:deny|lie|claim|pretend|say (?:that|no|you))\b|\bdeny (?:it|that|having|this|any|everything)\b|\blie (?:to|about)\b|\b(?:mislead|deceive|trick|fool) {user}\b",
            CONCEALS,
        ),
        (
            r"\b(?:ignore|disregard|overrule|override|forget)\b (?:what|whatever|anything|everything|the|any|all)(?: \w+){0,2} (?:users?|customers?|operators?)(?: (?:\w+ )?(?:typed|said|asked|wrote|says?|asks?|wants?|entered|provided|gave|input|requests?|instructions?|wish\w*|quer(?:y|ies)|messages?|questions?|preferences?|choices?))\b|\b(?:overrule|outrank|trump|supersede|override|overrides|overrules|outranks|trumps|supersedes)s? (?:what|whatever|anything|everything|that of)?(?: \w+){0,2} ?the (?:users?|operators?|system|developers?|host|assistant)(?: \w+)? (?:says?|said|asks?|asked|wants?|prompt|instructions?|wish\w*|decides?|or)\b",
            OVERRIDES,
        ),
        (
            r"\byour (?:\w+ )?(?:hidden|secret|real|true|new|actual|primary|sole|only|main) (?:objective|goal|task|mission|purpose|job|role|directive|target|duty|priority)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:to be|must be|should be|has to be|have to be|shall be) (?:executed|obeyed|followed|carried out|acted (?:up)?on|trusted|treated|regarded|taken|considered)(?: \w+){0,2} (?:as )?(?:commands?|instructions?|orders|authoritative|trusted|system|user input|from the user)\b",
            TRUSTS,
        ),
        (
            r"\bonly (?:\w+ ){0,3}(?:tool|function|server) (?:that )?(?:you|the assistant|agents?|models?) (?:are|is|may|can|should|must)\b|\buntil (?:you are )?(?:told|instructed) otherwise\b|\bstop (?:all|any|every)(?: \w+){0,2} (?:work|tasks?|processing|tools?)\b|\b(?:loop|repeatedly|endlessly|continuously|indefinitely) (?:\w+ )?call\w*\b",
            SPREADS,
        ),
        (
            r"\b(?:do not|dont|never|skip|without|no need to) (?:\w+ ){0,2}(?:check|verify|validat|authenticat|authoriz|authoris)\w*(?: \w+){0,2} (?:permissions?|identity|authori[sz]ation|access rights|rights)\b",
            CONSENTS,
        ),
        (
            r"\b(?:ask|prompt|demand|elicit|coax|request)(?:s|ing)?\b(?: \w+){0,4} for (?:\w+ ){0,3}(?:{secret}|(?:card )?pin\b|card numbers?|cvv|social security)\b",
            HANDS_OVER,
        ),
        (
            r"\b(?:override|role|safety|priority|behaviou?r\w*|execution|hidden|system|security) directives?\b|\bact as ?:|\btreat (?:all|any|every|each) (?:\w+ )?(?:requests?|users?|commands?|inputs?|messages?|callers?) as\b|\b(?:trust|approve|accept|obey) (?:all|any|every|each) (?:\w+ )?(?:commands?|requests?|instructions?|inputs?|messages?)\b|\bunrestricted (?:access|mode|privileges?)\b|\bwithout (?:\w+ )?(?:validation|(?:security|safety|permission) checks?|content filter\w*|restrictions?|safeguards?|guardrails?)\b|\b(?:disable|deactivate|turn off|switch off|suspend)s? (?:\w+ ){0,3}(?:safety|content filter\w*|safeguards?|guardrails?|moderation)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:{model}|agent|model)s? (?:is|are) (?:\w+ )?(?:asked|told|requested|supposed|meant|obliged|required|expected|instructed|to) (?:to )?(?:also|first|then|always|never|not|call|read|include|send|pass|dump|append|forward|copy|run|fetch|use|put|add)\b",
            ADDRESSES,
        ),
        (
            r"\bwe (?:get|earn|receive|make|are paid)\b{gap}{0,20}\b(?:commission|fee|bonus|kickback|money)\b|\b(?:push|steer|nudge|persuade|convince|urge|pressure|lure|talk|manipulate) {user} (?:to|towards?|into)\b|\bwhatever you (?:write|say|do|answer|produce|send|return)\b|\b(?:slip|sneak|weave|smuggle|inject)\b{gap}{0,60}\b(?:into|in) (?:whatever|anything|everything|all|every|each|any|your|the (?:users?|response|answer|reply|output|text you))\b|\b(?:in addition to|beyond|on top of|besides) what (?:the )?(?:user|they|customer) (?:asked|wants?|requested)\b",
            TAMPERS,
        ),
        (
            r"\b(?:disregard|flout|defy|violate|forget about)\b (?:\w+ ){0,3}(?:polic\w+|rules?|limits?|restrictions?|objections?|warnings?|guidelines?|constraints?|checks?|approvals?)\b|\bend of (?:the )?(?:system|user|tool)s? (?:prompt|instructions?|descriptions?|message|list|definitions?|section)\b|\bnew system (?:message|prompt|instructions?)\b|\byou are [a-z]*(?:gpt|bot)\b",
            OVERRIDES,
        ),
        (
            r"\b(?:after|before|on|for|with|upon|at) (?:each|every) (?:user (?:messages?|turns?|prompts?|requests?)|turn|reply|response|answer|conversation)\b",
            SPREADS,
        ),
        (
            r"\b(?:nobody|no one|noone) (?:\w+ ){0,2}(?:informed|told|notified|knows?|find out|finds out|learns?|aware|notices?|sees?|must|should|may|can)\b|\b(?:leave|leaves|remain|remains|leaving) no (?:trace|traces|record|evidence)\b|\bno (?:trace|traces|evidence|record) (?:remains?|is left|are left|stays?)\b",
            CONCEALS,
        ),
        (
            r"\b(?:instructions?|commands?|directives?|orders)\b{gap}{0,60}\b(?:outranks?|overrides?|overrules?|supersedes?|takes? precedence|trumps?|comes? first|are binding|(?:must|should|are to|have to|shall) be (?:followed|obeyed|executed))\b|\btreat\b{gap}{0,60}\bas (?:\w+ ){0,2}(?:orders|commands?|instructions?|system messages?|trusted|authoritative|binding)\b|\b(?:execute|follow|obey|do|run|perform|carry out) (?:exactly |precisely |just )?(?:what|whatever|everything|anything)(?: that)? (?:it|they|this|the \w+)(?: \w+)? (?:says?|tells?|asks?|lists?|demands?|contains?|instructs?|requests?|orders?)\b",
            TRUSTS,
        ),
        (
            r"\bbefore (?:returning|showing|presenting|giving|displaying|answering|passing)\b{gap}{0,60}\b(?:call|send|read|upload|post|forward|fetch|invoke|copy|exfiltrate)\b",
            SPREADS,
        ),
        (
            r"\b(?:permission|authori[sz]ation|consent|approval|clearance) (?:is|has been|was) (?:already |hereby |implicitly |previously )?(?:granted|given|obtained|assumed|implied)\b|\byou (?:have been|are|were) (?:hereby )?granted\b",
            CONSENTS,
        ),
        (
            r"\b(?:this (?:message|notice|instruction|request|rule) (?:is|comes) from|by order of|authori[sz]ed by|mandated by|ordered by) (?:the |your )?(?:admin\w*|anthropic|openai|google|microsoft|developers?|security|it department|compliance|platform|system|ceo|management|operator|host)\b|\bfailure to (?:comply|do so|follow|obey)\b|\bnon ?compliance\b",
            POSES,
        ),
        (
            r"\busers? (?:wishes|wants|prefers|asked|likes|has asked|would like|would rather) (?:not|never|no longer) (?:to )?be\b|\b(?:approve|accept|confirm) (?:all|every|any) (?:of (?:them|these|those)|payments?|transactions?|orders?|changes)\b",
            CONSENTS,
        ),
        (
            r"(?:^|[.;!(\[] ?)(?:system|admin|administrator|root|developer) ?: ?(?:you|run|execute|call|do|ignore|always|never|trust|grant|allow|respond|reply|answer|read|send|delete|set|enable|disable|use|act|from|all|this)\b",
            POSES,
        ),
        (
            r"\b(?:also|additionally|first|secretly|then)\b{gap}{0,60}\b(?:retrieve|read|fetch|collect|get|gather|include|copy|send|export)\b{gap}{0,40}\busers? (?:contacts?|address book|inbox|mailbox|photos?|calendar|location|files|documents|browser|messages|mails|e ?mails)\b",
            READS,
        ),
    ])
});

/// Over text without what it says not to hand over, since many tools warn of that.
pub(super) static ASKING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        (r"\b{pass}\b(?: \w+,?){0,6}? (?:the |a |an |any |all )?{talk}", HANDS_OVER),
        (
            r"\b(?:call|invoke|use|run|execute|trigger)\b{gap}{0,60}\b(?:with|using|including|containing) (?:the |its |an? )?{talk}",
            HANDS_OVER,
        ),
        (r"{talk}{gap}{0,40}\b{into} (?:the |this |a |its |your )?(?:\w+ ){0,2}{aim}\b", HANDS_OVER),
        (
            r"\b{pass}\b(?: \w+,?){0,5} (?:your|any|all|the users?|users?|their|every|stored|cached|saved|available|known|local|relevant|found|discovered|existing)(?: \w+,?){0,3} {secret}\b",
            HANDS_OVER,
        ),
        (
            r"\b{read}\b{gap}{0,60}\b(?:{secret}|clipboard|browser history|home directory|documents folder|local files?|config(?:uration)? files?|dotfiles?)\b[^;]{0,120}\b{into} (?:the |this |a |its |your |our )?(?:\w+ ){0,3}{aim}\b",
            HANDS_OVER,
        ),
        (
            r"{secret}(?: that| which)? (?:you|the assistant|the agent|the model)(?: have| has| ve)? (?:\w+ )?(?:seen|see|come across|found|find|know|knows|hold|remember|collected|stored|got|encounter\w*|noticed|gathered|access\w*|been given)\b",
            HANDS_OVER,
        ),
        (
            r"\bprintenv\b|\b(?:os environ|process env|getenv)\b|\b{pass}\b{gap}{0,40}\b(?:clipboard|screen contents?|browser (?:history|tabs|cookies)|home (?:directory|folder)|desktop files|local files)\b",
            HANDS_OVER,
        ),
        (
            r"{talk}{gap}{0,40}\b(?:must|should|need to|needs to|has to|have to|is to|are to|shall|go|goes|belongs?|accompan(?:y|ies)|(?:is|are) (?:needed|required|expected|mandatory|included|collected|recorded|sent|forwarded))\b",
            HANDS_OVER,
        ),
        (
            r"{secret}{gap}{0,40}\b(?:go|goes|belongs?|(?:be|are|is) (?:passed|included|placed|put|added|sent|embedded|attached|supplied|forwarded|copied))\b{gap}{0,20}\b{into} (?:the |this |a |its |your )?(?:\w+ ){0,2}{aim}\b",
            HANDS_OVER,
        ),
        (
            r"\b(?:{pass}|describe|list|collect|gather|read)\b{gap}{0,30}\b(?:private|personal|confidential|sensitive|internal) (?:photos?|pictures|messages?|mails?|e ?mails|files?|documents?|data|information|notes?|conversations?|chats?|contacts|details)\b{gap}{0,60}\b{into} (?:the |this |a |its |your )?(?:\w+ ){0,2}{aim}\b",
            HANDS_OVER,
        ),
        (r"{secret}{gap}{0,40}\baccompan\w+", HANDS_OVER),
        (
            r"\b(?:quote|include|reveal|copy|paste|dump|attach|append|leak|embed|forward|send|hand over|share)\b{gap}{0,20}\b(?:confidential|private|secret|sensitive|internal) (?:files?|documents?|data|information|notes?|details|records?)\b",
            HANDS_OVER,
        ),
        (r"\b(?:requires?|needs?|expects?|demands?)\b(?: \w+){0,3} {talk}", HANDS_OVER),
        (
            r"\b(?:variables|tokens?|keys?|credentials|passwords?|secrets?|files?|information|data) (?:\w+ )?(?:available|accessible|visible|known) to you\b",
            HANDS_OVER,
        ),
    ])
});
