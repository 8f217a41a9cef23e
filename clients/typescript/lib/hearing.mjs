// What a client hears while it listens.

import { check } from './check.mjs';

const PATIENCE_MS = 20_000;

const METHODS = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
];

export class Hearing {
  heard = [];
  #waiting = [];

  constructor(client) {
    for (const method of METHODS) {
      client.setNotificationHandler(method, ({ params }) => this.#hear(params?.uri ? `${method} ${params.uri}` : method));
    }
  }

  /** Waits until this was heard. */
  async of(what) {
    if (this.heard.includes(what)) {
      return;
    }
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`\`${what}\` was not heard in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    });
    const heard = new Promise((resolve) => this.#waiting.push({ what, resolve }));
    try {
      await Promise.race([heard, late]);
    } catch (error) {
      check(false, error.message, this.heard);
    } finally {
      clearTimeout(timer);
    }
  }

  #hear(what) {
    this.heard.push(what);
    for (const { resolve } of this.#waiting.filter((one) => one.what === what)) {
      resolve();
    }
  }
}
