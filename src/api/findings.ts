/** What alerts found, and the deliveries that told of it. */
import { Elysia } from 'elysia';
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { invalidRequest, type ValidationIssue } from '../base/errors.ts';
import { unknownKey } from '../config/nearest-name.ts';
import { deliveryList } from '../deliveries/queue.ts';
import { SEVERITIES, STATUSES } from '../findings/finding.ts';
import { FINDING_SORTS } from '../findings/store.ts';
import type { Context } from '../http/context.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { jsonReply, type Reply } from '../http/reply/reply.ts';
import { deleteDelivery, listDeliveries, sendDeliveryAgain } from '../operations/deliveries.ts';
import {
  findingHistory,
  type FindingChangeRequest,
  type FindingFilter,
  getFinding,
  listFindings,
  MAX_CHANGED_FINDINGS,
  MAX_NOTES,
  severitiesOf,
  statusesOf,
  updateFindings,
} from '../operations/findings.ts';
import { describeChange, describeList, queryParameter } from './admin/descriptions.ts';
import { adminChecks, answersDone, answersList, listReply } from './admin/handlers.ts';
import { nullable } from './accounts/account-models.ts';

const words = (values: readonly string[]) => Type.Union(values.map((one) => Type.Literal(one)));
const time = (description: string) => Type.String({ format: 'date-time', description });

const lineMembers = {
  id: Type.Integer(),
  alert_id: Type.String(),
  alert: Type.String({ description: 'Name of the alert when it last fired' }),
  alert_source: Type.String({ description: 'File that defines it; empty: kept by the server' }),
  key: Type.String({ description: 'What it is about; empty: everything' }),
  severity: words(SEVERITIES),
  severity_rank: Type.Integer({ minimum: 0, maximum: SEVERITIES.length - 1 }),
  status: words(STATUSES),
  is_open: Type.Boolean(),
  owner: nullable(Type.String({ description: 'Name of the user who works on it' })),
  notes: Type.String(),
  first_seen: time('When it fired first'),
  last_seen: time('When it fired last'),
  closed_at: nullable(time('When it was resolved or found to be a false alarm')),
  count: Type.Integer({ description: 'How often it fired while it was open' }),
  row_count: Type.Integer({ description: 'Rows of the last time' }),
  version: Type.Integer({ description: 'Grows with each change by a person' }),
};
const lineModel = Type.Object(lineMembers, { $id: 'FindingLine' });
const model = Type.Object(
  {
    ...lineMembers,
    query: Type.String({ description: 'As it was the last time' }),
    from: nullable(time('Start of the time it looked at')),
    to: nullable(time('Its end')),
    columns: Type.Array(Type.String()),
    rows: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'The first of the rows that caused it',
    }),
    links: Type.Object({ finding: Type.String(), events: Type.String(), query: Type.String() }),
  },
  { $id: 'Finding' },
);
const entryModel = Type.Object(
  {
    at: time('When'),
    user: nullable(Type.String({ description: 'Null: the alert itself, or the command line' })),
    action: Type.String(),
    details: nullable(Type.String()),
  },
  { $id: 'FindingEntry' },
);
const changeMembers = {
  status: Type.Optional(words(STATUSES)),
  severity: Type.Optional(words(SEVERITIES)),
  owner: Type.Optional(nullable(Type.String({ description: 'Name of a user; null: nobody' }))),
  notes: Type.Optional(Type.String({ maxLength: MAX_NOTES })),
};
const strict = { additionalProperties: false } as const;
const changeModel = Type.Object(changeMembers, { ...strict, $id: 'FindingChange' });
const bulkModel = Type.Object(
  {
    ids: Type.Array(Type.Integer(), { minItems: 1, maxItems: MAX_CHANGED_FINDINGS }),
    ...changeMembers,
  },
  { ...strict, $id: 'FindingsChange' },
);
const deliveryModel = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.String({ description: 'alert, or change' }),
    subject: Type.String({ description: 'Id of the alert, or path of the file' }),
    finding_id: nullable(Type.Integer()),
    owner_id: nullable(Type.Integer({ description: 'User with whose rights it is written' })),
    channel: Type.String({ description: 'webhook, email, index or dataset' }),
    receiver: Type.String({ description: 'Host, target, addresses, index or dataset' }),
    state: Type.String({ description: 'waiting, sent or dead' }),
    attempts: Type.Integer(),
    next_at: nullable(time('When it is tried again')),
    last_error: nullable(Type.String()),
    created_at: time('When it was queued'),
    done_at: nullable(time('When it was sent or given up')),
  },
  { $id: 'QueuedDelivery' },
);

const list = describeList(
  'List what alerts found',
  lineModel,
  { sortable: FINDING_SORTS, order: 'asc' },
  [
    queryParameter('status', `Of ${STATUSES.join(', ')} or open; several with commas`),
    queryParameter('severity', `Of ${SEVERITIES.join(', ')}; several with commas`),
    queryParameter('owner', 'Name of the user who works on it; empty: nobody'),
    queryParameter('alert', 'Id of the alert'),
    queryParameter('search', 'Words that alert, key or notes hold'),
  ],
);
const one = { 200: { description: 'The finding', schema: model } };

