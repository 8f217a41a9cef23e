// One client of the official SDK, pinned to revision 2026-07-28.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { check, checkEqual } from './check.mjs';

export const REVISION = '2026-07-28';
const CALL_TIMEOUT_MS = 90_000;

/**
 * Connects. `onForm` gets the parameters of each form elicitation and returns the SDK's result for it.
 */
export async function connect(url, token, onForm) {
  const options = token ? { authProvider: { token: async () => token } } : {};
  return connectBy(new StreamableHTTPClientTransport(new URL(url), options), onForm);
}

/** As `connect`, by a transport that knows how to authenticate. */
export async function connectBy(transport, onForm) {
  const client = new Client(
    { name: 'aldgate-clients-typescript', version: '0.1.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: REVISION } },
      inputRequired: { maxRounds: 50 },
    },
  );
  client.setRequestHandler('elicitation/create', async (request) => onForm(request.params));
  await client.connect(transport);
  checkEqual(client.getNegotiatedProtocolVersion(), REVISION, 'the negotiated revision');
  return new Session(client);
}

class Session {
  calls = 0;
  #succeeded = new Map();

  constructor(client) {
    this.client = client;
  }

  serverName() {
    return this.client.getServerVersion()?.name;
  }

  async tools() {
    const { tools } = await this.client.listTools();
    return tools;
  }

  /** Any result, an error result included. */
  async call(name, args) {
    this.calls += 1;
    return this.client.callTool({ name, arguments: args }, { timeout: CALL_TIMEOUT_MS });
  }

  /** The structured content of a result that is no error. */
  async read(name, args) {
    const result = await this.call(name, args);
    check(result.isError !== true, `${name} to succeed`, result.content);
    check(
      typeof result.structuredContent === 'object' && result.structuredContent !== null,
      `${name} to give structured content`,
      result,
    );
    this.#succeeded.set(name, this.succeeded(name) + 1);
    return result.structuredContent;
  }

  /** How often a tool gave a result that is no error. */
  succeeded(name) {
    return this.#succeeded.get(name) ?? 0;
  }

  /** A result that must be an error result. */
  async fail(name, args) {
    const result = await this.call(name, args);
    checkEqual(result.isError, true, `isError of ${name} with ${JSON.stringify(args)}`);
    return result;
  }

  async close() {
    await this.client.close();
  }
}
