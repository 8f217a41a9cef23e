// Hears what the everything-server tells through the gateway: progress, and that lists and a resource have changed.
// Usage: node hear-everything.mjs URL TOKEN

import { check, checkEqual, main } from './lib/check.mjs';
import { connect } from './lib/connect.mjs';
import { Hearing } from './lib/hearing.mjs';

const WATCHED = 'test://watched-resource';
const CHANGES = [
  ['test_trigger_tool_change', ['notifications/tools/list_changed']],
  ['test_trigger_prompt_change', ['notifications/prompts/list_changed']],
  [
    'test_trigger_resource_change',
    ['notifications/resources/list_changed', `notifications/resources/updated ${WATCHED}`],
  ],
];

await main(async ([url, token]) => {
  check(token, 'two arguments: URL TOKEN', process.argv.slice(2));
  const session = await connect(url, token, async () => check(false, 'no question', 'a form'));
  const { client } = session;
  try {
    const progress = [];
    let over = false;
    const done = client.callTool({ name: 'test_tool_with_progress', arguments: {} }, {
      onprogress: ({ progress: at, total, message }) => progress.push({ at, total, message, over }),
    });
    await done.then(() => (over = true));
    checkEqual(
      progress,
      [
        { at: 0, total: 100, message: 'begun', over: false },
        { at: 50, total: 100, message: 'half done', over: false },
        { at: 100, total: 100, message: 'done', over: false },
      ],
      'the progress before the result',
    );

    const hearing = new Hearing(client);
    const subscription = await client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [WATCHED],
    });
    checkEqual(subscription.honoredFilter.resourceSubscriptions, [WATCHED], 'the resources that are honoured');
    for (const [tool, told] of CHANGES) {
      await session.call(tool, {});
      for (const what of told) {
        await hearing.of(what);
      }
    }
    await subscription.close();
    return { client: 'typescript', progress: progress.length, heard: hearing.heard };
  } finally {
    await session.close();
  }
});
