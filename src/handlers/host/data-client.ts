/**
 * `import { data } from 'svc'` in a handler: this server's API in the name of whoever called the handler.
 *
 * The server lets the token in only while the call lasts.
 */

type Row = Readonly<Record<string, unknown>>;

/** As the parameters of the API; a filter is an object. */
interface RowsWish {
  readonly filter?: object;
  readonly q?: string;
  readonly sort?: string;
  readonly order?: 'asc' | 'desc';
  readonly columns?: readonly string[];
  readonly limit?: number;
  readonly offset?: number;
}

/** An answer of 400 and above; a route that does not catch it answers the same. */
class DataError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** As the API said it. */
    readonly detail: unknown,
  ) {
    super(message);
  }
}

export function data(caller: Request | Headers) {
  const given = caller instanceof Request ? caller.headers : caller;
  const [token, socket] = [given.get('x-svc-token'), given.get('x-svc-socket')];
  if (token === null || socket === null) {
    throw new TypeError('data() takes the request of the handler');
  }
  // A header has bytes.
  const unix = Buffer.from(socket, 'latin1').toString();
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    const options = { redirect: 'manual', ...init, headers, unix } as const;
    return fetch(`http://localhost${path}`, options);
  };
  const json = async (path: string, init?: RequestInit): Promise<unknown> => {
    const response = await ask(path, init);
    const body: unknown = await response.json();
    if (response.ok) return body;
    const { detail } = body as { detail?: unknown };
    const text = typeof detail === 'string' ? detail : JSON.stringify(detail ?? body);
    throw new DataError(response.status, text, detail ?? body);
  };
  const addressOf = (name: string): string =>
    `/api/${name.split('/').map(encodeURIComponent).join('/')}/`;
  const change = (name: string, method: string, action: string, value: unknown) =>
    json(addressOf(name), {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ action, data: value }),
    });
  return {
    /** Any route; no error for any status. */
    fetch: ask,
    rows: (name: string, wish: RowsWish = {}) =>
      json(`${addressOf(name)}?${parametersOf(wish)}`) as Promise<Row[]>,
    create: (name: string, rows: Row | readonly Row[]) =>
      change(name, 'POST', 'create', [rows].flat()),
    update: (name: string, row: Row) => change(name, 'PATCH', 'update', row),
    remove: (name: string, rowId: number) => change(name, 'DELETE', 'delete', { _row_id: rowId }),
    /** In the search language. */
    query: (query: string) =>
      json('/search2/api/run/', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ query }),
      }) as Promise<{ readonly rows: Row[]; readonly meta: Row }>,
  };
}

function parametersOf({ filter, columns, ...others }: RowsWish): URLSearchParams {
  const query = new URLSearchParams();
  if (filter !== undefined) query.set('filter', JSON.stringify(filter));
  if (columns !== undefined) query.set('columns', columns.map(quoted).join(','));
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}

function quoted(column: string): string {
  return `"${column.replaceAll('"', '""')}"`;
}
