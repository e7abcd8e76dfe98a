import { Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import type { Asset } from './assets.ts';
import { assetAt, assetNamed } from './assets.ts';
import { IMMUTABLE, PRIVATE } from '../http/reply/headers.ts';
import type { Reply } from '../http/reply/reply.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { lifecycle } from '../http/lifecycle.ts';

export const assetRoutes = new Elysia({ name: 'assets' })
  .use(lifecycle)
  .get(
    '/_svc/*',
    ({ ask: { parameters } }) => {
      const asset = assetAt(`/_svc/${parameters['name']}`);
      if (asset === null) throw new AppError('not-found', 'Not Found');
      return assetReply(asset, IMMUTABLE);
    },
    { checks: { access: 'public', ignoresCredentials: true, hasJsonErrors: true, rest: 'name' } },
  )
  .get('/favicon.ico', () => assetReply(assetNamed('icon.svg'), PRIVATE), {
    checks: { access: 'public', ignoresCredentials: true, hasJsonErrors: true },
  });

function assetReply(asset: Asset, cacheControl: string): Reply {
  const headers = { 'Cache-Control': cacheControl };
  return bodyReply(asset.content, asset.type, { headers, etag: asset.hash });
}
