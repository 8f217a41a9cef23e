// The second person: decides through the gateway's admin API, with a token of their own.

import { check, checkEqual } from './check.mjs';

const PATIENCE_MS = 20_000;
const PAUSE_MS = 200;

export class Approver {
  decided = [];

  constructor(adminUrl, token) {
    this.adminUrl = adminUrl.replace(/\/+$/, '');
    this.token = token;
  }

  /** Approves the one pending call of `tool`. Waits a little: the question may come before the record is visible. */
  async approve(tool, note) {
    const until = Date.now() + PATIENCE_MS;
    let pending = await this.#pending(tool);
    while (pending.length === 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      pending = await this.#pending(tool);
    }
    checkEqual(pending.length, 1, `the number of pending approvals of ${tool}`);
    const [approval] = pending;
    await this.#request('POST', `/v1/approvals/${encodeURIComponent(approval.id)}/decision`, {
      decision: 'approve',
      note,
    });
    this.decided.push(approval.id);
  }

  async #pending(tool) {
    const found = await this.#request('GET', '/v1/approvals?state=pending');
    const approvals = Array.isArray(found) ? found : found.approvals;
    check(Array.isArray(approvals), 'a list of approvals', found);
    return approvals.filter((approval) => {
      check(typeof approval.id === 'string', 'each approval to have an id', approval);
      return typeof approval.tool !== 'string' || approval.tool === tool || approval.tool.endsWith(`/${tool}`);
    });
  }

  async #request(method, path, body) {
    const response = await fetch(`${this.adminUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    check(response.ok, `${method} ${path} to succeed`, { status: response.status, text });
    return text === '' ? {} : JSON.parse(text);
  }
}
