// Connects from nothing but a URL: finds the authorization server, has a person sign in, calls a tool, and once more with
// a token that was refreshed.
// Usage: node sign-in.mjs URL NAME PASSWORD dynamic|registered [ISSUER]
//        node sign-in.mjs URL NAME PASSWORD document DOCUMENT_URL
//
// ISSUER is somebody else's authorization server that asks the person nothing; without it, it is the gateway.

import { randomUUID } from 'node:crypto';

import { StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

import { check, checkEqual, main } from './lib/check.mjs';
import { connectBy } from './lib/connect.mjs';
import { PersonAtBrowser } from './lib/person-at-browser.mjs';
import { brief, Traffic } from './lib/traffic.mjs';

const NAME = "Aldgate's TypeScript client";
const REGISTERED = 'desk';
// At another port than the one that was registered: a program gets whichever is free (RFC 8252, section 7.3).
const REDIRECT_URI = 'http://127.0.0.1:33419/callback';
const TOOL = 'search_manual';
const QUESTION = { query: 'torque of the thermostatic valve cover', product_family: 'AC-250', k: 1 };
const WAYS = ['dynamic', 'registered', 'document'];

/** What the SDK asks of a program: to keep what it will need again, and to send the person to the authorization server. */
class Provider {
  redirectUrl = REDIRECT_URI;
  clientMetadata = {
    client_name: NAME,
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  /** All tokens that were got, the newest last. */
  got = [];
  /** The parameters of the authorization request, and of its answer. */
  asked;
  answer;
  #person;
  #client;
  #tokens;
  #verifier;
  #discovery;
  #state = randomUUID();

  constructor(person, client, document) {
    this.#person = person;
    this.#client = client;
    this.clientMetadataUrl = document;
  }

  state = () => this.#state;
  clientInformation = () => this.#client;
  saveClientInformation = (client) => void (this.#client = client);
  tokens = () => this.#tokens;
  codeVerifier = () => this.#verifier;
  saveCodeVerifier = (verifier) => void (this.#verifier = verifier);
  discoveryState = () => this.#discovery;
  saveDiscoveryState = (state) => void (this.#discovery = state);

  saveTokens(tokens) {
    this.#tokens = tokens;
    // The SDK notes the issuer on what it has kept already; that is no new token.
    if (this.got.at(-1)?.access_token !== tokens.access_token) this.got.push(tokens);
  }

  /** As if the access token had ended: what is sent from now on is none. */
  spoilAccessToken() {
    this.#tokens = { ...this.#tokens, access_token: `${this.#tokens.access_token}-ended` };
  }

  async redirectToAuthorization(url) {
    check(!this.asked, 'one authorization request', String(url));
    this.asked = url.searchParams;
    this.answer = (await this.#person.visit(url)).searchParams;
  }
}

await main(async ([url, name, password, way, last]) => {
  const usage = `URL NAME PASSWORD ${WAYS.join('|')} [ISSUER|DOCUMENT_URL]`;
  check(WAYS.includes(way), usage, [url, name, way]);
  const [document, other] = way === 'document' ? [last, undefined] : [undefined, last];
  check(way !== 'document' || document, 'a URL of a document for `document`', null);

  const person = new PersonAtBrowser(name, password);
  // Whoever wrote the client down knows where; credentials are for one issuer.
  const issuer = other ?? new URL(url).origin;
  const registered = { client_id: REGISTERED, issuer };
  const provider = new Provider(person, way === 'registered' ? registered : undefined, document);
  const traffic = new Traffic();
  const session = await signedIn(url, provider, traffic);
  try {
    const tools = await session.tools();
    const tool = tools.find((one) => one.name === TOOL);
    check(tool, `a tool \`${TOOL}\``, tools.map((one) => one.name));
    checkEqual(tool.annotations?.readOnlyHint, true, `whether ${TOOL} only reads`);
    await session.read(TOOL, QUESTION);
    const metadata = checkDiscovery(traffic, url, way);
    checkEqual(metadata.issuer, issuer, 'the issuer that the gateway names');
    checkEqual(traffic.to(metadata.token_endpoint).length, 1, 'the number of token requests so far');

    // This SDK refreshes when it is refused, not by the clock.
    provider.spoilAccessToken();
    await session.read(TOOL, QUESTION);

    const { client_id: clientId } = provider.clientInformation();
    if (way === 'dynamic' && other) {
      check(clientId !== REGISTERED, 'a client id of its own', clientId);
    } else if (way === 'dynamic') {
      check(person.consent.includes(NAME), `a consent page that names ${NAME}`, person.consent);
    } else {
      checkEqual(clientId, document ?? REGISTERED, 'the client id');
    }
    checkAuthorization(provider, metadata, url, clientId);
    checkTokens(traffic.to(metadata.token_endpoint), provider, url);
    checkRefusals(traffic, url);
    return {
      client: 'typescript',
      registration: way,
      client_id: clientId,
      pages: person.titles,
      exchanges: traffic.exchanges.map(brief),
      scope: provider.got.at(-1).scope,
      tools: tools.length,
      calls: session.calls,
      refreshed: provider.got.length - 1,
    };
  } finally {
    await session.close();
  }
});

/** The first try to connect ends with the person's answer; the second one has tokens. */
async function signedIn(url, authProvider, { fetch }) {
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider, fetch });
  const noForm = async () => check(false, 'no question', 'a form');
  const first = transport();
  const refused = await connectBy(first, noForm).then(
    () => undefined,
    (error) => error,
  );
  for (let error = refused; !(error instanceof UnauthorizedError); error = error.cause) {
    if (!error) throw refused ?? new Error('expected to be asked to sign in; found a connection without tokens');
  }
  const { asked, answer } = authProvider;
  // The SDK leaves this to the program.
  checkEqual(answer.get('state'), asked.get('state'), '`state` of the answer');
  await first.finishAuth(answer);
  await first.close();
  return connectBy(transport(), noForm);
}

/** From the refusal to the first tokens. Returns the metadata of the authorization server. */
function checkDiscovery({ exchanges }, url, way) {
  const [refused, resource, server, ...rest] = exchanges;
  checkEqual([refused.method, refused.url, refused.status], ['POST', url, 401], 'the first exchange');
  checkEqual(refused.sent.get('authorization'), null, 'the token of the first request');
  const challenge = refused.headers.get('www-authenticate') ?? '';
  check(challenge.startsWith('Bearer ') && challenge.includes('scope='), 'a challenge with scopes', challenge);
  check(challenge.includes(`resource_metadata="${resource.url}"`), `a challenge that names ${resource.url}`, challenge);
  checkEqual(resource.answer.resource, url, 'the resource');
  const [issuer] = resource.answer.authorization_servers;
  checkEqual(server.url, `${issuer}/.well-known/oauth-authorization-server`, "where the server's metadata stand");
  const metadata = server.answer;
  checkEqual(metadata.issuer, issuer, 'the issuer');
  checkEqual(new URL(metadata.authorization_endpoint).origin, issuer, 'the origin of the pages');
  checkEqual(metadata.authorization_response_iss_parameter_supported, true, 'that answers name the issuer');
  const endpoints = [metadata.token_endpoint];
  if (way === 'dynamic') {
    endpoints.unshift(metadata.registration_endpoint);
    checkRegistration(rest[0]);
  }
  checkEqual(rest.slice(0, endpoints.length).map((exchange) => exchange.url), endpoints, 'what follows the discovery');
  return metadata;
}

function checkRegistration({ status, body, answer }) {
  checkEqual(status, 201, 'the status of the registration');
  checkEqual(JSON.parse(body).application_type, 'native', 'the kind of application');
  checkEqual(answer.token_endpoint_auth_method, 'none', 'how the client authenticates');
}

function checkAuthorization({ asked, answer }, metadata, url, clientId) {
  const wanted = { client_id: clientId, resource: url, redirect_uri: REDIRECT_URI, code_challenge_method: 'S256' };
  const found = Object.fromEntries(Object.keys(wanted).map((name) => [name, asked.get(name)]));
  checkEqual(found, wanted, 'what the authorization request says');
  checkEqual(answer.getAll('iss'), [metadata.issuer], '`iss` of the answer');
}

function checkTokens(requests, { got }, url) {
  const forms = requests.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  checkEqual(forms.map((form) => form.grant_type), ['authorization_code', 'refresh_token'], 'the grant types');
  checkEqual(forms.map((form) => form.resource), [url, url], '`resource` of the token requests');
  check(forms[0].code_verifier, 'a code verifier', Object.keys(forms[0]));
  for (const { headers } of requests) {
    checkEqual(headers.get('cache-control'), 'no-store', 'how tokens are kept');
  }
  checkEqual(got.length, 2, 'the number of times that tokens were got');
  const [first, second] = got;
  checkEqual(forms[1].refresh_token, first.refresh_token, 'the refresh token that was used');
  check(first.access_token !== second.access_token, 'another access token', 'the same');
  check(first.refresh_token !== second.refresh_token, 'another refresh token', 'the same');
  checkEqual(second.scope, first.scope, 'the scopes after the refresh');
}

/** The first request without a token, and the one with a token that has ended. */
function checkRefusals({ exchanges }, url) {
  const refusals = exchanges.filter(({ status }) => status >= 400);
  checkEqual(refusals.map((one) => [one.url, one.status]), [[url, 401], [url, 401]], 'the refusals');
  const challenge = refusals[1].headers.get('www-authenticate') ?? '';
  check(challenge.includes('error="invalid_token"'), 'a challenge that says that the token is not good', challenge);
}
