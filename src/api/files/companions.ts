import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../base/errors.ts';
import type { Verb } from '../../accounts/rights/principal.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { parseEntityTags } from '../../http/reply/negotiate.ts';
import { emptyReply, jsonReply, type Reply } from '../../http/reply/reply.ts';
import { readOnlyMode } from '../../http/route.ts';
import {
  type CompanionChange,
  type CompanionObject,
  type Companions,
  readCompanions,
  writeCompanions,
} from '../../operations/files/companions.ts';
import { findDataset } from '../../operations/files/datasets.ts';

const companion = (description: string) =>
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], { description });

const model = Type.Object(
  {
    options: companion('How the file is read: encoding, delimiter, header_row, range'),
    schema: companion('Types of columns'),
    problem: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the dataset cannot be read, or what of these is ignored',
    }),
  },
  { $id: 'Companions' },
);
const change = Type.Object(
  {
    options: Type.Optional(companion('Absent: stays; null: deleted')),
    schema: Type.Optional(companion('Absent: stays; null: deleted')),
  },
  { $id: 'CompanionChange' },
);
const answers = { 200: { description: 'As they are now, with an `ETag`', schema: model } };
export const datasetParameters = [
  {
    name: 'name',
    in: 'path',
    required: true,
    description: 'Name of the dataset',
    schema: Type.String(),
  },
] as const;
export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description: 'Refuse when they have changed since',
  schema: Type.String(),
} as const;

export const companionRoutes = new Elysia({ name: 'companions' })
  .use(lifecycle)
  .guard({
    checks: {
      access: 'user',
      rest: 'name',
      hasJsonErrors: true,
      decidesReadOnly: true,
    },
  })
  .get(
    '/_svc/companions/*',
    async ({ ask }) => {
      const resource = await datasetOf(ask, 'read');
      return reply(await readCompanions(ask.services, resource));
    },
    {
      describes: {
        summary: 'Read the companions of a dataset',
        tag: 'system',
        parameters: datasetParameters,
        answers,
        errors: [404],
      },
    },
  )
  .put(
    '/_svc/companions/*',
    async ({ ask }) => {
      const resource = await datasetOf(ask, 'write');
      return reply(await write(ask, resource, changeOf(await ask.json())));
    },
    {
      describes: {
        summary: 'Say how the file of a dataset is read',
        tag: 'system',
        parameters: [...datasetParameters, ifMatch],
        body: { schema: change, required: true },
        answers,
        errors: [404, 409, 412, 413, 422, 507],
      },
    },
  )
  .delete(
    '/_svc/companions/*',
    async ({ ask }) => {
      const resource = await datasetOf(ask, 'write');
      await write(ask, resource, { options: null, schema: null });
      return emptyReply(204);
    },
    {
      describes: {
        summary: 'Delete the companions of a dataset',
        tag: 'system',
        parameters: [...datasetParameters, ifMatch],
        answers: { 204: { description: 'There are none', schema: null } },
        errors: [404, 409, 412],
      },
    },
  );

async function datasetOf(context: Context, verb: Verb): Promise<Resource> {
  const { services, caller, origin, parameters: named } = context;
  const name = (named['name'] ?? '').replace(/\/$/, '');
  const resource = await findDataset(services, caller, origin, { name, verb });
  if (verb === 'write' && services.config.readonly) throw readOnlyMode();
  return resource;
}

function write(context: Context, resource: Resource, wanted: CompanionChange): Promise<Companions> {
  const { services, user, origin } = context;
  const actor = { user, origin, name: user.username };
  return writeCompanions(services, actor, resource, wanted, ifMatchOf(context));
}

/** Versions that may be changed; null: any. */
export function ifMatchOf({ request }: Context): string[] | null {
  const header = request.headers.get('if-match');
  if (header === null) return null;
  const tags = parseEntityTags(header);
  if (tags === '*') return ['*'];
  return tags.flatMap(({ value, isWeak }) => (isWeak || value === '*' ? [] : [value]));
}

function reply({ version, ...shown }: Companions): Reply {
  return jsonReply(shown, { etag: version });
}

function changeOf(body: unknown): CompanionChange {
  const members = objectAt(body, []);
  const taken: { options?: CompanionObject | null; schema?: CompanionObject | null } = {};
  for (const name of ['options', 'schema'] as const) {
    const value = members[name];
    if (value === undefined) continue;
    taken[name] = value === null ? null : objectAt(value, [name]);
  }
  return taken;
}

function objectAt(value: unknown, loc: readonly string[]): CompanionObject {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return value as CompanionObject;
  }
  throw invalidRequest({
    type: 'dict_type',
    loc: ['body', ...loc],
    msg: 'Input should be a valid object',
    input: value,
  });
}
