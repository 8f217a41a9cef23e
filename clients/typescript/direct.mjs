// Uses one of the three field-service servers without a gateway.
// Usage: node direct.mjs URL [TOKEN]

import { readFile } from 'node:fs/promises';

import { ProtocolError } from '@modelcontextprotocol/client';

import { check, checkEqual, main } from './lib/check.mjs';
import { connect } from './lib/connect.mjs';
import { Person } from './lib/person.mjs';

const CONTRACTS = new URL('../../systems/field-service/contracts.json', import.meta.url);

/** What each server must do, by the name that it gives itself. */
const EXERCISES = {
  'atlas.field-service.tickets': tickets,
  'atlas.field-service.parts': parts,
  'atlas.field-service.manuals': manuals,
};

await main(async ([url, token]) => {
  check(url, 'one or two arguments: URL [TOKEN]', process.argv.slice(2));
  const person = new Person();
  const session = await connect(url, token, (form) => person.answer(form));
  try {
    const name = session.serverName();
    const exercise = EXERCISES[name];
    check(exercise, `a server of ${Object.keys(EXERCISES).join(', ')}`, name);
    checkEqual(await session.tools(), await contracts(name), `the tools of ${name}`);
    await exercise(session, person);
    await unknownTool(session);
    return { client: 'typescript', server: name, calls: session.calls, elicitations: person.asked };
  } finally {
    await session.close();
  }
});

/** The wire contracts: without our own keys, and an empty `annotations` is left out. */
async function contracts(name) {
  const { servers } = JSON.parse(await readFile(CONTRACTS, 'utf8'));
  const { tools } = servers.find((server) => server.server === name);
  return tools.map((tool) =>
    Object.fromEntries(
      Object.entries(tool).filter(
        ([key, value]) => !key.startsWith('_') && !(key === 'annotations' && Object.keys(value).length === 0),
      ),
    ),
  );
}

async function tickets(session) {
  const ticket = await session.read('get_ticket', { ticket_id: 'SR-20031' });
  checkEqual(ticket.ticket_id, 'SR-20031', 'the ticket');
  const found = await session.read('search_tickets', { model_variant: 'AC-250-S', symptom: ticket.symptom, limit: 5 });
  check(found.tickets.length > 0 && found.tickets.length <= 5, 'one to five closed tickets', found.count);
  checkEqual(found.count, found.tickets.length, 'the count');
  await session.read('post_ticket_update', { ticket_id: 'SR-20031', note: 'Seen by the TypeScript client.' });
  await session.fail('get_ticket', { ticket_id: 'SR-99999' });
  await session.fail('search_tickets', { model_variant: 'AC-250-S', limit: 26 });
}

async function parts(session, person) {
  const variant = 'AC-250-S';
  const found = await session.read('find_part', { model_variant: variant, category: 'thermostatic-valve' });
  check(found.parts.length > 0, `a valve for ${variant}`, found);
  const [part] = found.parts;
  const stock = await session.read('check_availability', { part_no: part.part_no });
  checkEqual(stock.part_no, part.part_no, 'the part');
  await session.fail('check_availability', { part_no: 'NO-SUCH-PART' });

  const order = { part_no: part.part_no, quantity: 1, ticket_id: 'SR-20031', justification: 'direct client test' };
  person.answers = [{ decision: 'deny', approver: 'Ada Byron', note: 'not now' }];
  await session.fail('raise_parts_order', order);
  checkEqual(person.asked, 1, 'the number of questions before the denial');

  // A blank name is asked again; the second answer counts.
  person.answers = [
    { decision: 'approve', approver: '   ', note: '' },
    { decision: 'approve', approver: 'Ada Byron', note: 'go on' },
  ];
  const ordered = await session.read('raise_parts_order', order);
  checkEqual(person.asked, 3, 'the number of questions');
  check(JSON.stringify(ordered).includes('Ada Byron'), 'the order to name its approver', ordered);
}

async function manuals(session) {
  const found = await session.read('search_manual', {
    query: 'torque of the thermostatic valve cover',
    product_family: 'AC-250',
    variant: 'S',
    k: 3,
  });
  check(typeof found.backend === 'string' && found.backend.length > 0, 'the name of the search engine', found.backend);
  check(found.passages.length > 0 && found.passages.length <= 3, 'one to three passages', found.passages.length);
  for (const passage of found.passages) {
    check(passage.document && passage.revision && passage.page, 'document, revision and page', passage);
  }
  await session.fail('search_manual', { query: 'x', k: 11 });
}

async function unknownTool(session) {
  try {
    await session.call('no_such_tool', {});
  } catch (error) {
    check(error instanceof ProtocolError, 'a protocol error for an unknown tool', String(error));
    checkEqual(error.code, -32602, 'the code for an unknown tool');
    return;
  }
  check(false, 'an unknown tool to be refused', 'a result');
}
