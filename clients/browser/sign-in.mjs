// A person at a browser: signs in without scripts, changes a password that is good once, lets a program do less than it asks,
// gets a passkey, signs in with it, and signs out everywhere. Every page is looked at.
//
// Usage: node sign-in.mjs '{"aldgate": BINARY, "url": URL, "admin": URL, "home": FOLDER, "name": NAME, "password": PASSWORD}'
//
// The person may grant `tools:read` and `tools:write`, and the password is one of `aldgate users add`. The gateway is known as
// `localhost`, which passkeys need.

import { check, checkEqual, main } from '../typescript/lib/check.mjs';
import { Device, withBrowser } from './lib/browser.mjs';
import { changePassword, getPasskey, signIn, signInWithPasskey } from './lib/pages.mjs';
import { Programs } from './lib/program.mjs';

const LOOK = ['call', 'get_ticket', '--args', '{"ticket_id": "SR-20031"}'];
const NOTE = ['call', 'post_ticket_update', '--args', '{"ticket_id": "SR-20031", "note": "looked at it"}'];
const CONSENT = 'May this program act for you?';
const LONGEST_MS = 30_000;

await main(async ([argument]) => {
  const given = JSON.parse(argument);
  const programs = new Programs(given);
  const { origin } = new URL(given.url);
  // Programs listen on this machine, where the browser comes back to them.
  const origins = (one) => one === origin || one.startsWith('http://127.0.0.1:');
  const titles = await withBrowser(async (browser) => {
    const plain = await Device.of(browser, origins, { scripts: false });
    await signsInWithoutScripts(plain, programs, given);
    const modern = await Device.of(browser, origins);
    await modern.withPasskeys();
    await getPasskey(modern, origin, given.name);
    await signsInWithPasskey(modern, programs);
    await saysNo(modern, programs);
    await signsOutEverywhere(modern, programs, origin);
    return { plain: plain.titles, modern: modern.titles };
  }).finally(() => programs.end());
  return { client: 'chromium', ...titles };
});

async function signsInWithoutScripts(device, programs, { name, password }) {
  const login = programs.begin('login', '--json');
  await device.page.goto(await login.page());
  await signIn(device, name, 'not this one');
  await device.says('alert', 'not right');
  checkEqual(await device.page.getByRole('button', { name: /passkey/ }).count(), 0, 'the passkeys without scripts');
  await signIn(device, name, password);
  await changePassword(device);
  await device.look(CONSENT);
  await device.page.getByRole('checkbox', { name: /tools:write/ }).uncheck();
  await device.press('Allow');
  checkEqual((await login.answer()).scope, 'tools:read', 'what was allowed');
  await device.comesBack();
  await programs.run(...LOOK);
  const told = await programs.refused(...NOTE);
  check(told.includes('tools:write'), 'a refusal for want of `tools:write`', told);
}

async function signsInWithPasskey(device, programs) {
  const login = programs.begin('login', '--json');
  await device.page.goto(await login.page());
  await signInWithPasskey(device);
  await device.look(CONSENT);
  await device.press('Allow');
  checkEqual((await login.answer()).scope, 'tools:read tools:write', 'what was allowed');
  await device.comesBack();
  await programs.run(...NOTE);
}

async function saysNo(device, programs) {
  const login = programs.begin('login', '--json');
  await device.page.goto(await login.page());
  await signInWithPasskey(device);
  await device.look(CONSENT);
  await device.press('Deny');
  const told = await login.refusal();
  check(told.includes('access_denied'), 'a program that is told of the refusal', told);
  await device.comesBack();
}

async function signsOutEverywhere(device, programs, origin) {
  await device.page.goto(`${origin}/account`);
  await signInWithPasskey(device);
  await device.look('Your account');
  await device.press('Sign out everywhere');
  await device.look('You are signed out');
  const until = Date.now() + LONGEST_MS;
  for (;;) {
    const look = programs.begin(...LOOK);
    const told = await look.refusal().catch(() => undefined);
    if (told !== undefined) return check(told.includes('aldgate login'), 'to be told to sign in again', told);
    check(Date.now() < until, 'a token that is good no more', 'one that is still taken');
  }
}
