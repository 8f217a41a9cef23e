// Reads and watches ticket SR-20031 through the gateway: resources, templates, the prompt, completion, a subscription.
// Usage: node watch-ticket.mjs URL AGENT_TOKEN

import { ProtocolError } from '@modelcontextprotocol/client';

import { check, checkEqual, main } from './lib/check.mjs';
import { connect } from './lib/connect.mjs';
import { Hearing } from './lib/hearing.mjs';

const TICKET = 'ticket://SR-20031';
const TEMPLATES = ['manual://{document}/{revision}/{page}', 'ticket://{ticket_id}'];
const NOTE = 'Seen by the TypeScript client that watches.';

await main(async ([url, token]) => {
  check(token, 'two arguments: URL AGENT_TOKEN', process.argv.slice(2));
  const session = await connect(url, token, async () => check(false, 'no question', 'a form'));
  const { client } = session;
  try {
    const resources = await listed(client);
    const { resourceTemplates } = await client.listResourceTemplates();
    checkEqual(resourceTemplates.map((template) => template.uriTemplate).sort(), TEMPLATES, 'the templates');
    const { prompts } = await client.listPrompts();
    checkEqual(prompts.map((prompt) => prompt.name), ['diagnose_fault'], 'the prompts');
    for (const { name, _meta } of [...resourceTemplates, ...prompts]) {
      const digest = _meta?.['io.github.aldgate/contract']?.digest;
      check(/^sha256:[0-9a-f]{64}$/.test(digest ?? ''), `${name} to carry its contract's digest`, _meta);
    }

    const ticket = JSON.parse(await text(client, TICKET));
    checkEqual(ticket, await session.read('get_ticket', { ticket_id: 'SR-20031' }), 'the ticket, read as a resource');
    const manual = await session.read('search_manual', {
      query: 'torque of the thermostatic valve cover',
      product_family: 'AC-250',
      k: 1,
    });
    const [passage] = manual.passages;
    const page = await text(client, `manual://${passage.document}/${passage.revision}/${passage.page}`);
    check(page.length > 0, 'a page of a manual with text', page);
    await unknown(client, 'ticket://SR-99999');
    await unknown(client, 'secret://SR-20031');

    const { messages } = await client.getPrompt({
      name: 'diagnose_fault',
      arguments: { model_variant: ticket.model_variant, symptom: ticket.symptom },
    });
    check(messages[0]?.content?.text?.includes(ticket.symptom), 'a prompt with the symptom', messages);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'diagnose_fault' },
      argument: { name: 'model_variant', value: 'AC-250' },
    });
    check(completion.values.includes('AC-250-S'), 'a completion with AC-250-S', completion);
    const documents = await client.complete({
      ref: { type: 'ref/resource', uri: TEMPLATES[0] },
      argument: { name: 'document', value: 'FM-' },
    });
    check(documents.completion.values.includes(passage.document), 'a completion of a template', documents);

    const wanted = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [TICKET],
    };
    const hearing = new Hearing(client);
    const subscription = await client.listen(wanted);
    checkEqual(subscription.honoredFilter, wanted, 'what is honoured');
    await session.read('post_ticket_update', { ticket_id: 'SR-20031', note: NOTE });
    await hearing.of(`notifications/resources/updated ${TICKET}`);
    const after = await text(client, TICKET);
    check(after.includes(NOTE), 'the note in the ticket, read anew', after);
    await subscription.close();
    checkEqual(await subscription.closed, 'local', 'how the subscription ended');
    return { client: 'typescript', resources: resources.length, heard: hearing.heard, calls: session.calls };
  } finally {
    await session.close();
  }
});

/** The URIs of the resources. A gateway that starts lists those of a server as soon as it has asked that server. */
async function listed(client) {
  for (let attempt = 0; ; attempt += 1) {
    const uris = (await client.listResources()).resources.map((resource) => resource.uri);
    if (uris.includes(TICKET)) {
      return uris;
    }
    check(attempt < 100, `${TICKET} to be listed`, uris);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The text of a resource that has one content. */
async function text(client, uri) {
  const { contents } = await client.readResource({ uri });
  checkEqual(contents.map((content) => content.uri), [uri], `the contents of ${uri}`);
  return contents[0].text;
}

async function unknown(client, uri) {
  try {
    await client.readResource({ uri });
  } catch (error) {
    check(error instanceof ProtocolError, 'a protocol error for an unknown resource', String(error));
    checkEqual([error.code, error.data?.uri], [-32602, uri], `the error for ${uri}`);
    return;
  }
  check(false, `${uri} not to be found`, 'a result');
}
