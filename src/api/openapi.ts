import { Elysia } from 'elysia';
import { invalidRequest } from '../base/errors.ts';
import type { Context } from '../http/context.ts';
import { PRIVATE } from '../http/reply/headers.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { describeApi } from './openapi/api-description.ts';
import { lifecycle } from '../http/lifecycle.ts';
import { TYPE_NAMES } from './kind-names.ts';
import { OPERATION_TAGS } from '../http/operation-description.ts';

const TAGS: readonly string[] = [...OPERATION_TAGS, ...Object.keys(TYPE_NAMES)];

export const openApiRoute = new Elysia({ name: 'openapi' }).use(lifecycle).get(
  '/openapi.json',
  async ({ ask }) => {
    const { services, caller } = ask;
    const { pieces, etag } = await describeApi(services, caller, tagsOf(ask));
    const body = pieces.length === 1 ? pieces[0]! : streamOf(pieces);
    return bodyReply(body, 'application/json', { etag });
  },
  { checks: { access: 'public', hasJsonErrors: true, cacheControl: PRIVATE } },
);

/** Null: all. Throws `invalid-request`. */
function tagsOf(context: Context): readonly string[] | null {
  const input = context.queryValue('tag');
  if (input === null || input === '') return null;
  const tags = input.split(',').map((tag) => tag.trim());
  if (tags.every((tag) => TAGS.includes(tag))) return tags;
  const expected = TAGS.join(', ');
  const msg = `This parameter is one or several, with commas between them, of ${expected}`;
  throw invalidRequest({ type: 'enum', loc: ['query', 'tag'], msg, input, ctx: { expected } });
}

async function* streamOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
