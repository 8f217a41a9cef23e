"""Connects from nothing but a URL: finds the authorization server, has a person sign in, calls a tool, and once more with
a token that was refreshed.

Usage: python sign_in.py URL NAME PASSWORD dynamic|registered [ISSUER]
       python sign_in.py URL NAME PASSWORD document DOCUMENT_URL

ISSUER is somebody else's authorization server that asks the person nothing; without it, it is the gateway.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import mcp_types as types
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from check import check, check_equal, main
from connect import connect_with
from person import Person, origin_of
from traffic import Exchange, Traffic

NAME = "Aldgate's Python client"
REGISTERED = "desk"
# At another port than the one that was registered: a program gets whichever is free (RFC 8252, section 7.3).
REDIRECT_URI = "http://127.0.0.1:33418/callback"
TOOL = "search_manual"
QUESTION = {"query": "torque of the thermostatic valve cover", "product_family": "AC-250", "k": 1}
WAYS = ("dynamic", "registered", "document")


class Memory:
    """Keeps what the SDK would find again at the next start."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self.client = client
        self.tokens: list[OAuthToken] = []

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """Where the SDK sends the person, and what comes back from there."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.asked: dict[str, str] = {}
        self.answer: dict[str, str] = {}

    async def open(self, authorization_url: str) -> None:
        check(not self.asked, "one authorization request", authorization_url)
        self.asked = dict(parse_qsl(urlsplit(authorization_url).query))
        answered = parse_qs(urlsplit(await self.person.visit(authorization_url)).query)
        check(all(len(values) == 1 for values in answered.values()), "each parameter of the answer once", answered)
        self.answer = {name: values[0] for name, values in answered.items()}

    async def take(self) -> AuthorizationCodeResult:
        check("error" not in self.answer, "no error", self.answer)
        return AuthorizationCodeResult.model_validate(self.answer)


def provider(url: str, way: str, document: str | None, browser: Browser, memory: Memory) -> OAuthClientProvider:
    metadata = OAuthClientMetadata.model_validate({"client_name": NAME, "redirect_uris": [REDIRECT_URI]})
    return OAuthClientProvider(
        url,
        metadata,
        memory,
        redirect_handler=browser.open,
        callback_handler=browser.take,
        client_metadata_url=document if way == "document" else None,
    )


def check_discovery(traffic: Traffic, url: str, way: str, method: str) -> dict[str, Any]:
    """From the refusal to the first tokens. Returns the metadata of the authorization server."""
    refused, resource, server, *rest = traffic.exchanges
    check_equal((refused.method, refused.url, refused.status), ("POST", url, 401), "the first exchange")
    check("authorization" not in refused.sent, "a first request without a token", refused.sent)
    challenge = refused.headers.get("www-authenticate", "")
    check(challenge.startswith("Bearer ") and "scope=" in challenge, "a challenge with scopes", challenge)
    check(f'resource_metadata="{resource.url}"' in challenge, f"a challenge that names {resource.url}", challenge)
    check_equal(resource.answer["resource"], url, "the resource")
    issuer = resource.answer["authorization_servers"][0]
    check_equal(server.url, f"{issuer}/.well-known/oauth-authorization-server", "where the server's metadata stand")
    metadata = server.answer
    check_equal(metadata["issuer"], issuer, "the issuer")
    check_equal(metadata.get("authorization_response_iss_parameter_supported"), True, "that answers name the issuer")
    endpoints = [metadata["token_endpoint"]]
    if way == "dynamic":
        endpoints.insert(0, metadata["registration_endpoint"])
        check_registration(rest[0], method)
    found = [exchange.url for exchange in rest[: len(endpoints)]]
    check_equal(found, endpoints, "what follows the discovery")
    return metadata


def check_registration(registration: Exchange, method: str) -> None:
    check_equal(registration.status, 201, "the status of the registration")
    check(b'"application_type":"native"' in registration.body, "a native application", registration.body)
    check_equal(registration.answer.get("token_endpoint_auth_method"), method, "how the client authenticates")


def check_authorization(browser: Browser, metadata: dict[str, Any], url: str, client_id: str) -> None:
    asked, answer = browser.asked, browser.answer
    wanted = {"client_id": client_id, "resource": url, "redirect_uri": REDIRECT_URI, "code_challenge_method": "S256"}
    check_equal({name: asked.get(name) for name in wanted}, wanted, "what the authorization request says")
    check_equal(answer.get("iss"), metadata["issuer"], "`iss` of the answer")
    check_equal(answer.get("state"), asked["state"], "`state` of the answer")


def check_tokens(requests: list[Exchange], memory: Memory, url: str) -> None:
    forms = [request.form() for request in requests]
    check_equal([form["grant_type"] for form in forms], ["authorization_code", "refresh_token"], "the grant types")
    check_equal([form.get("resource") for form in forms], [url, url], "`resource` of the token requests")
    check("code_verifier" in forms[0], "a code verifier", sorted(forms[0]))
    for request in requests:
        check_equal(request.headers.get("cache-control"), "no-store", "how tokens are kept")
    first, second = memory.tokens
    check_equal(forms[1]["refresh_token"], first.refresh_token, "the refresh token that was used")
    check(first.access_token != second.access_token, "another access token", "the same")
    check(first.refresh_token != second.refresh_token, "another refresh token", "the same")
    check_equal(second.scope, first.scope, "the scopes after the refresh")


async def no_form(form: types.ElicitRequestFormParams) -> types.ElicitResult:
    check(False, "no question", form)
    return types.ElicitResult(action="cancel")


async def run(arguments: list[str]) -> dict[str, Any]:
    usage = f"URL NAME PASSWORD {'|'.join(WAYS)} [ISSUER|DOCUMENT_URL]"
    check(len(arguments) in (4, 5) and arguments[3] in WAYS, usage, arguments[:2] + arguments[3:])
    url, name, password, way = arguments[:4]
    last = arguments[4] if len(arguments) == 5 else None
    document, other = (last, None) if way == "document" else (None, last)
    check(way != "document" or document, "a URL of a document for `document`", arguments[4:])

    # Whoever wrote the client down knows where; credentials are for one issuer.
    issuer = other or origin_of(url)
    registered = {"client_id": REGISTERED, "token_endpoint_auth_method": "none", "issuer": issuer}
    memory = Memory(OAuthClientInformationFull.model_validate(registered) if way == "registered" else None)
    person = Person(name, password)
    browser = Browser(person)
    traffic = Traffic()
    auth = provider(url, way, document, browser, memory)
    async with connect_with(url, no_form, auth=auth, event_hooks=traffic.hooks) as session:
        tools = await session.tools()
        tool = next((tool for tool in tools if tool["name"] == TOOL), None)
        check(tool, f"a tool `{TOOL}`", [tool["name"] for tool in tools])
        check_equal(tool.get("annotations", {}).get("readOnlyHint"), True, f"whether {TOOL} only reads")
        await session.read(TOOL, QUESTION)
        # This SDK leaves to the server how it authenticates: the gateway has it public, `oidc-provider` gives it a secret.
        metadata = check_discovery(traffic, url, way, "client_secret_basic" if other else "none")
        check_equal(metadata["issuer"], issuer, "the issuer that the gateway names")
        check_equal(len(traffic.to(metadata["token_endpoint"])), 1, "the number of token requests so far")

        # The token has not ended; the SDK is told that it has.
        auth.context.token_expiry_time = time.time() - 1
        await session.read(TOOL, QUESTION)

    client_id = memory.client.client_id if memory.client else ""
    if way != "dynamic":
        check_equal(client_id, document or REGISTERED, "the client id")
    elif not other:
        check(NAME in person.consent, f"a consent page that names {NAME}", person.consent)
    check_authorization(browser, metadata, url, client_id)
    check_tokens(traffic.to(metadata["token_endpoint"]), memory, url)
    refusals = [str(exchange) for exchange in traffic.exchanges if exchange.status >= 400]
    check_equal(len(refusals), 1, f"the number of refusals, {refusals}")
    check_equal(origin_of(metadata["authorization_endpoint"]), metadata["issuer"], "the origin of the pages")
    return {
        "client": "python",
        "registration": way,
        "client_id": client_id,
        "pages": person.titles,
        "exchanges": [str(exchange) for exchange in traffic.exchanges],
        "scope": memory.tokens[-1].scope,
        "tools": len(tools),
        "calls": session.calls,
        "refreshed": len(memory.tokens) - 1,
    }


if __name__ == "__main__":
    main(run)
