/** @jsxImportSource @kitajs/html */
import { AppError } from '../../../base/errors.ts';
import { clearCache, deleteCacheEntry, listCache } from '../../../operations/upkeep.ts';
import { text } from '../../parts/cells.tsx';
import { act, acts, auditLink, moment } from '../cells.tsx';
import { List, readListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';

interface Entry {
  readonly key: string;
  readonly expires_at: string;
  readonly resource: string;
}

const table: Table<Entry> = {
  nouns: ['entry', 'entries'],
  filters: [{ name: 'q', label: 'Key or file contains' }],
  empty: 'Nothing is remembered at the moment.',
  columns: [
    text('Key', 'key'),
    text('File', 'resource'),
    moment('Expires', 'expires_at'),
    acts(({ key, resource }, around) => [
      auditLink({ resource: 'cache', q: resource }, `the cache of ${resource}`),
      act(around, 'delete-entry', 'Forget', key, { key, resource }),
      act(around, 'clear-cache', 'Forget the file', resource, { resource }),
    ]),
  ],
};

export const cache = adminPage({
  path: 'cache',
  summary: 'Manage the cache',
  title: 'Cache',
  read: async (context) => ({
    listing: await readListing<Entry>(context, table, {
      source: { sortable: ['key', 'expires_at', 'resource'], order: 'asc' },
      read: listCache,
      dataPath: '/admin/cache',
      search: { q: ['key', 'resource'] },
    }),
  }),
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        What was worked out from a file is remembered for a while, and never longer than the file
        stays as it is.
      </p>
      <List {...{ table, listing, around }}>
        <div class="acts">
          {act(around, 'clear-cache', 'Forget everything', 'in the cache', { resource: '' })}
        </div>
      </List>
    </>
  ),
  actions: {
    'delete-entry': {
      done: 'It is forgotten.',
      asks: ({ field }) => ({
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
      asks: ({ field }) => {
        const resource = field('resource');
        const isAll = resource === '';
        return {
          title: isAll ? 'Forget everything in the cache?' : `Forget everything about ${resource}?`,
          effects: [
            'It is worked out again when somebody asks, which takes a moment for large files. No file changes.',
          ],
          button: isAll ? 'Forget everything' : 'Forget the file',
        };
      },
      run: ({ services, admin, field }) => clearCache(services, admin, field('resource') || null),
    },
  },
});
