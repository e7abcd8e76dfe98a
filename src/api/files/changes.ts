/** What happened to files: pages from a cursor on, waiting for news, as server-sent events, as RSS. */
import { Elysia } from 'elysia';
import { type TSchema, Type } from '@sinclair/typebox';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import { requireKnownParameters } from '../../http/hooks/known-parameters.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { preferredType } from '../../http/reply/negotiate.ts';
import { bodyReply, jsonReply, type Reply } from '../../http/reply/reply.ts';
import {
  awaitFeed,
  feedEvents,
  feedPlace,
  feedScope,
  type FeedScope,
  latestChanges,
  type ShownEntry,
  subscribe,
} from '../../operations/files/changes.ts';
import { integerParameter } from '../../tables/read/list-parameters.ts';
import { datasetParameters } from './companions.ts';
import { requireRead } from './datasets.ts';

const JSON_TYPE = 'application/json';
const EVENT_STREAM = 'text/event-stream';
const RSS = 'application/rss+xml';
const PARAMETERS = ['since', 'wait', 'limit', 'people', 'format'];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_WAIT_SECONDS = 60;
const RSS_ITEMS = 50;

const changeModel = Type.Object(
  {
    cursor: Type.String({ description: 'To go on after this change' }),
    at: Type.String({ format: 'date-time' }),
    name: Type.String(),
    family: Type.String({ description: 'dataset, content or media' }),
    action: Type.String({
      description:
        'Of rows create, update, delete, upsert, batch, undo, recalculated; of files added, replaced, removed and what else was done to them',
    }),
    user: Type.Union([Type.String(), Type.Null()], { description: 'null: another program' }),
    count: Type.Integer({ description: 'Rows; 0: the whole file' }),
    row_ids: Type.Array(Type.Integer(), { description: 'At most 100 of them' }),
    rows: Type.Optional(
      Type.Array(
        Type.Object({
          _row_id: Type.Integer(),
          values: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
        }),
        { description: 'Of one dataset: changed cells as the change left them; null: deleted' },
      ),
    ),
  },
  { $id: 'FileChange' },
);
const pageModel = Type.Object(
  {
    changes: Type.Array(changeModel),
    cursor: Type.String({ description: '`since` of the next request' }),
  },
  { $id: 'FileChanges' },
);

const query = (name: string, description: string, schema: TSchema) =>
  ({ name, in: 'query', description, schema }) as const;
const parameters = [
  query(
    'since',
    'The `cursor` of the answer before; `0`: from the oldest change kept; absent: from now on',
    Type.String(),
  ),
  query('wait', 'Seconds to wait for a change', Type.Integer({ maximum: MAX_WAIT_SECONDS })),
  query('limit', `At most ${MAX_LIMIT}`, Type.Integer({ default: DEFAULT_LIMIT })),
  query('people', '1: the stream also tells who else looks at this dataset', Type.Integer()),
  query('format', 'In place of the `Accept` header', Type.String({ enum: ['json', 'sse', 'rss'] })),
];
const checks = { access: 'user', hasJsonErrors: true } as const satisfies RouteRules;
const describes = {
  summary: 'Follow changes of files',
  description:
    'In the order in which they became known, of what the caller may read now. As JSON, as `text/event-stream` (`Last-Event-ID` goes on) or the newest as RSS. Also at `/api/<dataset or folder>/changes` and `/api/changes`, unless a dataset has that name.',
  tag: 'system',
  parameters,
  answers: { 200: { description: 'The changes', schema: pageModel } },
  errors: [410, 422, 429],
} as const;

export const changesRoutes = new Elysia({ name: 'changes' })
  .use(lifecycle)
  .get('/_svc/changes', ({ ask }) => changesReply(ask, ''), { checks, describes })
  .get('/_svc/changes/*', ({ ask }) => changesReply(ask, ask.parameters['name'] ?? ''), {
    checks: { ...checks, rest: 'name' },
    describes: {
      ...describes,
      parameters: [...datasetParameters, ...parameters],
      errors: [404, 410, 422, 429],
    },
  });

