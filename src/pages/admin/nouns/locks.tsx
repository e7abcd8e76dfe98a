/** @jsxImportSource @kitajs/html */
import { lockList } from '../../../docroot/locks.ts';
import { text } from '../../parts/cells.tsx';
import { act, acts, auditLink, moment } from '../cells.tsx';
import { List, readListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';
import { cleanLocks, listLocks, releaseLock } from '../../../operations/upkeep.ts';

interface Lock {
  readonly id: number;
  readonly resource: string;
  readonly owner: string;
  readonly acquired_at: string;
  readonly expires_at: string | null;
  readonly reason: string | null;
}

const table: Table<Lock> = {
  nouns: ['lock', 'locks'],
  filters: [{ name: 'q', label: 'File or owner contains' }],
  empty: 'Nobody is writing a file at the moment.',
  columns: [
    text('File', 'resource'),
    text('Owner', 'owner'),
    text('For', 'reason'),
    moment('Since', 'acquired_at'),
    moment('Expires', 'expires_at'),
    acts(({ id, resource, owner }, around) => [
      auditLink({ resource }, resource),
      act(around, 'release-lock', 'Release', `lock on ${resource}`, { id, resource, owner }),
    ]),
  ],
};

export const locks = adminPage({
  path: 'locks',
  summary: 'Manage the locks',
  title: 'Locks',
  read: async (context) => ({
    listing: await readListing<Lock>(context, table, {
      source: lockList,
      read: listLocks,
      dataPath: '/admin/locks',
      search: { q: ['resource', 'owner'] },
    }),
  }),
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        Whoever changes a file holds a lock on it for that moment. One that stays is left over from
        a program that ended; it goes by itself when it expires.
      </p>
      <List {...{ table, listing, around }}>
        <div class="acts">{act(around, 'clean-locks', 'Remove stale locks', 'of all files')}</div>
      </List>
    </>
  ),
  actions: {
    'release-lock': {
      done: 'The lock is released.',
      asks: ({ field }) => ({
        title: `Release the lock of ${field('owner')} on ${field('resource')}?`,
        effects: [
          `If ${field('owner')} is still writing, that change fails and nothing of it is stored.`,
          'Others can write the file at once.',
        ],
        button: 'Release the lock',
      }),
      run: ({ services, admin, id }) => releaseLock(services, admin, id()),
    },
    'clean-locks': {
      done: 'Stale locks are gone.',
      asks: () => ({
        title: 'Remove all stale locks?',
        effects: ['Locks that have expired or are older than a day go; those in use stay.'],
        button: 'Remove stale locks',
      }),
      run: async ({ services, admin }) => {
        await cleanLocks(services, admin);
      },
    },
  },
});
