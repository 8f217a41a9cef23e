//! The odd answers, and what becomes of each.

use super::{Case, LIMIT, Passes, Rule};

const ANSWER: &str = "AG-UPSTREAM-ANSWER";
const ASKS: &str = "AG-UPSTREAM-ASKS";

pub(super) fn cases() -> Vec<Case> {
    let mut all = values();
    all.extend(members());
    all.extend(texts());
    all.extend(asking());
    all.extend(errors());
    all.extend(refused());
    all
}

/// An answer with this result, to a call of a tool that promises nothing about it.
fn result(what: &'static str, result: &str, passes: Passes) -> Case {
    body(what, &format!(r#"{{"jsonrpc":"2.0","id":%ID%,"result":{result}}}"#), passes)
}

fn body(what: &'static str, body: &str, passes: Passes) -> Case {
    Case { what, tool: "look", body: body.to_owned(), passes }
}

fn same(what: &'static str, text: &str) -> Case {
    result(what, text, Passes::Same)
}

/// A complete result with this structured content.
fn structured(what: &'static str, content: &str) -> Case {
    same(what, &format!(r#"{{"resultType":"complete","content":[],"structuredContent":{content}}}"#))
}

fn refuse(what: &'static str, text: &str, code: &'static str, sentence: &'static str) -> Case {
    result(what, text, Passes::Refused(Rule(code, sentence)))
}

/// Numbers and other values.
fn values() -> Vec<Case> {
    vec![
        same("plain", r#"{"resultType":"complete","content":[{"type":"text","text":"t"}]}"#),
        structured("digits beyond a double", "12345678901234567890123"),
        structured("a digit that means nothing", r#"{"n":1.10}"#),
        structured("an exponent in capitals", "[1E5,1e+05,1E-7]"),
        structured("minus zero", "[-0,-0.0,-0e0]"),
        structured("beyond every double", "1e400"),
        structured("the ends of 64 bits", "[18446744073709551615,-9223372036854775808,18446744073709551616]"),
        structured("more digits than a double has", "0.1000000000000000055511151231257827"),
        structured("null", "null"),
        structured("false", "false"),
        structured("nothing", r#"["",0,{},[],[[]]]"#),
        same("null for a boolean", r#"{"resultType":"complete","content":[],"isError":null}"#),
        same("an error that says so", r#"{"isError":true,"content":[],"resultType":"complete"}"#),
        Case { tool: "measure", ..structured("what was promised, oddly spelled", r#"{ "celsius":1.10 }"#) },
    ]
}

/// Members that are unknown, missing, or of another type than the gateway's business is.
fn members() -> Vec<Case> {
    vec![
        same("of the result", r#"{"resultType":"complete","content":[],"x":1,"com.example/y":{"z":[null]}}"#),
        same(
            "of a block",
            r#"{"resultType":"complete","content":[{"type":"text","text":"t","x":{"deep":[1.0]},"_meta":{"a":1}}]}"#,
        ),
        same(
            "of annotations",
            r#"{"resultType":"complete","content":[{"type":"text","text":"t","annotations":{"priority":0.123456789,"audience":["user"],"vendor":true}}]}"#,
        ),
        same(
            "of resources",
            r#"{"resultType":"complete","content":[{"type":"resource","resource":{"uri":"a:b","text":"","x":1}},{"type":"resource_link","uri":"a:b","name":"n","size":1.0,"icons":[{"src":"a:b","theme":"sepia"}]}]}"#,
        ),
        same(
            "an unknown type",
            r#"{"resultType":"complete","content":[{"type":"hologram","data":{"x":1}},7,null]}"#,
        ),
        same(
            "an unknown role",
            r#"{"resultType":"complete","content":[{"type":"text","text":"t","annotations":{"audience":["auditor"]}}]}"#,
        ),
        same("no content", r#"{"resultType":"complete"}"#),
        same("content of null", r#"{"resultType":"complete","content":null}"#),
        same("content of another type", r#"{"resultType":"complete","content":"text"}"#),
        result("no type", r#"{ "content":[{"type":"text","text":"old"}] , "x":1}"#, Passes::Typed),
        result("nothing at all", "{}", Passes::Typed),
        same(
            "of a task that is none",
            r#"{"resultType":"complete","taskId":7,"requestState":[],"inputRequests":1}"#,
        ),
        same(
            "a list's",
            r#"{"resultType":"complete","tools":[],"nextCursor":"","ttlMs":-1,"cacheScope":"tenant"}"#,
        ),
        same("`_meta` in the middle", r#"{"resultType":"complete", "_meta" : {"a":1.0} ,"content":[]}"#),
        body(
            "of the envelope",
            r#"{"x":1, "result":{"resultType":"complete", "content":[ ]}, "id":%ID%, "jsonrpc":"2.0"}"#,
            Passes::Same,
        ),
    ]
}

/// Spelling, order, depth and size.
fn texts() -> Vec<Case> {
    let deep = format!("{}1{}", "[".repeat(124), "]".repeat(124));
    let huge = "€".repeat(300_000);
    vec![
        same("out of order", r#"{"structuredContent":{"b":1,"a":2},"content":[],"resultType":"complete"}"#),
        same("white space", "{\t\"resultType\" :\r\n\"complete\" ,\r \"content\":\n[ ]\t}"),
        same(
            "escapes",
            r#"{"result\u0054ype":"comp\u006Cete","content":[{"type":"text","text":"\u0041\/\b\f\n\r\t\"\\\u2603\uD83D\uDE00"}]}"#,
        ),
        same(
            "a half of a pair",
            r#"{"resultType":"complete","content":[{"type":"text","text":"\ud83d \uDE00"}]}"#,
        ),
        same("a half of a pair as a key", r#"{"resultType":"complete","content":[],"\ud800":{"\udfff":1}}"#),
        same(
            "a member twice",
            r#"{"resultType":"complete","content":[{"type":"text","text":"a","text":"b"}],"x":1,"x":2}"#,
        ),
        same(
            "line separators",
            "{\"resultType\":\"complete\",\"content\":[{\"text\":\"\u{2028}\u{2029}\u{85}\"}]}",
        ),
        same("NUL", r#"{"resultType":"complete","content":[{"text":"\u0000"}],"\u0000":0}"#),
        same("an empty key", r#"{"resultType":"complete","content":[],"":{"":""}}"#),
        same(
            "no characters",
            "{\"resultType\":\"complete\",\"content\":[{\"text\":\"\u{feff}\u{ffff}\u{10ffff}\u{7f}\"}]}",
        ),
        same(
            "right to left",
            "{\"resultType\":\"complete\",\"content\":[{\"text\":\"\u{202e}\u{200b}e\u{301}é\"}]}",
        ),
        same(
            "prototypes",
            r#"{"resultType":"complete","content":[],"__proto__":{"isError":true},"constructor":null}"#,
        ),
        structured("deep", &deep),
        structured("huge", &format!("\"{huge}\"")),
        structured("many", &format!("[{}0]", "0,".repeat(100_000))),
    ]
}

/// What is asked of the client. The state that the upstream gives is `upstream's`, and the message `Which?`.
fn asking() -> Vec<Case> {
    let ask = |what, requests: &str, passes| {
        let text = format!(
            r#"{{"resultType":"input_required", "inputRequests":{requests} ,"x":1.10,"requestState":"upstream's"}}"#
        );
        result(what, &text, passes)
    };
    let form = |schema: &str| {
        format!(
            r#"{{ "a":{{"method":"elicitation/create", "params":{{"message":"Which?", "requestedSchema":{schema},"x-more":1E5}} ,"y":[ ]}}}}"#
        )
    };
    let flat = r#"{"type":"object", "x-group":1.0, "properties":{"n":{"type":"integer","x-unit":"m","default":1.0}}}"#;
    let nested = r#"{"type":"object","properties":{"n":{"type":"object","properties":{}}}}"#;
    let twice = r#"{"type":"object","properties":{"n":{"type":"object"}},"properties":{}}"#;
    vec![
        ask("a form", &form(flat), Passes::Asked),
        ask(
            "a URL",
            r#"{"a":{"method":"elicitation/create","params":{"mode":"url","message":"Which?","url":"https://login.example.com/\u0061","elicitationId":"" }}}"#,
            Passes::Asked,
        ),
        ask(
            "a message of the model",
            r#"{"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"auditor","content":{"type":"hologram"}}],"temperature":0.10,"x":"\ud800"}}}"#,
            Passes::Asked,
        ),
        ask("roots", r#"{ "\u0061":{"method":"roots/list", "params":{ }}}"#, Passes::Asked),
        ask("nothing", "{}", Passes::Asked),
        ask(
            "a nested form",
            &form(nested),
            Passes::Refused(Rule(ASKS, "it asks with a form that is not flat")),
        ),
        ask(
            "a form of two readings",
            &form(twice),
            Passes::Refused(Rule(ASKS, "it asks with a form that is not flat")),
        ),
        ask(
            "another method",
            r#"{"a":{"method":"oracle/ask","params":{}}}"#,
            Passes::Refused(Rule(
                ANSWER,
                "must be `elicitation/create`, `sampling/createMessage` or `roots/list`",
            )),
        ),
        ask(
            "another mode",
            r#"{"a":{"method":"elicitation/create","params":{"mode":"voice","message":"Which?"}}}"#,
            Passes::Refused(Rule(ANSWER, "must be `form` or `url`")),
        ),
        ask(
            "twice the same",
            r#"{"a":{"method":"roots/list"},"\u0061":{"method":"roots/list"}}"#,
            Passes::Refused(Rule(ANSWER, "occurs twice")),
        ),
        ask(
            "under half a pair",
            r#"{"\ud800":{"method":"roots/list"}}"#,
            Passes::Refused(Rule(ANSWER, "holds half of a surrogate pair")),
        ),
        refuse(
            "for nothing",
            r#"{"resultType":"input_required"}"#,
            ANSWER,
            "an `input_required` answer must have `inputRequests` or `requestState`",
        ),
    ]
}

/// Errors, which are told anew.
fn errors() -> Vec<Case> {
    let error = |what, error: &str, passes| {
        body(what, &format!(r#"{{"jsonrpc":"2.0","id":%ID%,"error":{error}}}"#), passes)
    };
    vec![
        error(
            "a code beyond 32 bits",
            r#"{"code":4294967296,"message":"m"}"#,
            Passes::Told(r#""code":4294967296,"message":"m""#),
        ),
        error(
            "data",
            r#"{"code":7,"message":"m","data":{ "a":[1.50,"\u0041"]}}"#,
            Passes::Told(r#""data":{"a":[1.5,"A"],"#),
        ),
        error(
            "data that is no object",
            r#"{"code":7,"message":"m","data":[1]}"#,
            Passes::Told(r#""upstreamData":[1]"#),
        ),
        error(
            "data that cannot be written anew",
            r#"{"code":7,"message":"m","data":[12345678901234567890123]}"#,
            Passes::Told(r#""upstreamDataText":"[12345678901234567890123]""#),
        ),
        error(
            "data of two readings",
            r#"{"code":7,"message":"m","data":{"a":1,"a":"\ud800"}}"#,
            Passes::Told(r#""upstreamDataText":"{\"a\":1,\"a\":\"\\ud800\"}""#),
        ),
        error(
            "unknown members",
            r#"{"code":7,"message":"m","x":1}"#,
            Passes::Told(r#"{"code":7,"message":"m","data":{"code""#),
        ),
        error(
            "a code beyond 64 bits",
            r#"{"code":18446744073709551616,"message":"m"}"#,
            Passes::Refused(Rule(ANSWER, "`error.code` in the answer must be an integer")),
        ),
        error(
            "a message that is no text",
            r#"{"code":7,"message":"\ud800"}"#,
            Passes::Refused(Rule(ANSWER, "`error.message` in the answer must be a string")),
        ),
    ]
}

/// Results that do not pass.
fn refused() -> Vec<Case> {
    let deep = format!(r#"{{"resultType":"complete","content":{}{}}}"#, "[".repeat(127), "]".repeat(127));
    let long = format!(r#"{{"resultType":"complete","content":"{}"}}"#, "x".repeat(LIMIT));
    let measured = |what, content: &str, sentence| Case {
        tool: "measure",
        ..refuse(
            what,
            &format!(r#"{{"resultType":"complete","structuredContent":{content}}}"#),
            ANSWER,
            sentence,
        )
    };
    let unsure = "its `structuredContent` cannot be checked without doubt";
    let unreadable = |what, text: &str| refuse(what, text, ANSWER, "not JSON: expected");
    vec![
        refuse(
            "an unknown type",
            r#"{"resultType":"surprise"}"#,
            ANSWER,
            "the answer has the unknown `resultType`",
        ),
        refuse(
            "another case",
            r#"{"resultType":"Complete"}"#,
            ANSWER,
            "the answer has the unknown `resultType`",
        ),
        refuse(
            "a type of null",
            r#"{"resultType":null}"#,
            ANSWER,
            "`resultType` in the answer must be a string",
        ),
        refuse("a task", r#"{"resultType":"task","taskId":"t"}"#, ANSWER, "a task, which was not negotiated"),
        refuse(
            "no boolean",
            r#"{"resultType":"complete","isError":"no"}"#,
            ANSWER,
            "`isError` in the answer must be a boolean",
        ),
        refuse(
            "a failure and none",
            r#"{"resultType":"complete","isError":false,"\u0069sError":true}"#,
            ANSWER,
            "the answer repeats the member",
        ),
        refuse(
            "two `_meta`",
            r#"{"resultType":"complete","_meta":{},"_meta":{}}"#,
            ANSWER,
            "the answer repeats the member",
        ),
        refuse(
            "`_meta` of another type",
            r#"{"resultType":"complete","_meta":[]}"#,
            ANSWER,
            "`_meta` in the answer must be an object",
        ),
        refuse(
            "the gateway's own key",
            r#"{"resultType":"complete","_meta":{"IO.github.aldgate/call":1}}"#,
            ANSWER,
            "which only the gateway may set",
        ),
        refuse(
            "a key of `_meta` twice",
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":1,"io.modelcontextprotocol/serverInfo":2}}"#,
            ANSWER,
            "the upstream's `_meta` repeats the key",
        ),
        refuse("no object", "[]", ANSWER, "`result` in the answer must be an object"),
        refuse("too deep", &deep, ANSWER, "objects and arrays are nested more than 128 deep"),
        refuse("too long", &long, ANSWER, "the upstream's answer is longer than"),
        unreadable("no number", r#"{"resultType":"complete","n":NaN}"#),
        unreadable("a comma more", r#"{"resultType":"complete",}"#),
        unreadable("a control character", "{\"resultType\":\"complete\",\"x\":\"\u{1}\"}"),
        unreadable("other quotes", "{'resultType':'complete'}"),
        unreadable("an unknown escape", r#"{"resultType":"complete","x":"\x41"}"#),
        body(
            "another id",
            r#"{"jsonrpc":"2.0","id":"%ID%","result":{}}"#,
            Passes::Refused(Rule(ANSWER, "the answer has the id")),
        ),
        body(
            "another JSON-RPC",
            r#"{"jsonrpc":2.0,"id":%ID%,"result":{}}"#,
            Passes::Refused(Rule(ANSWER, "the answer must be one JSON-RPC 2.0 object")),
        ),
        body(
            "two outcomes",
            r#"{"jsonrpc":"2.0","id":%ID%,"result":{},"error":null}"#,
            Passes::Refused(Rule(ANSWER, "the answer must have exactly one of `result` and `error`")),
        ),
        measured("a member twice that was promised", r#"{"celsius":"hot","celsius":1}"#, unsure),
        measured("beyond every double where a number was promised", r#"{"celsius":1e400}"#, unsure),
        measured("half of a pair in what was promised", r#"{"celsius":1,"x":"\ud800"}"#, unsure),
        measured(
            "another form",
            r#"{"celsius":"warm"}"#,
            "its `structuredContent` does not fit its pinned output schema",
        ),
        Case {
            tool: "measure",
            ..refuse(
                "nothing of it",
                r#"{"resultType":"complete"}"#,
                ANSWER,
                "it has no `structuredContent`, which its contract promises",
            )
        },
    ]
}
