/** The search of an alert: with the rights that its owner has at that moment, in the workers, within the limits of searches. */
import type { App } from '../../app.ts';
import { type AlertDefinition, MAX_RESULT_ROWS } from '../../alerts/definition.ts';
import type { Perform, Performed } from '../../alerts/runner.ts';
import { durationMs } from '../../alerts/schedule.ts';
import { getUser, principalOf } from '../../accounts/identity/users.ts';
import {
  type Grants,
  grantsCover,
  grantsCoverEvents,
  grantsTouchEvents,
} from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { timestamp } from '../../base/clock.ts';
import { runForPerson } from '../../base/scheduling/current-person.ts';
import { findSavedSearch } from '../../events/saved-searches.ts';
import { timeFromMs } from '../../language/expressions/time.ts';
import type { ToldProblem } from '../../language/syntax/problem.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { withDefaultAccess } from '../events/event-access.ts';
import { readSearchRequest, readSqlRequest, type SearchRequest } from '../events/search-request.ts';
import { answerOf, checkSavedQuery, sourcesOf } from '../events/searches.ts';

/** Of all rows as JSON: they are taken apart in the server's own process. */
const MAX_RESULT_BYTES = 1024 * 1024;
const NO_OWNER = 'Its owner has no account any more';
const INACTIVE = 'The account of its owner is deactivated';
const NO_RIGHTS = 'Its owner may read no events';

/** For the runner. */
export function alertSearchOf(services: App): Perform {
  return async ({ ownerId, definition }, at, signal) => {
    const user = ownerId === null ? null : await getUser(services.db, ownerId);
    if (user === null) return { kind: 'no rights', text: NO_OWNER };
    if (!user.isActive) return { kind: 'no rights', text: INACTIVE };
    return searchAs(services, principalOf(user), definition, at, signal);
  };
}

/** Within the share of the caller, whoever asked. */
export async function searchAs(
  services: App,
  owner: Principal,
  definition: AlertDefinition,
  at: number,
  signal: AbortSignal,
): Promise<Performed> {
  return runForPerson(`user:${owner.userId}`, async (): Promise<Performed> => {
    const query = await queryOf(services, owner, definition);
    if (typeof query !== 'string') return query;
    const from = definition.window === undefined ? null : at - durationMs(definition.window)!;
    const request = requestOf(services, query, { from, at, definition });
    let found: Answered;
    try {
      found = await answerOf(services, owner, request, signal);
    } catch (error) {
      if (error instanceof AppError) return { kind: 'error', text: error.message };
      throw error;
    }
    const { answer, grants } = found;
    if (answer.kind === 'problem') return problemOf(found, answer.problem);
    const { body } = answer;
    const bytes = body instanceof Uint8Array ? body : await readBounded(body);
    if (bytes === null || bytes.byteLength > MAX_RESULT_BYTES)
      return {
        kind: 'error',
        text: `The rows have more than ${MAX_RESULT_BYTES / 1024} KiB; name the columns that matter (| table host count)`,
      };
    const { rows, meta } = JSON.parse(Buffer.from(bytes).toString()) as JsonAnswer;
    const denied = deniedBy(services, found, meta.notices);
    if (denied !== null) return { kind: 'no rights', text: denied };
    const columns = meta.columns.map(({ name }) => name);
    return {
      kind: 'result',
      result: { columns, rows, isCut: meta.truncated },
      query,
      from,
      to: from === null ? null : at,
      sources: async () => {
        const { indexes, datasets } = await sourcesOf(services, owner, request, found);
        return { indexes: indexes ?? readableNames(services, grants), datasets };
      },
    };
  });
}

type Answered = Awaited<ReturnType<typeof answerOf>>;

interface JsonAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly meta: {
    readonly truncated: boolean;
    readonly notices: readonly string[];
    readonly columns: readonly { readonly name: string }[];
  };
}

async function queryOf(
  { db }: App,
  owner: Principal,
  { query, savedsearch }: AlertDefinition,
): Promise<string | Performed> {
  if (savedsearch === undefined) return query!;
  const found = await findSavedSearch(db, owner.userId, savedsearch);
  switch (found.kind) {
    case 'found':
      return found.query;
    case 'missing':
      return {
        kind: 'error',
        text: `There is no saved search '${savedsearch}' that its owner sees`,
      };
    default:
      return {
        kind: 'error',
        text: `Several saved searches are called '${savedsearch}'; rename one`,
      };
  }
}

function requestOf(
  { config }: App,
  query: string,
  {
    from,
    at,
    definition: { timezone },
  }: {
    readonly from: number | null;
    readonly at: number;
    readonly definition: AlertDefinition;
  },
): SearchRequest {
  const limit = Math.min(MAX_RESULT_ROWS, config.events.search.max_rows);
  const body = { query, limit, timezone };
  const request = isSql(query)
    ? readSqlRequest({ sql: query, limit, timezone }, 'json', config)
    : readSearchRequest(body, 'json', config);
  return {
    ...request,
    now: timeFromMs(at)!,
    ...(from !== null && { within: { earliest: timestamp(from), latest: timestamp(at) } }),
  };
}

/** Null past the limit. */
async function readBounded(body: ReadableStream<Uint8Array>): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > MAX_RESULT_BYTES) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** What exists makes no difference, so that nobody learns it. */
function problemOf({ grants, found }: Answered, { error, code }: ToldProblem): Performed {
  if (code === 'no_permission') return { kind: 'no rights', text: error };
  for (const [name, order] of found.datasets) {
    if (order === null && !grantsCover(grants, [name], 'read'))
      return { kind: 'no rights', text: `Its owner may not read the dataset '${name}'` };
  }
  return { kind: 'error', text: error };
}

/** A search of indexes that may not be read finds nothing, which would look like silence. */
function deniedBy(
  services: App,
  { grants, found }: Answered,
  notices: readonly string[],
): string | null {
  const events = withDefaultAccess(services, grants);
  if (found.datasets.size === 0 && !grantsTouchEvents(events, 'read')) return NO_RIGHTS;
  for (const notice of notices) {
    const index = /^index '(.*)' is not readable or does not exist$/.exec(notice)?.[1];
    if (index !== undefined && !grantsCoverEvents(events, index, 'read'))
      return `Its owner may not read the index '${index}'`;
  }
  return null;
}

/** Those that the owner may read now. */
function readableNames(services: App, grants: Grants): string[] {
  const events = withDefaultAccess(services, grants);
  return services.events.indexNames().filter((name) => grantsCoverEvents(events, name, 'read'));
}

/** Why the query of a definition cannot run; null: it can. */
export async function queryProblem(
  services: App,
  owner: Principal,
  definition: AlertDefinition,
): Promise<{ readonly path: readonly string[]; readonly text: string } | null> {
  const path = [definition.query === undefined ? 'savedsearch' : 'query'];
  const query = await queryOf(services, owner, definition);
  if (typeof query !== 'string') return query.kind === 'error' ? { path, text: query.text } : null;
  const text = await checkSavedQuery(services, owner, { query, name: '' });
  return text === null ? null : { path, text };
}
