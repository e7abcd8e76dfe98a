/**
 * Two changes of a saved search at once both count, and one of a search that is deleted meanwhile finds none (EV-88).
 */
import { expect, test } from 'bun:test';
import type { AuditNote } from '../../src/accounts/audit/audit.ts';
import type { Principal } from '../../src/accounts/rights/principal.ts';
import {
  createSavedSearch,
  deleteSavedSearch,
  getSavedSearch,
  updateSavedSearch,
} from '../../src/operations/events/saved-searches.ts';
import { temporaryDatabase, testClock } from '../support/database.ts';

const ORIGIN = { clientAddress: null };
const OWNER: Principal = {
  ...{ userId: 1, username: 'owner', isSuperuser: false, credential: 'token' },
  ...{ sessionId: null, apiKeyId: null, scopes: null },
};

async function setUp() {
  const state = await temporaryDatabase();
  const notes: AuditNote[] = [];
  const audit = { record: async (note: AuditNote) => void notes.push(note) };
  const config = { events: { search: { saved_per_user: 10 } } };
  const services = { db: state.db, clock: testClock(), audit, config } as unknown as Parameters<
    typeof createSavedSearch
  >[0];
  for (const name of ['owner', 'reader'])
    await state.db.run(
      "INSERT INTO users (username, password_hash, is_active, is_superuser, created_at) VALUES (?, '', 1, 0, '2026-11-20T12:00:00.000Z')",
      [name],
    );
  const body = { name: 'n', query: 'old', shared_with: [2] };
  await createSavedSearch(services, OWNER, ORIGIN, { body, validate: null });
  /** A change whose query is being checked, as with `?validate=1`, until `end` is called. */
  const slowChange = () => {
    const checked = Promise.withResolvers<null>();
    const asked = Promise.withResolvers<void>();
    const validate = (): Promise<null> => {
      asked.resolve();
      return checked.promise;
    };
    const request = { id: 1, isPartial: true, body: { query: 'new' }, validate };
    const done = updateSavedSearch(services, OWNER, ORIGIN, request);
    return { done, asked: asked.promise, end: () => checked.resolve(null) };
  };
  return { services, notes, slowChange, [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

test('a share that is taken back while another change is checked stays taken back', async () => {
  await using state = await setUp();
  const { services, slowChange } = state;
  const { done, asked, end } = slowChange();
  await asked;
  const body = { shared_with: [] };
  const request = { id: 1, isPartial: true, body, validate: null };
  await updateSavedSearch(services, OWNER, ORIGIN, request);
  end();
  await done;
  const { query, shared_with: sharedWith } = await getSavedSearch(services, OWNER, 1);
  expect([query, sharedWith]).toEqual(['new', []]);
});

test('a search that is deleted while a change is checked is not found', async () => {
  await using state = await setUp();
  const { services, slowChange, notes } = state;
  const { done, asked, end } = slowChange();
  await asked;
  await deleteSavedSearch(services, OWNER, ORIGIN, 1);
  end();
  await expect(done).rejects.toMatchObject({ code: 'not-found' });
  expect(notes.map(({ action }) => action)).toEqual(['create_saved_search', 'delete_saved_search']);
});
