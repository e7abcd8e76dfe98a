/**
 * Cookies of an answer and a small browser that keeps them.
 */
import type { Client, Service } from '../support/service.ts';

/** A `Set-Cookie` taken apart. */
interface SentCookie {
  readonly name: string;
  readonly value: string;
  /** Everything after the value, in the order of the alphabet: theirs means nothing (RFC 6265, 5.2). */
  readonly attributes: string;
}

/** The cookies an answer sets, in order. */
export function cookiesOf(response: Response): SentCookie[] {
  return response.headers.getSetCookie().map((header) => {
    const [, name = '', value = '', attributes = ''] =
      /^([^=]+)=([^;]*)(?:; (.*))?$/.exec(header) ?? [];
    return { name, value, attributes: attributes.split('; ').sort().join('; ') };
  });
}

/** The value of a cookie an answer sets; null when it does not. */
export function cookieOf(response: Response, name: string): string | null {
  return cookiesOf(response).find((cookie) => cookie.name === name)?.value ?? null;
}

/** Keeps cookies and sends them back, with the CSRF token as its page would. */
export class Browser implements Client {
  readonly cookies = new Map<string, string>();
  readonly #service: Service;
  readonly #headers: Readonly<Record<string, string>>;

  /** `headers` go with every request. */
  constructor(service: Service, headers: Readonly<Record<string, string>> = {}) {
    this.#service = service;
    this.#headers = headers;
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(this.#headers);
    if (this.cookies.size > 0) {
      headers.set(
        'Cookie',
        [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      );
    }
    const csrf = this.cookies.get('svc_csrf');
    if (csrf !== undefined) headers.set('X-CSRF-Token', csrf);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    const response = await this.#service.fetch(path, { ...init, headers });
    for (const { name, value, attributes } of cookiesOf(response)) {
      if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Signs in with a JSON body. */
  signIn(username: string, password: string): Promise<Response> {
    const body = JSON.stringify({ username, password });
    return this.fetch('/auth/login', { method: 'POST', body });
  }
}
