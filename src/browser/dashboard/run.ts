/** Runs what panels show, a few at once, each for itself. Equal requests of one round are one. */
import type { DashboardPanel } from '../../docroot/dashboard.ts';
import { ask, askJson, posting, Refused } from '../shared/ask.ts';
import type { ChartData } from '../shared/chart/data.ts';
import { filledQuery, filledValue } from './filled.ts';
import type { Choices, PanelQuery, Place } from './state.ts';

export interface Result extends ChartData {
  readonly isCut: boolean;
  readonly notices: readonly string[];
  /** When the server ran it. */
  readonly at: Date;
}

/** What is sent; also for a download of the rows. */
export interface PanelRequest {
  readonly address: string;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** The server runs two searches of a user at once; one more is on its way. */
const AT_ONCE = 3;
const ROWS: Readonly<Record<string, number>> = { table: 100, events: 50, single: 1000 };
const CHART_ROWS = 5_000;
const PATIENCE_MS = 60_000;

export function requestOf(
  { panel, query }: Pick<Place, 'panel' | 'query'>,
  choices: Choices,
  maxAge: number,
): PanelRequest | null {
  if (query !== null && query.problem !== null) return null;
  if (panel.dataset !== undefined) return ofDataset(panel, choices);
  if (query === null) return null;
  const { form = 'table' } = panel;
  return {
    address: query.is_sql ? '/api/sql' : '/search2/api/run/',
    body: {
      ...textOf(query, panel, choices),
      limit: panel.limit ?? ROWS[form] ?? CHART_ROWS,
      timezone: choices.timezone,
      ...(!query.is_sql && { max_age: maxAge }),
    },
  };
}

/** The values are parameters, so that none of them can be taken for the language. */
function textOf(
  { query, rest, is_sql: isSql }: PanelQuery,
  panel: DashboardPanel,
  choices: Choices,
): Record<string, unknown> {
  const params: Record<string, string> = { ...choices.values };
  if (isSql) return { sql: query, params: ofStatement(query, params) };
  if (rest === null) return { query, params };
  const span = choices.spanFor(panel);
  const terms = (['earliest', 'latest'] as const).filter((name) => span[name] !== '');
  for (const name of terms) params[name] = span[name];
  const written = terms.map((name) => `${name}={${name}}`).join(' ');
  return { query: [query, written, rest].filter(Boolean).join(' '), params };
}

/** SQL refuses parameters that the statement does not have. */
function ofStatement(sql: string, values: Record<string, string>): Record<string, unknown> {
  const named = new Set([...sql.matchAll(/[:@$]([A-Za-z_]\w*)/g)].map(([, name]) => name));
  const own = Object.entries(values).filter(([name]) => named.has(name));
  // In SQL a text equals no number.
  const typed = (text: string): unknown => (String(Number(text)) === text ? Number(text) : text);
  return Object.fromEntries(own.map(([name, text]) => [name, typed(text)]));
}

function ofDataset(panel: DashboardPanel, { values }: Choices): PanelRequest {
  const { dataset = '', filter, sort, columns, limit, form = 'table' } = panel;
  const query = new URLSearchParams();
  if (filter !== undefined) query.set('filter', JSON.stringify(filledValue(filter, values)));
  if (sort !== undefined) query.set('sort', sort);
  if (columns !== undefined) query.set('columns', columns.join(','));
  query.set('limit', String(Math.min(1000, limit ?? ROWS[form] ?? CHART_ROWS)));
  const path = dataset.split('/').map(encodeURIComponent).join('/');
  return { address: `/api/${path}/?${query}`, body: null };
}

/** Where the explorer shows the same. */
export function explorerAddress(
  { panel, query }: Pick<Place, 'panel' | 'query'>,
  choices: Choices,
  narrowed: { readonly terms?: string; readonly span?: { earliest: string; latest: string } } = {},
): string | null {
  if (query === null || query.problem !== null || query.is_sql) return null;
  const head = filledQuery(query.query, choices.values);
  const rest = filledQuery(query.rest ?? '', choices.values);
  const { earliest, latest } = narrowed.span ?? choices.spanFor(panel);
  const q = narrowed.terms === undefined ? `${head} ${rest}` : `${head} ${narrowed.terms}`;
  const address = new URLSearchParams({
    q: q.trim(),
    earliest: query.rest === null ? '' : earliest,
  });
  if (query.rest !== null && latest !== '') address.set('latest', latest);
  if (choices.timezone !== 'UTC') address.set('timezone', choices.timezone);
  return `/events?${address}`;
}

interface Waiting {
  readonly request: PanelRequest;
  readonly signal: AbortSignal;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Runner {
  readonly #waiting: Waiting[] = [];
  readonly #shared = new Map<string, Promise<Result>>();
  #running = 0;

  /** Rejects with the server's reason, and when `signal` aborts. */
  run(request: PanelRequest, signal: AbortSignal): Promise<Result> {
    const key = JSON.stringify(request);
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const made = new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ request, signal, resolve, reject });
    });
    this.#shared.set(key, made);
    const forget = (): void => void this.#shared.delete(key);
    made.then(forget, forget);
    this.#next();
    return made;
  }

  #next(): void {
    while (this.#running < AT_ONCE) {
      const one = this.#waiting.shift();
      if (one === undefined) return;
      this.#running++;
      void answerOf(one.request, one.signal)
        .then(one.resolve, one.reject)
        .finally(() => {
          this.#running--;
          this.#next();
        });
    }
  }
}

interface RunAnswer {
  readonly rows: Result['rows'];
  readonly meta: {
    readonly truncated: boolean;
    readonly notices: readonly string[];
    readonly columns: Result['columns'];
  };
}

async function answerOf(request: PanelRequest, signal: AbortSignal): Promise<Result> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await once(request, signal);
    } catch (error) {
      // Other pages of this user are busy: this one comes after them.
      const isBusy = error instanceof Refused && error.status === 429;
      if (!isBusy || signal.aborted || performance.now() - startedAt > PATIENCE_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

async function once({ address, body }: PanelRequest, signal: AbortSignal): Promise<Result> {
  if (body !== null) {
    const answer = await ask(address, { ...posting(body), signal });
    const age = Number(answer.headers.get('age') ?? 0);
    const { rows, meta } = (await answer.json()) as RunAnswer;
    const { columns, truncated, notices } = meta;
    return { rows, columns, notices, isCut: truncated, at: new Date(Date.now() - age * 1000) };
  }
  const { pathname } = new URL(address, location.origin);
  const [rows, types] = await Promise.all([
    askJson<Result['rows']>(address, { signal }),
    typesOf(pathname.replace('/api/', '/schema/')),
  ]);
  const names = Object.keys(rows[0] ?? types).filter((name) => name !== '_row_id');
  return {
    rows,
    columns: names.map((name) => ({ name, type: types[name] ?? 'string' })),
    notices: [],
    isCut: false,
    at: new Date(),
  };
}

const schemas = new Map<string, Promise<Record<string, string>>>();

interface Schema {
  readonly columns: Readonly<Record<string, { readonly type: string; readonly format?: string }>>;
}

function typesOf(address: string): Promise<Record<string, string>> {
  const known = schemas.get(address);
  if (known !== undefined) return known;
  const asked = askJson<Schema>(address).then(({ columns }) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, { type, format }]) => [
        name,
        format === 'date' || format === 'date-time' ? 'time' : type,
      ]),
    ),
  );
  schemas.set(address, asked);
  asked.catch(() => schemas.delete(address));
  return asked;
}