const reading = { access: 'user', hasJsonErrors: true } as const;
/** What is learnt of a finding is no change of the published folder. */
const changing = { ...reading, isExemptFromReadOnly: true } as const;

export const findingRoutes = new Elysia({ name: 'findings' })
  .use(lifecycle)
  .get(
    '/api/findings',
    async ({ ask }) =>
      listReply(
        ask,
        await listFindings(ask.services, ask.user, { query: ask.query }, filterOf(ask)),
      ),
    { checks: reading, describes: { ...list, tag: 'findings' } },
  )
  .patch(
    '/api/findings',
    async ({ ask }) => {
      const { ids, ...change } = checked<FindingChangeRequest & { ids: number[] }>(
        bulkModel,
        await ask.json(),
      );
      const { services, user, origin } = ask;
      return jsonReply(await updateFindings(services, user, origin, ids, change));
    },
    {
      checks: changing,
      describes: {
        summary: 'Change several findings',
        description: 'All of them or none.',
        tag: 'findings',
        body: { schema: bulkModel, required: true },
        answers: { 200: { description: 'As they are now', schema: Type.Array(model) } },
        errors: [400, 403, 404, 409, 422],
      },
    },
  )
  .get(
    '/api/findings/:id',
    async ({ ask }) => shown(await getFinding(ask.services, ask.user, ask.intParameter('id'))),
    {
      checks: reading,
      describes: { summary: 'Read a finding', tag: 'findings', answers: one, errors: [404] },
    },
  )
  .patch(
    '/api/findings/:id',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      const change = checked<FindingChangeRequest>(changeModel, await ask.json());
      const id = ask.intParameter('id');
      const version = versionOf(ask.request.headers.get('if-match'));
      const [changed] = await updateFindings(services, user, origin, [id], change, version);
      return shown(changed!);
    },
    {
      checks: changing,
      describes: {
        summary: 'Change a finding',
        description: 'With `If-Match` only the version it names.',
        tag: 'findings',
        body: { schema: changeModel, required: true },
        answers: one,
        errors: [400, 403, 404, 409, 412, 422],
      },
    },
  )
  .get(
    '/api/findings/:id/history',
    async ({ ask }) =>
      jsonReply(await findingHistory(ask.services, ask.user, ask.intParameter('id'))),
    {
      checks: reading,
      describes: {
        summary: 'See what was done with a finding',
        tag: 'findings',
        answers: { 200: { description: 'Newest first', schema: Type.Array(entryModel) } },
        errors: [404],
      },
    },
  )
  .get('/admin/deliveries', answersList(listDeliveries), {
    checks: adminChecks,
    describes: describeList('List deliveries, newest first', deliveryModel, deliveryList),
  })
  .post('/admin/deliveries/:delivery_id/send', answersDone(sendDeliveryAgain, 'delivery_id'), {
    checks: adminChecks,
    describes: describeChange('Send a delivery again that was given up', [404, 409, 422]),
  })
  .delete('/admin/deliveries/:delivery_id', answersDone(deleteDelivery, 'delivery_id'), {
    checks: adminChecks,
    describes: describeChange('Delete a delivery that is sent or given up', [404, 409, 422]),
  });

function filterOf(context: Context): FindingFilter {
  const of = (name: string): string | null => context.queryValue(name);
  const [status, severity, owner, alert, search] = [
    'status',
    'severity',
    'owner',
    'alert',
    'search',
  ].map(of);
  return {
    ...(status && { statuses: statusesOf(status) }),
    ...(severity && { severities: severitiesOf(severity) }),
    ...(typeof owner === 'string' && { owner }),
    ...(alert && { alert }),
    ...(search && { search }),
  };
}

function shown(finding: { readonly version: number }): Reply {
  return jsonReply(finding, { headers: { ETag: `"${finding.version}"` } });
}

/** Null without a condition. A tag that is none of ours matches nothing. */
function versionOf(ifMatch: string | null): number | null {
  if (ifMatch === null || ifMatch.trim() === '*') return null;
  return Number(/^\s*"(\d{1,15})"\s*$/.exec(ifMatch)?.[1] ?? -1);
}

function checked<T>(schema: TSchema & { properties: object }, body: unknown): T {
  const issues = new Map<string, ValidationIssue>();
  for (const { path, message } of Value.Errors(schema, body)) {
    const names = path.split('/').slice(1);
    if (issues.has(path)) continue;
    const known = new Set(Object.keys(schema.properties));
    const name = names[0] ?? '';
    const msg = name !== '' && !known.has(name) ? unknownKey(name, known) : message;
    const loc = ['body', ...names.map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
    issues.set(path, { type: 'value_error', loc, msg });
  }
  if (issues.size > 0) throw invalidRequest(...issues.values());
  return body as T;
}