/** `name`: of a dataset or file, of a folder, `''` for everything the caller may read. */
export async function changesReply(context: Context, name: string): Promise<Reply> {
  requireRead(context.method);
  requireKnownParameters(context, PARAMETERS);
  const { services, user: caller, request } = context;
  const { scope, folder } = await feedScope(services, caller, context.origin, name);
  const issues: ValidationIssue[] = [];
  const number = (one: string, min: number, max: number): number | null =>
    integerParameter(context.query, one, { min, max }, issues);
  const limit = number('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT;
  const waitMs = (number('wait', 0, MAX_WAIT_SECONDS) ?? 0) * 1000;
  const wantsPeople = number('people', 0, 1) === 1;
  const format = formatOf(context, issues);
  if (issues.length > 0) throw invalidRequest(...issues);
  if (format === RSS) return rssReply(context, scope, folder);
  const isAlive = (): Promise<boolean> => isStillAdmitted(context);
  const since = request.headers.get('last-event-id') ?? context.queryValue('since');
  const after = await feedPlace(services, since === '' ? null : since);
  const { signal } = request;
  if (format === JSON_TYPE) {
    const order = { after, limit, waitMs, signal, isAlive };
    const { changes, next } = await awaitFeed(services, caller, scope, order);
    const headers = { Vary: 'Accept', 'Cache-Control': 'no-store' };
    return jsonReply({ changes, cursor: services.feed.cursorOf(next) }, { headers });
  }
  const place = wantsPeople && 'resource' in scope ? scope.resource.canonical : null;
  const subscription = subscribe(services, caller, signal, place);
  const body = feedEvents(services, caller, scope, { after, subscription, isAlive });
  const headers = { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-store' };
  return bodyReply(body, EVENT_STREAM, { headers });
}

const FORMATS: Readonly<Record<string, string>> = { json: JSON_TYPE, sse: EVENT_STREAM, rss: RSS };

function formatOf(context: Context, issues: ValidationIssue[]): string {
  const asked = context.queryValue('format');
  if (asked === null) {
    const accept = context.request.headers.get('accept');
    return (accept && preferredType(accept, [JSON_TYPE, EVENT_STREAM, RSS])) ?? JSON_TYPE;
  }
  const format = FORMATS[asked];
  if (format !== undefined) return format;
  const msg = `Input should be one of ${Object.keys(FORMATS).join(', ')}`;
  issues.push({ type: 'enum', loc: ['query', 'format'], msg, input: asked });
  return JSON_TYPE;
}

/** RSS 2.0, the newest first. */
async function rssReply(context: Context, scope: FeedScope, folder: string): Promise<Reply> {
  const { services, user: caller } = context;
  const changes = await latestChanges(services, caller, scope, RSS_ITEMS);
  const title = folder === '' ? 'Changes' : `Changes in ${folder.replace(/\/$/, '')}`;
  const link = `${context.baseUrl}/`;
  const items = changes.map((change) => rssItem(change, context));
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>${Bun.escapeHTML(title)}</title><link>${Bun.escapeHTML(link)}</link><description>${Bun.escapeHTML(title)}</description>
${items.join('\n')}
</channel></rss>
`;
  return bodyReply(text, `${RSS}; charset=utf-8`, { headers: { Vary: 'Accept' } });
}

function rssItem(
  { cursor, at, name, action, user, count, family }: ShownEntry,
  context: Context,
): string {
  const what = count === 0 ? action : `${action} of ${count} ${count === 1 ? 'row' : 'rows'}`;
  const title = `${name}: ${what}${user === null ? '' : ` by ${user}`}`;
  const path = name.split('/').map(encodeURIComponent).join('/');
  const link = `${context.baseUrl}${family === 'dataset' ? `/ui/${path}/` : `/${path}`}`;
  return `<item><title>${Bun.escapeHTML(title)}</title><link>${Bun.escapeHTML(link)}</link><guid isPermaLink="false">${cursor}</guid><pubDate>${new Date(at).toUTCString()}</pubDate></item>`;
}
