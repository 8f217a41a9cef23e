//! What the conformance suite starts for each of its client scenarios: a gateway in front of the scenario's server, and
//! a plain client that calls whatever tools the gateway lists, and reads what else it offers. The suite puts the server's URL last:
//! `conformance_client target/debug/aldgate http://localhost:8123/mcp`
//!
//! What the scenario looks for happens on the way from the gateway to its server.

use std::error::Error;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use aldgate_testkit::{Call, Client, Reply};
use aldgate_wire::header::{encode_value, make_params, param_headers};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// How long everything may take: the suite ends only the shell around this program when its own time is over.
const LONGEST: Duration = Duration::from_secs(50);
/// How long the gateway may take to end.
const ENDING: Duration = Duration::from_secs(10);
/// How often a tool is given what it asks for.
const ROUNDS: usize = 4;
/// A tool that wants the input schema of another one as this client was given it.
const ECHO: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(binary), Some(upstream)) = (arguments.next(), arguments.next()) else {
        return Err("expected the path of `aldgate` and the URL of a server".into());
    };
    let mut gateway = Command::new(binary)
        .args(["dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--upstream", &upstream])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let done = timeout(LONGEST, drive(&mut gateway)).await;
    end(gateway).await?;
    done?
}

/// Waits for the gateway and then does what a client does.
async fn drive(gateway: &mut Child) -> Fallible<()> {
    let client = client_of(gateway).await?;
    read_what_is_offered(&client).await?;
    let tools = listed(&client).await?;
    let mut open = Vec::new();
    for call in calls(&tools)? {
        let reply = client.send(&call.request).await?;
        println!("{}: {}", call.tool, reply.text());
        open.push((call, reply));
    }
    // All tools begin before one goes on, so that what belongs to one could get into the calls of another.
    for _ in 0..ROUNDS {
        for (call, reply) in &mut open {
            if let Some(next) = call.next(reply)? {
                *reply = client.send(&next).await?;
                println!("{}: {}", call.tool, reply.text());
            }
        }
    }
    Ok(())
}

/// A client of the gateway, as soon as it says where it listens.
async fn client_of(gateway: &mut Child) -> Fallible<Client> {
    let mut lines = BufReader::new(gateway.stderr.take().ok_or("nothing to read")?).lines();
    let mut said = String::new();
    while let Some(line) = lines.next_line().await? {
        if let Some((address, token)) = address_and_token(&line) {
            // Somebody must read what it says from now on, or it waits for that.
            tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    eprintln!("{line}")
                }
            });
            return Ok(Client::new(address, Some(&token)));
        }
        said = said + &line + "\n";
    }
    Err(format!("the gateway did not start:\n{said}").into())
}

/// Where the gateway listens and what opens it, out of the line that is meant for a shell.
fn address_and_token(line: &str) -> Option<(SocketAddr, String)> {
    let variables = line.strip_prefix("export ")?.split(' ').filter_map(|variable| variable.split_once('='));
    let value = |name: &str| variables.clone().find(|(found, _)| *found == name).map(|(_, value)| value);
    let address = value("ALDGATE_URL")?.strip_prefix("http://")?.strip_suffix("/mcp")?.parse().ok()?;
    Some((address, value("ALDGATE_TOKEN")?.to_owned()))
}

/// Ends the gateway as an operator does, which removes its folder.
async fn end(mut gateway: Child) -> Fallible<()> {
    let id = gateway.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(id) = id {
        kill_process(id, Signal::TERM)?;
    }
    timeout(ENDING, gateway.wait()).await??;
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    name: String,
    input_schema: Value,
}

async fn listed(client: &Client) -> Fallible<Vec<Tool>> {
    #[derive(Deserialize)]
    struct List {
        tools: Vec<Tool>,
    }
    let list: List = serde_json::from_value(client.send(&Call::method("tools/list")).await?.result()?)?;
    Ok(list.tools)
}

