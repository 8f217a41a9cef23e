// A person at a browser decides what another one's program asks for: with a password and scripts off, with a passkey, and
// against it. The one who asks looks at how it stands. Every page is looked at.
//
// Usage: node decide.mjs '{"aldgate": BINARY, "url": URL, "admin": URL, "home": FOLDER, "asks": PERSON, "decides": PERSON}'
//
// PERSON is {"name", "password"}. FOLDER is what `aldgate login` of who asks was given; that person's password is good, the
// other one's is of `aldgate users add`. The gateway is known as `localhost`, which passkeys need.

import { check, checkEqual, main } from '../typescript/lib/check.mjs';
import { Device, withBrowser } from './lib/browser.mjs';
import { changePassword, getPasskey, NEW_PASSWORD, signIn, signInWithPasskey } from './lib/pages.mjs';
import { Programs } from './lib/program.mjs';

const LIST = 'What waits for a decision';
const ONE = 'May this be done?';
const LONGEST_MS = 30_000;

await main(async ([argument]) => {
  const { asks, decides, ...given } = JSON.parse(argument);
  const programs = new Programs(given);
  const { origin } = new URL(given.url);
  const here = (one) => one === origin;
  return withBrowser(async (browser) => {
    const plain = await Device.of(browser, here, { scripts: false });
    const modern = await Device.of(browser, here);
    await modern.withPasskeys();
    const caller = await Device.of(browser, here, { scripts: false });

    const first = programs.begin(...order('the first'), '--json');
    await plain.page.goto(`${origin}/approvals`);
    await signIn(plain, decides.name, decides.password);
    await changePassword(plain);
    await finds(plain, 'the first');
    await looksOnWhile(caller, plain.page.url(), asks, () => approves(plain));
    checkEqual((await first.answer()).isError, false, 'whether the call failed that was approved');

    await getPasskey(modern, origin, decides.name);
    const second = programs.begin(...order('the second'), '--json');
    await modern.page.goto(`${origin}/approvals`);
    await signInWithPasskey(modern);
    await finds(modern, 'the second');
    await modern.press('Approve with a passkey');
    await decided(modern, /approved it on/);
    checkEqual((await second.answer()).isError, false, 'whether the call failed that was approved');

    const third = programs.begin(...order('the third'));
    await modern.page.getByRole('link', { name: LIST }).click();
    await finds(modern, 'the third');
    const deny = modern.page.getByRole('form', { name: 'Deny' });
    await deny.getByLabel(/^Note/).fill('two are there');
    await modern.press('Deny with a passkey');
    await decided(modern, /denied it on/);
    const told = await third.refusal();
    check(told.includes('AG-APPROVAL-DENIED'), 'a program that is told of the refusal', told);
    return { client: 'chromium', plain: plain.titles, modern: modern.titles, caller: caller.titles };
  }).finally(() => programs.end());
});

/** An order, which needs a person. */
function order(justification) {
  const wanted = { ticket_id: 'SR-20031', part_no: 'AC250-TV-S1', quantity: 1, justification };
  return ['call', 'raise_parts_order', '--args', JSON.stringify(wanted)];
}

/** From the list to the one that waits. */
async function finds(device, justification) {
  const until = Date.now() + LONGEST_MS;
  await device.look(LIST);
  const link = device.page.getByRole('link', { name: 'parts/raise_parts_order' });
  while ((await link.count()) === 0) {
    check(Date.now() < until, 'an approval that waits', await device.page.innerText('main'));
    await device.page.reload();
  }
  await device.look(LIST);
  checkEqual(await link.count(), 1, 'the number of approvals that wait');
  await link.click();
  await device.look(ONE);
  const shown = await device.page.innerText('main');
  check(shown.includes(justification), `a page that shows \`${justification}\``, shown);
}

async function approves(device) {
  const form = device.page.getByRole('form', { name: 'Approve' });
  checkEqual(await device.page.getByRole('button', { name: /passkey/ }).count(), 0, 'the passkeys without scripts');
  await form.getByLabel('Your password').fill('not this one');
  await device.press('Approve');
  await device.says('alert', 'not right');
  await device.look(ONE);
  await form.getByLabel('Your password').fill(NEW_PASSWORD);
  await device.press('Approve');
  await decided(device, /approved it on/);
}

async function decided(device, told) {
  await device.page.getByText(told).waitFor();
  await device.look(ONE);
  checkEqual(await device.page.getByRole('form').count(), 0, 'the forms of what was decided');
}

/** Who asks sees on a page of their own that it waits, and then what came of it, without doing anything. */
async function looksOnWhile(device, url, { name, password }, done) {
  await device.page.goto(url.split('?')[0]);
  await signIn(device, name, password);
  await device.look('Your call waits for a person');
  checkEqual(await device.page.getByRole('form').count(), 0, 'the forms for who asks');
  await done();
  await device.page.getByRole('link', { name: 'See how it stands now' }).click();
  await device.page.getByText(/approved it on/).waitFor();
  await device.look('Your call');
}
