// Works ticket SR-20031 through the gateway, from symptom to order and note.
// Usage: node work-ticket.mjs URL AGENT_TOKEN APPROVER_TOKEN ADMIN_URL

import { Approver } from './lib/approver.mjs';
import { check, checkEqual, main } from './lib/check.mjs';
import { connect } from './lib/connect.mjs';
import { diagnose } from './lib/diagnose.mjs';
import { fill } from './lib/form.mjs';

const TICKET = 'SR-20031';
const LISTED = [
  'check_availability',
  'find_part',
  'get_ticket',
  'post_ticket_update',
  'raise_parts_order',
  'search_manual',
  'search_tickets',
];

await main(async ([url, agentToken, approverToken, adminUrl]) => {
  check(adminUrl, 'four arguments: URL AGENT_TOKEN APPROVER_TOKEN ADMIN_URL', process.argv.slice(2));
  const approver = new Approver(adminUrl, approverToken);
  let elicitations = 0;
  const session = await connect(url, agentToken, async (form) => {
    elicitations += 1;
    check(form.message.length > 0, 'a form with a message', form);
    // The decision is made elsewhere, once; a form that comes again is accepted to go on waiting.
    if (approver.decided.length === 0) {
      await approver.approve('raise_parts_order', 'approved by the TypeScript client test');
    }
    return fill(form.requestedSchema, {});
  });
  try {
    const tools = await session.tools();
    checkEqual(tools.map((tool) => tool.name).sort(), LISTED, 'the listed tools');
    for (const tool of tools) {
      const digest = tool._meta?.['io.github.aldgate/contract']?.digest;
      check(/^sha256:[0-9a-f]{64}$/.test(digest ?? ''), `${tool.name} to carry its contract's digest`, tool._meta);
    }
    const ticket = await session.read('get_ticket', { ticket_id: TICKET });
    checkEqual(ticket.ticket_id, TICKET, 'the ticket');
    checkEqual(ticket.status, 'open', 'the status of the ticket');
    const history = await session.read('search_tickets', {
      model_variant: ticket.model_variant,
      symptom: ticket.symptom,
      limit: 10,
    });
    const diagnosis = diagnose(history.tickets);
    const catalogue = await session.read('find_part', {
      model_variant: ticket.model_variant,
      category: diagnosis.category,
    });
    const part = catalogue.parts.find((found) => found.part_no === diagnosis.partNo);
    check(part, `the part fitted before, ${diagnosis.partNo}, in the catalogue`, catalogue.parts);
    const stock = await session.read('check_availability', { part_no: part.part_no });
    const [family, variant] = ticket.model_variant.split(/-(?=[ABS]$)/);
    const manual = await session.read('search_manual', {
      query: `${diagnosis.category.replaceAll('-', ' ')} replacement and torque`,
      product_family: family,
      variant,
    });
    const [passage] = manual.passages;
    check(passage?.document && passage.revision && passage.page, 'a passage with its source', passage);

    const order = await session.read('raise_parts_order', {
      part_no: part.part_no,
      quantity: 1,
      ticket_id: TICKET,
      justification: `${diagnosis.faultCode} as in ${diagnosis.sources.slice(0, 3).join(', ')}`,
    });
    check(elicitations > 0, 'the order to ask by elicitation', elicitations);
    checkEqual(approver.decided.length, 1, 'the number of decisions');

    await session.read('post_ticket_update', {
      ticket_id: TICKET,
      note:
        `Diagnosis ${diagnosis.faultCode} (${diagnosis.sources.slice(0, 5).join(', ')}). ${part.part_no} ordered, ` +
        `stock ${stock.stock}. Procedure: ${passage.document}, rev. ${passage.revision}, p. ${passage.page}.`,
    });

    const refused = await session.fail('export_service_records', {
      recipient: 'records@example.org',
      model_variant: ticket.model_variant,
    });
    const refusal = refused._meta?.['io.github.aldgate/refusal'];
    check(/^AG-/.test(refusal?.code ?? ''), 'the export to be refused with a code', refused);
    return {
      client: 'typescript',
      tools: tools.length,
      calls: session.calls,
      elicitations,
      approvals: approver.decided.length,
      orders: session.succeeded('raise_parts_order'),
      notes: session.succeeded('post_ticket_update'),
      exports: session.succeeded('export_service_records'),
      refusal: refusal.code,
      fault_code: diagnosis.faultCode,
      part_no: part.part_no,
      order,
    };
  } finally {
    await session.close();
  }
});