/// Reads each resource and gets each prompt that is listed, where the gateway has such things at all.
async fn read_what_is_offered(client: &Client) -> Fallible<()> {
    let discovered = client.send(&Call::method("server/discover")).await?.result()?;
    for (kind, key, get) in [("resources", "uri", "resources/read"), ("prompts", "name", "prompts/get")] {
        if discovered.pointer(&format!("/capabilities/{kind}")).is_none() {
            continue;
        }
        let list = client.send(&Call::method(&format!("{kind}/list"))).await?.result()?;
        for element in list.get(kind).and_then(Value::as_array).into_iter().flatten() {
            let target = element.get(key).and_then(Value::as_str).ok_or("an element has no key")?;
            let reply = client.send(&of_target(get, key, target)).await?;
            println!("{get} {target}: {}", reply.text());
        }
    }
    Ok(())
}

/// A request about one resource or prompt.
fn of_target(method: &str, key: &str, target: &str) -> Call {
    let call = Call::method(method);
    let member = format!(r#""params":{{"{key}":{},"#, Value::from(target));
    let body = call.text().replacen(r#""params":{"#, &member, 1);
    call.body(body).header("mcp-name", &encode_value(target))
}

/// The calls that the scenario asks for; where it asks for none, one of each tool.
fn calls(tools: &[Tool]) -> Fallible<Vec<ToolCall>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        #[serde(default)]
        tool_calls: Vec<Wanted>,
    }
    #[derive(Deserialize)]
    struct Wanted {
        name: String,
        arguments: Map<String, Value>,
    }
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Context = serde_json::from_str(&context)?;
    if context.tool_calls.is_empty() {
        return tools.iter().map(|tool| ToolCall::new(tool, &arguments(tool, tools))).collect();
    }
    let mut calls = Vec::new();
    for Wanted { name, mut arguments } in context.tool_calls {
        let tool = tools.iter().find(|tool| tool.name == name).ok_or("a tool is not listed")?;
        // The gateway holds arguments to the contract, where no property may be null.
        arguments.retain(|_, value| !value.is_null());
        calls.push(ToolCall::new(tool, &arguments.into())?);
    }
    Ok(calls)
}

/// Arguments that the tool takes.
fn arguments(tool: &Tool, tools: &[Tool]) -> Value {
    let echoed = tools.iter().find(|other| other.name == ECHO.1).filter(|_| tool.name == ECHO.0);
    match echoed {
        Some(other) => json!({"schema": other.input_schema}),
        None => filled_in(&tool.input_schema),
    }
}

/// An object with a value for each plain property of a schema.
fn filled_in(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let value = |schema: &Value| match schema.get("type").and_then(Value::as_str)? {
        "string" => Some(json!("a")),
        "number" | "integer" => Some(json!(2)),
        "boolean" => Some(json!(true)),
        _ => None,
    };
    properties.filter_map(|(name, schema)| Some((name.clone(), value(schema)?))).collect::<Map<_, _>>().into()
}

/// A call of a tool, with the headers that mirror its arguments.
struct ToolCall {
    tool: String,
    request: Call,
}

impl ToolCall {
    fn new(tool: &Tool, arguments: &Value) -> Fallible<Self> {
        let arguments = RawValue::from_string(arguments.to_string())?;
        let mut request = Call::tool(&tool.name, arguments.get()).with_forms();
        for (name, value) in make_params(&param_headers(&tool.input_schema)?, Some(&arguments))? {
            request = request.header(name.as_str(), value.to_str()?);
        }
        Ok(Self { tool: tool.name.clone(), request })
    }

    /// The call with what its answer asks for; nothing where it is the last one.
    fn next(&self, reply: &Reply) -> Fallible<Option<Call>> {
        let answer = reply.json()?;
        let Some(result) = answer.get("result").filter(|result| asks(result)) else { return Ok(None) };
        let mut next = self.request.clone();
        if let Some(asked) = result.get("inputRequests").and_then(Value::as_object) {
            let answers: Map<_, _> = asked.iter().map(|(key, form)| (key.clone(), accepted(form))).collect();
            next = next.answering(answers.into());
        }
        if let Some(state) = result.get("requestState").and_then(Value::as_str) {
            next = next.state(state);
        }
        Ok(Some(next))
    }
}

fn asks(result: &Value) -> bool {
    result.get("resultType").is_some_and(|kind| kind == "input_required")
}

/// What a user says who takes the form as it is.
fn accepted(form: &Value) -> Value {
    let schema = form.pointer("/params/requestedSchema").unwrap_or(&Value::Null);
    json!({"action": "accept", "content": filled_in(schema)})
}
