// One page as a browser reads it, and what each page must be on which people type passwords.

import { check, checkEqual } from './check.mjs';

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
// Everything that may begin with `<` in the pages read here. What fits none of these is not read past.
const MARKUP = /<!doctype html>|<!--.*?-->|<\/([a-z][a-z0-9]*)\s*>|<([a-z][a-z0-9-]*)((?:\s+[^\s"'<>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*)\s*\/?>/giy;
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

/** A page that was read, as a browser shows it that runs no scripts. */
export class Page {
  title = '';
  text = '';
  forms = [];
  links = [];
  scripts = [];
  /** Where the page goes on by itself. */
  refresh = undefined;
  #controls = [];
  #labels = [];
  #ids = [];

  static async read(response) {
    const page = new Page(response.url, await response.text());
    page.#checkHeaders(response.headers);
    return page;
  }

  constructor(url, html) {
    this.url = url;
    const open = {};
    for (const piece of pieces(url, html)) {
      if (piece.text !== undefined) {
        if (open.title) this.title += piece.text;
        else if (open.script) check(piece.text.trim() === '', `${url} without scripts of its own text`, piece.text);
        else this.text += ` ${piece.text}`;
        if (open.label) open.label.text += piece.text;
      } else if (piece.end) {
        open[piece.end] = undefined;
      } else {
        this.#element(piece.start, piece.attributes, open);
      }
    }
    this.text = this.text.replace(/\s+/g, ' ').trim();
    this.forms = this.forms.filter((form) => !form.hidden);
    this.#checkControls();
  }

  #element(tag, attributes, open) {
    const handlers = Object.keys(attributes).filter((name) => name.startsWith('on'));
    check(handlers.length === 0, `${this.url} without handlers of events`, { tag, handlers });
    if (attributes.id) this.#ids.push(attributes.id);
    if (tag === 'form') {
      open.form = new Form(attributes, this.url);
      this.forms.push(open.form);
    } else if (tag === 'label') {
      open.label = { of: attributes.for, text: '' };
      this.#labels.push(open.label);
    } else if (['input', 'select', 'textarea', 'button'].includes(tag)) {
      const control = new Control(tag, attributes, open.label);
      this.#controls.push(control);
      open.form?.controls.push(control);
    } else if (tag === 'a' && attributes.href) {
      this.links.push(attributes.href);
    } else if (tag === 'meta' && attributes['http-equiv']?.toLowerCase() === 'refresh') {
      const at = /^\s*0\s*;\s*url=(.+)$/i.exec(attributes.content ?? '');
      check(at, `${this.url} to go on at once`, attributes);
      this.refresh = at[1].trim();
    } else if (tag === 'script') {
      open.script = true;
      this.scripts.push(attributes.src ?? '');
    } else if (tag === 'title') {
      open.title = true;
    }
  }

  #checkControls() {
    checkEqual(new Set(this.#ids).size, this.#ids.length, `the number of ids of ${this.url} that differ`);
    const named = this.#labels.filter((label) => label.text.trim() !== '');
    for (const control of this.#controls.filter((one) => one.isTypedOrTicked())) {
      const bound = named.some((label) => label === control.label || (label.of && label.of === control.attributes.id));
      check(bound, `${this.url} with a label for each input`, control);
    }
  }

  #checkHeaders(headers) {
    const { url, scripts } = this;
    const all = Object.fromEntries(headers);
    check(all['content-type']?.startsWith('text/html'), `${url} to be a page`, all);
    check(all['cache-control']?.split(', ').includes('no-store'), `${url} to be kept by no cache`, all);
    const policy = new Map();
    for (const directive of (all['content-security-policy'] ?? '').split(';')) {
      const [name, ...sources] = directive.trim().split(/\s+/);
      if (!policy.has(name)) policy.set(name, sources);
    }
    for (const name of ['frame-ancestors', 'default-src', 'base-uri']) {
      checkEqual(policy.get(name), ["'none'"], `\`${name}\` of the policy of ${url}`);
    }
    check(scripts.every((from) => /^\/(?!\/)/.test(from)), `${url} with scripts of its own server alone`, scripts);
    const ruled = [...policy].filter(([name]) => name.startsWith('script-src'));
    const expected = scripts.length > 0 ? [['script-src', ["'self'"]]] : [];
    checkEqual(ruled, expected, `what the policy of ${url} says of scripts`);
  }
}

class Form {
  controls = [];

  constructor(attributes, url) {
    this.method = (attributes.method ?? 'get').toLowerCase();
    this.action = attributes.action ?? url;
    /** It waits for a script to show it. */
    this.hidden = 'hidden' in attributes;
  }

  has(...names) {
    return names.every((name) => this.controls.some((control) => control.name === name));
  }

  /** What a browser sends: all as it stands but for what is typed, and the button that is pressed. */
  filled(typed, pressed) {
    check(this.has(...Object.keys(typed)), `a form with ${Object.keys(typed)}`, this.controls);
    const sent = {};
    for (const control of this.controls.filter((one) => one.isSent(pressed))) sent[control.name] = control.value;
    check(!pressed || Object.values(sent).includes(pressed), `a button \`${pressed}\``, this.controls);
    return new URLSearchParams({ ...sent, ...typed });
  }
}

/** An input, a list or a button of a form. */
class Control {
  constructor(tag, attributes, label) {
    this.attributes = attributes;
    this.label = label;
    this.name = attributes.name;
    this.kind = attributes.type ?? { button: 'submit', input: 'text' }[tag] ?? tag;
    this.value = attributes.value ?? (this.#isBox() ? 'on' : '');
  }

  /** Whether a person fills it in, so that it needs a label. */
  isTypedOrTicked() {
    return !('hidden' in this.attributes) && !['hidden', 'submit', 'button', 'reset', 'image'].includes(this.kind);
  }

  isSent(pressed) {
    if (!this.name) return false;
    if (this.kind === 'submit') return pressed !== undefined && this.value === pressed;
    return !this.#isBox() || 'checked' in this.attributes;
  }

  #isBox() {
    return ['checkbox', 'radio'].includes(this.kind);
  }
}

/** Texts, and elements where they begin and where they end. */
function* pieces(url, html) {
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf('<', at);
    const text = html.slice(at, next < 0 ? html.length : next);
    if (text !== '') yield { text: decoded(text) };
    if (next < 0) return;
    MARKUP.lastIndex = next;
    const found = MARKUP.exec(html);
    check(found, `${url} in plain HTML`, html.slice(next, next + 80));
    at = MARKUP.lastIndex;
    const [, end, start, attributes] = found;
    if (end) yield { end: end.toLowerCase() };
    if (start) yield { start: start.toLowerCase(), attributes: attributesOf(attributes) };
  }
}

function attributesOf(text) {
  const all = {};
  for (const [, name, ...values] of text.matchAll(ATTRIBUTE)) {
    all[name.toLowerCase()] ??= decoded(values.find((value) => value !== undefined) ?? '');
  }
  return all;
}

function decoded(text) {
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number.parseInt(decimal, 10));
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    check(name in ENTITIES, 'an entity that is read here', whole);
    return ENTITIES[name];
  });
}
