// The command line as a program of the person's, which has a browser opened.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

import { check, checkEqual } from '../../typescript/lib/check.mjs';

/** Runs commands for one person: where its gateway is, and where it keeps what it is given. */
export class Programs {
  #binary;
  #environment;
  #begun = [];

  constructor({ aldgate, url, admin, home }) {
    this.#binary = aldgate;
    // No browser is found: the one of the test is told the address.
    this.#environment = { XDG_STATE_HOME: home, ALDGATE_URL: url, ALDGATE_ADMIN_URL: admin, PATH: '/nonexistent' };
  }

  begin(...command) {
    const { HOME } = process.env;
    const options = { cwd: this.#environment.XDG_STATE_HOME, env: { HOME, ...this.#environment } };
    const child = spawn(this.#binary, command, options);
    this.#begun.push(child);
    return new Program(child);
  }

  /** Ends those that still wait for somebody. */
  end() {
    for (const child of this.#begun) child.kill();
  }

  /** What a command prints, as JSON. */
  async run(...command) {
    return this.begin(...command, '--json').answer();
  }

  /** What a command that is refused says. */
  async refused(...command) {
    return this.begin(...command).refusal();
  }
}

class Program {
  #told = '';
  #printed = '';
  #ended;

  constructor(child) {
    child.stdout.setEncoding('utf8').on('data', (text) => (this.#printed += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (this.#told += text));
    this.child = child;
    this.#ended = once(child, 'close').then(([code]) => code);
  }

  /** The page that it has somebody open. */
  async page() {
    for (;;) {
      const found = /^sign in: open (\S+)$/m.exec(this.#told);
      if (found) return found[1];
      const ended = await Promise.race([this.#ended, once(this.child.stderr, 'data').then(() => undefined)]);
      check(ended === undefined, 'a page to sign in at', this.#told);
    }
  }

  async answer() {
    checkEqual(await this.#ended, 0, `how a command ends that says \`${this.#told}\``);
    return JSON.parse(this.#printed);
  }

  async refusal() {
    check((await this.#ended) > 0, 'a command that is refused', this.#printed);
    return `${this.#told}${this.#printed}`;
  }
}
