/** Queries whose rows a page shows, as many as it has room for. */
import type { Config } from '../../config/settings.ts';
import { AppError } from '../../base/errors.ts';
import { parseJson } from '../../base/json/json.ts';
import type { Context } from '../../http/context.ts';
import type { ToldProblem } from '../../language/syntax/problem.ts';
import {
  readSearchRequest,
  readSqlRequest,
  type SearchRequest,
} from '../../operations/events/search-request.ts';
import { runSearch } from '../../operations/events/searches.ts';
import type { Format } from '../../tables/read/format.ts';
import type { Asked } from './explorer-state.ts';

/** The page is built in memory. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** A single row may be one large event. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;

export interface Ran {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly meta: {
    readonly count: number;
    readonly truncated: boolean;
    readonly elapsed_ms: number;
    readonly scanned: number;
    readonly notices: readonly string[];
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  };
}

/** Throws `too-large` for a row that no page can show. */
export async function run(
  context: Context,
  query: string,
  asked: Asked,
): Promise<Ran | ToldProblem> {
  const { services, user, origin, request } = context;
  const { max_rows: most } = services.config.events.search;
  for (let rows = Math.min(asked.limit, most); ; rows = Math.ceil(rows / 5)) {
    const order = orderOf(query, asked, 'json', services.config, rows);
    const result = await runSearch(services, user, origin, order, request.signal);
    if (result.kind === 'problem') return result.problem;
    try {
      const text = await boundedText(result.body, rows === 1 ? MAX_ROW_BYTES : MAX_SHOWN_BYTES);
      if (text !== null) return parseJson(text) as Ran;
    } finally {
      await result.leave();
    }
    if (rows === 1) throw new AppError('too-large', 'The answer is too large to be shown');
  }
}

async function boundedText(
  body: Uint8Array | ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

export function orderOf(
  query: string,
  { isSql, values, offset, timezone }: Asked,
  format: Format,
  config: Config,
  limit?: number,
): SearchRequest {
  const common = { timezone, ...(limit !== undefined && { limit }) };
  if (!isSql) return readSearchRequest({ query, ...common }, format, config);
  const params = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, numberOrText(value)]),
  );
  return readSqlRequest({ sql: query, params, offset, ...common }, format, config);
}

function numberOrText(typed: string): string | number {
  return String(Number(typed)) === typed ? Number(typed) : typed;
}
