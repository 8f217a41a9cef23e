// An authorization server of somebody else, `oidc-provider`, on a port of its own, and the tokens that clients get from it.
//
//   node issuer.mjs JWT_RESOURCE OPAQUE_RESOURCE
//
// Prints one line of JSON with the issuer and the tokens, and serves until its standard input ends. A service asks by
// `client_credentials`, a person (`alice`) by the authorization code with PKCE; the proofs of possession are made by `jose`.
// Clients that find it sign in for whatever resource they name: those that register themselves, and `desk`.

import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import process from 'node:process';

import * as jose from 'jose';
import Provider from 'oidc-provider';

// The server tells what it thinks of its configuration on stdout; that is for our one line.
console.info = console.error;

const SCOPES = 'tools:read tools:write';
const CALLBACK = 'http://127.0.0.1/callback';
const AGENT = { id: 'agent', secret: 'agent-secret' };
const GATEWAY = { id: 'gateway', secret: 'gateway-secret' };

const [jwtResource, opaqueResource] = process.argv.slice(2);
if (!jwtResource || !opaqueResource) throw new Error('usage: node issuer.mjs JWT_RESOURCE OPAQUE_RESOURCE');

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, await configuration());
const serve = provider.callback();
server.on('request', (request, response) => {
  if (!request.url.startsWith('/interaction/')) return serve(request, response);
  interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
});

/** A signing key of each kind; the ES256 one signs access tokens. */
async function configuration() {
  const keys = ['ES256', 'RS256'].map(async (alg) => {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    return { ...(await jose.exportJWK(privateKey)), alg, use: 'sig', kid: `key-${alg}` };
  });
  const confidential = { redirect_uris: [], response_types: [], token_endpoint_auth_method: 'client_secret_basic' };
  const open = {
    application_type: 'native',
    redirect_uris: [CALLBACK],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return {
    jwks: { keys: await Promise.all(keys) },
    clients: [
      { ...confidential, client_id: AGENT.id, client_secret: AGENT.secret, grant_types: ['client_credentials'] },
      { ...confidential, client_id: GATEWAY.id, client_secret: GATEWAY.secret, grant_types: [] },
      { ...open, client_id: 'app', grant_types: ['authorization_code'] },
      { ...open, client_id: 'desk', grant_types: ['authorization_code', 'refresh_token'] },
    ],
    cookies: { keys: [randomBytes(32).toString('hex')] },
    responseTypes: ['code'],
    scopes: SCOPES.split(' '),
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    extraTokenClaims: () => ({ org: 'acme', realm: { groups: ['engineer', 'reader'] } }),
    rotateRefreshToken: true,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      registration: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === GATEWAY.id },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          audience: resource,
          scope: SCOPES,
          accessTokenTTL: 300,
          accessTokenFormat: resource === opaqueResource ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  };
}

/** Alice signs in and agrees to everything. */
async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'alice' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addResourceScope(params.resource, params.scope);
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

async function askToken(form, headers = {}) {
  const body = new URLSearchParams(form);
  const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body });
  const answer = await response.json();
  if (!response.ok) throw new Error(`no token: ${JSON.stringify(answer)}`);
  return answer;
}

function service(resource, headers) {
  const basic = Buffer.from(`${AGENT.id}:${AGENT.secret}`).toString('base64');
  const form = { grant_type: 'client_credentials', resource, scope: SCOPES };
  return askToken(form, { authorization: `Basic ${basic}`, ...headers });
}

async function person(resource) {
  const verifier = randomBytes(32).toString('base64url');
  const asked = new URLSearchParams({
    client_id: 'app',
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: SCOPES,
    resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const cookies = new Map();
  let next = `${issuer}/auth?${asked}`;
  for (let step = 0; !next.startsWith(CALLBACK); step += 1) {
    if (step === 12) throw new Error(`no end of redirects: ${next}`);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    if (!response.headers.has('location')) throw new Error(`no redirect: ${await response.text()}`);
    for (const set of response.headers.getSetCookie()) {
      const [pair] = set.split(';');
      const equals = pair.indexOf('=');
      cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    next = new URL(response.headers.get('location'), next).href;
  }
  const answer = new URL(next).searchParams;
  if (!answer.has('code')) throw new Error(`no code: ${answer}`);
  const form = { grant_type: 'authorization_code', client_id: 'app', redirect_uri: CALLBACK, resource };
  return askToken({ ...form, code: answer.get('code'), code_verifier: verifier });
}

const { privateKey, publicKey } = await jose.generateKeyPair('ES256');
const jwk = await jose.exportJWK(publicKey);

function proof(htm, htu, token) {
  const ath = token && createHash('sha256').update(token).digest('base64url');
  const claims = { htm, htu, jti: randomBytes(16).toString('hex'), ...(ath && { ath }) };
  return new jose.SignJWT(claims).setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk }).setIssuedAt().sign(privateKey);
}

const bound = await service(jwtResource, { dpop: await proof('POST', `${issuer}/token`) });
console.log(
  JSON.stringify({
    issuer,
    introspection: { endpoint: `${issuer}/token/introspection`, client_id: GATEWAY.id, secret: GATEWAY.secret },
    service: (await service(jwtResource)).access_token,
    person: (await person(jwtResource)).access_token,
    opaque: (await service(opaqueResource)).access_token,
    bound: bound.access_token,
    bound_type: bound.token_type,
    proof: await proof('POST', jwtResource, bound.access_token),
  }),
);

process.stdin.resume();
await once(process.stdin, 'end');
process.exit(0);
