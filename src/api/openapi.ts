import { Elysia } from 'elysia';
import { PRIVATE } from '../http/reply/headers.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { describeApi } from './openapi/api-description.ts';
import { lifecycle } from '../http/lifecycle.ts';

export const openApiRoute = new Elysia({ name: 'openapi' }).use(lifecycle).get(
  '/openapi.json',
  async ({ ask: { services, caller } }) => {
    const { pieces, etag } = await describeApi(services, caller);
    const body = pieces.length === 1 ? pieces[0]! : streamOf(pieces);
    return bodyReply(body, 'application/json', { etag });
  },
  { checks: { access: 'public', hasJsonErrors: true, cacheControl: PRIVATE } },
);

async function* streamOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
