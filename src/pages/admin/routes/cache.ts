import { AppError } from '../../../base/errors.ts';
import { clearCache, deleteCacheEntry, listCache } from '../../../operations/cache.ts';
import { cachePage, type CacheRow } from '../cache.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

const source = { sortable: ['key', 'expires_at', 'resource'], order: 'asc' } as const;

export const cacheRoute: Route = adminPageRoute({
  path: 'cache',
  summary: 'Manage the cache',
  page: cachePage,
  read: async (context, admin) => {
    const request = {
      boxes: ['q'],
      parts: [containing(boxValue(context, 'q'), 'key', 'resource')],
      source,
      dataPath: '/admin/cache',
    };
    const listing = await readListing<CacheRow>(context, request, (asked) =>
      listCache(context.services, admin, asked),
    );
    return { listing };
  },
  actions: {
    'delete-entry': {
      done: 'It is forgotten.',
      asks: async ({ field }) => ({
        title: `Forget ${field('key')}?`,
        effects: ['It is worked out again when somebody asks. No file changes.'],
        button: 'Forget it',
      }),
      run: ({ services, admin, field }) => {
        const [key, resource] = [field('key'), field('resource')];
        if (key === '' || resource === '')
          throw new AppError('bad-request', 'The form names no entry');
        return deleteCacheEntry(services, admin, [key], resource);
      },
    },
    'clear-cache': {
      done: 'It is forgotten.',
      asks: async ({ field }) => {
        const resource = field('resource');
        return {
          title:
            resource === ''
              ? 'Forget everything in the cache?'
              : `Forget everything about ${resource}?`,
          effects: [
            'It is worked out again when somebody asks, which takes a moment for large files. No file changes.',
          ],
          button: resource === '' ? 'Forget everything' : 'Forget the file',
        };
      },
      run: ({ services, admin, field }) => {
        const resource = field('resource');
        return clearCache(services, admin, resource === '' ? null : resource);
      },
    },
  },
});
