import type { Client } from './service.ts';

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  /** JSON as its value, NDJSON and anything else as text, nothing as null. */
  readonly body: any;
}

/** One request and its whole answer. A text goes out as it is, any other body as JSON. */
export async function send(
  client: Client,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const response = await client.fetch(path, {
    method,
    headers: { ...(text !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(text !== undefined && { body: text }),
  });
  const raw = await response.text();
  const isJson = /^application\/(?:[\w.-]+\+)?json/.test(
    response.headers.get('content-type') ?? '',
  );
  return {
    status: response.status,
    headers: response.headers,
    body: raw === '' ? null : isJson ? JSON.parse(raw) : raw,
  };
}

/** The same without its headers, to compare the whole answer. */
export async function answered(
  ...request: Parameters<typeof send>
): Promise<Pick<Sent, 'status' | 'body'>> {
  const { status, body } = await send(...request);
  return { status, body };
}
