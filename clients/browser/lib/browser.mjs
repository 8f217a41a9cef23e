// A real browser, and what every page has to be that it shows.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

import axe from 'axe-core';
import { chromium } from 'playwright-core';

import { check, checkEqual } from '../../typescript/lib/check.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
// It runs as root too, shows only pages of a server on this machine, and has nothing to say to anybody else.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const TIMEOUT_MS = 20_000;
const LONGEST_MS = 120_000;

/** Runs something with a browser that nobody has used before. */
export async function withBrowser(run) {
  const late = () => {
    console.error(`expected to be done in ${LONGEST_MS} ms`);
    process.exit(1);
  };
  setTimeout(late, LONGEST_MS).unref();
  const browser = await chromium.launch({ executablePath: executable(), args: FLAGS });
  try {
    return await run(browser);
  } finally {
    await browser.close();
  }
}

function executable() {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const file of NAMES.map((name) => path.join(folder, name))) {
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Another one may be there.
      }
    }
  }
  return check(false, `${NAMES.join(', ')} in PATH (scripts/setup-tests.sh installs chromium)`, process.env.PATH);
}

/** One device of a person: its cookies, and one tab. */
export class Device {
  /** The titles of the pages that were looked at. */
  titles = [];
  #faults = [];
  #session;
  #scripts;

  /** `origins` are all that its pages may load something from, or lead to. */
  static async of(browser, origins, { scripts = true } = {}) {
    const device = new Device();
    device.context = await browser.newContext({ javaScriptEnabled: scripts });
    device.context.setDefaultTimeout(TIMEOUT_MS);
    device.page = await device.context.newPage();
    device.#session = await device.context.newCDPSession(device.page);
    device.#scripts = scripts;
    device.#hear(origins);
    return device;
  }

  #hear(origins) {
    const { page } = this;
    page.on('console', (message) => {
      // A page with a status of refusal is one that we look at, and no fault of loading.
      const refused = message.text().startsWith('Failed to load resource') && message.location().url === page.url();
      if (['error', 'warning'].includes(message.type()) && !refused) this.#faults.push(message.text());
    });
    page.on('pageerror', (error) => this.#faults.push(String(error)));
    page.on('requestfailed', (request) => this.#faults.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (!origins(origin)) this.#faults.push(`a request to ${origin}`);
    });
  }

  /** Makes passkeys without a person. */
  async withPasskeys() {
    await this.#session.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    };
    await this.#session.send('WebAuthn.addVirtualAuthenticator', { options });
  }

  /** Looks at the page with this heading: anybody can use it, and the browser finds nothing wrong with it. */
  async look(heading) {
    const { page } = this;
    const shown = page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await shown.catch(async () => check(false, `a page \`${heading}\``, [page.url(), await page.innerText('body')]));
    this.titles.push(await page.title());
    const { violations, passes } = await this.#examined();
    check(passes.length > 10, 'a page that axe examines', passes.length);
    const told = violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
    checkEqual(told, [], `what axe finds on \`${heading}\``);
    this.unfaulted(heading);
  }

  /** What axe finds. It needs scripts: where the page has none, it is given a copy. */
  async #examined() {
    const page = this.#scripts ? this.page : await this.#copy();
    await page.evaluate(axe.source);
    const found = await page.evaluate(() => globalThis.axe.run());
    if (!this.#scripts) await page.context().close();
    return found;
  }

  /** The page as it is shown, at the same address, without the scripts that it brings. */
  async #copy() {
    const body = await this.page.content();
    const copy = await this.context.browser().newPage();
    await copy.route('**/*.js*', (route) => route.abort());
    await copy.route(this.page.url(), (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
    await copy.goto(this.page.url());
    return copy;
  }

  /** Waits for the page of a program on this machine that had the browser opened. */
  async comesBack() {
    await this.page.waitForURL('http://127.0.0.1:*/callback*');
    await this.page.waitForLoadState();
    this.unfaulted('the page of the program');
  }

  unfaulted(what) {
    checkEqual(this.#faults, [], `what the browser finds wrong until \`${what}\``);
  }

  async fill(fields) {
    for (const [label, value] of Object.entries(fields)) {
      await this.page.getByLabel(label, { exact: true }).fill(value);
    }
  }

  async press(name) {
    await this.page.getByRole('button', { name, exact: true }).click();
  }

  async says(role, text) {
    await this.page.getByRole(role).filter({ hasText: text }).waitFor();
  }
}
