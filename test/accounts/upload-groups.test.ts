/** The group that is promised to whoever uploads a file, while the file does not have its name yet (DS-156). */
import { expect, test } from 'bun:test';
import { listGroups } from '../../src/accounts/rights/groups.ts';
import {
  giveToUploader,
  promiseToUploader,
  withdrawPromise,
} from '../../src/accounts/rights/upload-groups.ts';
import { createUser } from '../../src/accounts/identity/users.ts';
import { temporaryDatabase } from '../support/database.ts';

test('a promise is taken back, and nothing but a promise', async () => {
  await using at = await temporaryDatabase();
  const { db } = at;
  const { id: userId } = await createUser(db, {
    username: 'ada',
    passwordHash: null,
    isSuperuser: false,
    now: 0,
  });
  const upload = { filename: 'x.csv', userId, resource: 'x.csv' };
  await promiseToUploader(db, { ...upload, filename: 'y.csv' });
  await promiseToUploader(db, upload);
  await withdrawPromise(db, 'x.csv');
  expect(await listGroups(db)).toMatchObject([{ description: 'Uploading y.csv' }]);
  const links = () => db.all('SELECT group_id FROM group_members');
  expect(await links()).toHaveLength(1);
  await giveToUploader(db, upload);
  await withdrawPromise(db, 'x.csv');
  expect(await listGroups(db)).toHaveLength(2);
  expect(await links()).toHaveLength(2);
});
