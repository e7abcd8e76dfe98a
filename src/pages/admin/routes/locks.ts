import { lockList } from '../../../docroot/locks.ts';
import { cleanLocks, listLocks, releaseLock } from '../../../operations/locks.ts';
import { type LockRow, locksPage } from '../locks.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

export const locksRoute: Route = adminPageRoute({
  path: 'locks',
  summary: 'Manage the locks',
  page: locksPage,
  read: async (context, admin) => {
    const request = {
      boxes: ['q'],
      parts: [containing(boxValue(context, 'q'), 'resource', 'owner')],
      source: lockList,
      dataPath: '/admin/locks',
    };
    const listing = await readListing<LockRow>(context, request, (asked) =>
      listLocks(context.services, admin, asked),
    );
    return { listing };
  },
  actions: {
    'release-lock': {
      done: 'The lock is released.',
      asks: async ({ field }) => ({
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
      asks: async () => ({
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
