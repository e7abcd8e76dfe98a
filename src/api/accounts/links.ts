/** Links to read one thing or upload into one folder, of those who make them; those of all are below `/admin`. */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { LINK_KINDS } from '../../accounts/rights/links.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import {
  createLink,
  DEFAULT_DAYS,
  listLinks,
  type NewLinkView,
  revokeLink,
} from '../../operations/accounts/links.ts';
import { newPassword, nullable } from './account-models.ts';
import type { Context } from '../../http/context.ts';
import { linkBase } from '../../http/hooks/request-target.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { emptyReply, jsonReply } from '../../http/reply/reply.ts';

const time = (description: string) => Type.String({ format: 'date-time', description });
const kind = Type.Union(
  LINK_KINDS.map((word) => Type.Literal(word)),
  { description: 'What it allows', default: 'read' },
);
const resourceText = {
  description: 'A name as in an address, a folder and all in it as reports/*, everything as *',
  examples: ['reports/sales.csv'],
};
const viewMembers = {
  columns: Type.Array(Type.String(), { description: 'Names, in this order; none: all of today' }),
  filter: Type.String({ description: 'A filter as JSON text', default: '' }),
  sort: Type.String({ description: 'As the API takes it', default: '' }),
  q: Type.String({ description: 'Words that rows contain', default: '' }),
};

const linkMembers = {
  id: Type.Integer({ minimum: 1 }),
  username: Type.String({ description: 'Who made it; it shows no more than they may read' }),
  kind,
  resource: Type.String(resourceText),
  view: nullable(Type.Object(viewMembers, { description: 'Of a dataset: what it shows of it' })),
  description: nullable(Type.String()),
  has_password: Type.Boolean(),
  max_bytes: nullable(Type.Integer({ description: 'Of all uploads together' })),
  uploaded_bytes: Type.Integer({ minimum: 0 }),
  created_at: time('When it was made'),
  expires_at: time('When it ends'),
  revoked_at: nullable(time('When it was withdrawn')),
  uses: Type.Integer({ minimum: 0, description: 'How often it was opened' }),
  last_used_at: nullable(time('When it was opened last')),
};

export const linkModel = Type.Object(linkMembers, { $id: 'Link' });

const newLinkModel = Type.Object(
  { ...linkMembers, url: Type.String({ format: 'uri', description: 'Shown only now' }) },
  { $id: 'LinkCreated' },
);

const newLinkRequestModel = Type.Object(
  {
    resource: Type.String(resourceText),
    kind: Type.Optional(kind),
    columns: Type.Optional(
      Type.Union([viewMembers.columns, Type.String({ description: 'As the API takes them' })]),
    ),
    filter: Type.Optional(viewMembers.filter),
    sort: Type.Optional(viewMembers.sort),
    q: Type.Optional(viewMembers.q),
    expires_at: Type.Optional(
      nullable(Type.String({ description: 'A moment, or the last day as 2026-12-31 (UTC)' })),
    ),
    expires_in_days: Type.Optional(nullable(Type.Integer({ minimum: 1, default: DEFAULT_DAYS }))),
    password: Type.Optional(nullable(newPassword)),
    description: Type.Optional(
      nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARACTERS, description: 'For whom' })),
    ),
    max_bytes: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of all uploads; sharing.max_upload_bytes' }),
    ),
  },
  { $id: 'NewLink' },
);

export function withUrl({ secret, ...link }: NewLinkView, context: Context) {
  return { ...link, url: `${context.baseUrl}${linkBase(secret)}/` };
}

export const linkRoutes = new Elysia({ name: 'links', prefix: '/auth/links' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', refusesScopedKeys: true, hasJsonErrors: true } })
  .get('', async ({ ask: { services, user } }) => jsonReply(await listLinks(services, user)), {
    describes: {
      summary: 'List the links you made',
      tag: 'auth',
      answers: {
        200: {
          description: 'Newest first; those that are over too',
          schema: Type.Array(linkModel),
        },
      },
      errors: [403],
    },
  })
  .post(
    '',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      const link = await createLink(services, user, origin, await ask.json());
      return jsonReply(withUrl(link, ask), { status: 201 });
    },
    {
      describes: {
        summary: 'Make a link',
        tag: 'auth',
        body: { schema: newLinkRequestModel, required: true },
        answers: {
          201: { description: 'The only time its address is shown', schema: newLinkModel },
        },
        errors: [400, 403, 404, 422],
      },
    },
  )
  .delete(
    '/:link_id',
    async ({ ask }) => {
      const { services, user, origin } = ask;
      await revokeLink(services, user, origin, ask.intParameter('link_id'));
      return emptyReply();
    },
    {
      describes: {
        summary: 'Withdraw a link you made',
        tag: 'auth',
        answers: { 204: { description: 'It opens nothing any more', schema: null } },
        errors: [404, 422],
      },
    },
  );
