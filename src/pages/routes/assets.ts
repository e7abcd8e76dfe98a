import { AppError } from '../../base/errors.ts';
import type { Asset } from '../assets.ts';
import { assetAt, assetNamed } from '../assets.ts';
import { IMMUTABLE, PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { bodyReply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route-table.ts';

export const assetRoutes: readonly Route[] = [
  {
    pattern: '/_svc/{name:rest}',
    access: 'public',
    ignoresCredentials: true,
    hasJsonErrors: true,
    methods: {
      GET: ({ parameters }) => {
        const asset = assetAt(`/_svc/${parameters['name']}`);
        if (asset === null) throw new AppError('not-found', 'Not Found');
        return assetReply(asset, IMMUTABLE);
      },
    },
  },
  {
    pattern: '/favicon.ico',
    access: 'public',
    ignoresCredentials: true,
    hasJsonErrors: true,
    // This name stays when the icon changes, so caches may not keep it for long.
    methods: { GET: () => assetReply(assetNamed('icon.svg'), PRIVATE) },
  },
];

function assetReply(asset: Asset, cacheControl: string): Reply {
  const headers = { 'Cache-Control': cacheControl };
  return bodyReply(asset.content, asset.type, { headers, etag: asset.hash });
}
