// A person at a browser, without the browser: signs in, changes a password that is good once, and consents.

import { check, checkEqual } from './check.mjs';
import { Page } from './page.mjs';

const MOST_STEPS = 16;
const TIMEOUT_MS = 30_000;
// The fields of the page to sign in. There a script may offer passkeys; no other page has one.
const SIGN_IN = ['name', 'password'];

/** Knows a name and a password, and goes nowhere but to the origin of the authorization URL. */
export class PersonAtBrowser {
  /** The titles of the pages that were seen. */
  titles = [];
  /** What the page said on which the person consented. */
  consent = '';
  #name;
  #password;
  #cookies = new Map();

  constructor(name, password) {
    this.#name = name;
    this.#password = password;
  }

  /** Allows what is asked for. Returns the URL that the browser is sent to at last: the program's, with the answer. */
  async visit(authorizationUrl) {
    const { origin, searchParams } = new URL(authorizationUrl);
    const redirectUri = searchParams.get('redirect_uri');
    let request = { url: String(authorizationUrl) };
    let afterForm = false;
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const response = await this.#send(request);
      let target = response.headers.get('location');
      if (response.status < 300 || response.status > 399) {
        const page = await Page.read(response);
        this.titles.push(page.title);
        checkEqual(response.status, 200, `the status of the page that says \`${page.text}\``);
        const scripted = page.forms.some((form) => form.has(...SIGN_IN));
        check(page.scripts.length === 0 || scripted, `a page without scripts, \`${page.title}\``, page.scripts);
        if (!page.refresh) {
          request = this.#answered(page, origin, redirectUri);
          afterForm = true;
          continue;
        }
        check(page.links.includes(page.refresh), 'a link to where the page goes on', page.links);
        target = page.refresh;
        afterForm = false;
      }
      check(target, 'a redirect to say where to', response.status);
      target = new URL(target, response.url);
      if (target.origin !== origin) {
        // A browser holds the redirects after a form to the page's `form-action`.
        check(!afterForm, 'a page between a form and another site', target);
        checkEqual(String(target).split('?')[0], redirectUri, 'where the answer goes');
        return target;
      }
      request = { url: String(target) };
    }
    return check(false, `an answer after ${MOST_STEPS} steps`, this.titles);
  }

  #answered(page, origin, redirectUri) {
    checkEqual(page.forms.length, 1, `the number of forms on the page that says \`${page.text}\``);
    const [form] = page.forms;
    const action = new URL(form.action, page.url);
    checkEqual([form.method, action.origin], ['post', origin], 'how and where a form is sent');
    return {
      url: String(action),
      method: 'POST',
      body: this.#filled(form, page, redirectUri),
      headers: { origin, referer: page.url, 'sec-fetch-site': 'same-origin' },
    };
  }

  #filled(form, page, redirectUri) {
    if (form.has(...SIGN_IN)) {
      return form.filled({ name: this.#name, password: this.#password });
    }
    if (form.has('new', 'repeated')) {
      this.#password = `${this.#password}-changed`;
      return form.filled({ new: this.#password, repeated: this.#password });
    }
    check(form.has('decision'), 'a form to sign in, to change the password or to consent', page.text);
    check(page.text.includes(redirectUri), `a page that says that the answer goes to ${redirectUri}`, page.text);
    this.consent = page.text;
    return form.filled({}, 'allow');
  }

  /** Sends a request with the cookies of the one origin that is gone to, and keeps those that come. */
  async #send({ url, headers, ...rest }) {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, {
      ...rest,
      headers: { ...headers, ...(cookie === '' ? {} : { cookie }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair, ...attributes] = set.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      const ended = attributes.some((attribute) => attribute.toLowerCase() === 'max-age=0');
      if (ended) this.#cookies.delete(name);
      else this.#cookies.set(name, pair.slice(name.length + 1));
    }
    return response;
  }
}
