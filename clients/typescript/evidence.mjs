// Uses an evidence server, once by `server/discover` and once by `initialize`.
// Usage: node evidence.mjs TOOL CALL URL TOKEN
//        node evidence.mjs TOOL CALL --stdio COMMAND [ARGUMENT…]
// TOOL is a pinned tool, CALL the id of an audit artefact.

import { readFile } from 'node:fs/promises';

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { check, checkEqual, main } from './lib/check.mjs';

const CONTRACT = new URL('../../systems/evidence/contract.json', import.meta.url);
const ERAS = { '2026-07-28': { mode: { pin: '2026-07-28' } }, '2025-11-25': { mode: 'legacy' } };

await main(async ([tool, call, ...server]) => {
  check(server.length >= 2, 'TOOL CALL and a server', process.argv.slice(2));
  let calls = 0;
  for (const [revision, versionNegotiation] of Object.entries(ERAS)) {
    const client = new Client({ name: 'aldgate-clients-typescript', version: '0.1.0' }, { versionNegotiation });
    await client.connect(transport(server));
    try {
      checkEqual(client.getNegotiatedProtocolVersion(), revision, 'the negotiated revision');
      checkEqual(client.getServerVersion()?.name, 'aldgate.evidence', 'the name of the server');
      calls += await exercise(client, tool, call);
    } finally {
      await client.close();
    }
  }
  return { client: 'typescript', calls };
});

function transport([first, ...rest]) {
  if (first === '--stdio') {
    const [command, ...args] = rest;
    return new StdioClientTransport({ command, args });
  }
  return new StreamableHTTPClientTransport(new URL(first), { authProvider: { token: async () => rest[0] } });
}

async function exercise(client, tool, call) {
  const { tools } = await client.listTools();
  const agreed = JSON.parse(await readFile(CONTRACT, 'utf8')).tools;
  const words = ({ name, inputSchema, annotations }) => ({ name, inputSchema, annotations });
  checkEqual(tools.map(words), agreed.map(words), 'the tools');

  let calls = 0;
  // The SDK holds each structured result to the output schema that was listed.
  const value = async (name, args) => {
    calls += 1;
    const result = await client.callTool({ name, arguments: args });
    check(!result.isError, `${name} to succeed`, result);
    checkEqual(JSON.parse(result.content[0].text), result.structuredContent.result, `the text of ${name}`);
    return result.structuredContent.result;
  };
  const contract = await value('lookup_contract', { tool });
  check(contract?.schema?.type === 'object', `the contract of ${tool}`, contract);
  checkEqual(await value('lookup_contract', { tool: 'nobody/nothing' }), null, 'the contract of nothing');
  const events = await value('query_drift', { tool, limit: 100 });
  check(events.length > 0, `drift of ${tool}`, events);
  checkEqual(await value('query_drift', { tool: 'nobody/nothing' }), [], 'the drift of nothing');
  checkEqual((await value('fetch_audit', { id: call }))?.id, call, 'the artefact');
  checkEqual((await value('fetch_audit', { id: events[0].id }))?.kind, 'drift', 'the artefact of an event');
  checkEqual(await value('fetch_audit', { id: 'nothing' }), null, 'an artefact that there is not');
  checkEqual((await value('simulate_repair', { tool, args: {} })).dispatched, false, 'dispatched');
  const coverage = await value('coverage_report', { tools: [tool, 'nobody/nothing'] });
  checkEqual(coverage.status, 'unvalidated', 'the status of coverage');
  checkEqual(coverage.tools.map((one) => one.contract), [true, false], 'whether there is a contract');

  for (const [name, args] of [
    ['query_drift', { tool, limit: 0 }],
    ['lookup_contract', { tool: 'x'.repeat(257) }],
    ['fetch_audit', { id: call, tenant: 'another' }],
    ['nothing', {}],
  ]) {
    const refused = await client.callTool({ name, arguments: args }).then(
      (result) => result,
      (error) => error,
    );
    check(refused instanceof ProtocolError && refused.code === -32602, `-32602 for ${name}`, String(refused));
  }
  return calls;
}
