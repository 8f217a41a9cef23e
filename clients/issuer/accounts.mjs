// An upstream's authorization server, `oidc-provider`, at which people have accounts of their own.
//
//   node accounts.mjs REDIRECT_URI RESOURCE LIFE
//
// Prints one line of JSON with the issuer and what the gateway is there, and serves until its standard input ends. Access
// tokens are good for LIFE seconds. A page asks who signs in (`?as=NAME`); a line `revoke NAME` on standard input takes back
// what that account has granted, and is repeated once that is done; a line `given` is answered with all tokens that were given.
// A second client, `machine`, acts for itself.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import process from 'node:process';

import * as jose from 'jose';
import Provider from 'oidc-provider';

// The server tells what it thinks of its configuration on stdout; that is for our one line.
console.info = console.error;

const SCOPE = 'parts:read';
const [redirect, resource, life] = process.argv.slice(2);
if (!life) throw new Error('usage: node accounts.mjs REDIRECT_URI RESOURCE LIFE');

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
const gateway = { client_id: 'gateway', client_secret: `canary-client-${randomBytes(16).toString('hex')}` };
const machine = { client_id: 'machine', client_secret: `canary-machine-${randomBytes(16).toString('hex')}` };
const given = [];
const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
const grants = new Map();
const provider = new Provider(issuer, {
  jwks: { keys: [{ ...(await jose.exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'key' }] },
  clients: [
    {
      ...gateway,
      application_type: 'native',
      redirect_uris: [redirect],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    },
    {
      ...machine,
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  cookies: { keys: [randomBytes(32).toString('hex')] },
  responseTypes: ['code'],
  scopes: [SCOPE],
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, asked) => {
        if (asked !== resource) throw new Error(`no resource ${asked}`);
        return {
          audience: asked,
          scope: SCOPE,
          accessTokenTTL: Number(life),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        };
      },
    },
  },
});
const serve = provider.callback();
server.on('request', (request, response) => {
  if (request.url === '/token') noted(response);
  if (!request.url.startsWith('/interaction/')) return serve(request, response);
  interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
});

/** Keeps the tokens of an answer, for whoever asks what was given. */
function noted(response) {
  const end = response.end.bind(response);
  response.end = (body, ...more) => {
    const { access_token, refresh_token } = JSON.parse(String(body ?? '{}'));
    given.push(...[access_token, refresh_token].filter(Boolean));
    return end(body, ...more);
  };
}

/** Whoever is named signs in and agrees to everything. */
async function interact(request, response) {
  const who = new URL(request.url, issuer).searchParams.get('as');
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    if (!who) return response.writeHead(200, { 'content-type': 'text/plain' }).end('who signs in?');
    return provider.interactionFinished(request, response, { login: { accountId: who } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addResourceScope(params.resource, params.scope);
  const consent = { grantId: await grant.save() };
  grants.set(session.accountId, consent.grantId);
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

console.log(JSON.stringify({ issuer, ...gateway, machine_secret: machine.client_secret }));

for await (const line of createInterface({ input: process.stdin })) {
  const [what, who] = line.split(' ');
  if (what === 'given') {
    console.log(JSON.stringify(given));
    continue;
  }
  if (what !== 'revoke' || !grants.has(who)) throw new Error(`what is \`${line}\`?`);
  await provider.RefreshToken.revokeByGrantId(grants.get(who));
  console.log(line);
}
process.exit(0);
