// What an HTTP client asked, and what it was answered.

/** Notes each exchange, those of the authentication included. */
export class Traffic {
  exchanges = [];

  fetch = async (url, init) => {
    const response = await fetch(url, init);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    this.exchanges.push({
      method: init?.method ?? 'GET',
      url: String(url),
      sent: new Headers(init?.headers),
      body: init?.body === undefined ? '' : String(init.body),
      status: response.status,
      headers: response.headers,
      /** The JSON of a short answer. */
      answer: isJson ? await response.clone().json() : undefined,
    });
    return response;
  };

  to(url) {
    return this.exchanges.filter((exchange) => exchange.url === url);
  }
}

/** An exchange in one line. */
export function brief({ method, url, status }) {
  return `${method} ${new URL(url).pathname} ${status}`;
}
