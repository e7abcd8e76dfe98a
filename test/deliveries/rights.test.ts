/** A definition is refused where its owner could not write what it delivers. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUser, principalOf } from '../../src/accounts/identity/users.ts';
import { openApp } from '../../src/app.ts';
import { defaultConfig } from '../../src/config/settings.ts';
import { ALERT_SAMPLE } from '../../src/findings/finding-message.ts';
import { findDeliveryProblems } from '../../src/operations/deliveries.ts';
import { testLog } from '../support/database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('into an index and a dataset only with the right to write, and nobody learns which datasets exist', async () => {
  using folder = temporaryFolder();
  const docroot = join(folder.path, 'docroot');
  mkdirSync(docroot);
  writeFileSync(join(docroot, 'log.csv'), 'at\n1\n');
  const config = defaultConfig(docroot, join(docroot, '.svc'));
  const app = await openApp(config, testLog().log, { exclusive: false, readsAhead: false });
  try {
    const user = (username: string, isSuperuser: boolean) =>
      createUser(app.db, { username, passwordHash: null, isSuperuser, now: 0 });
    const problems = async (owner: Awaited<ReturnType<typeof user>>) =>
      (
        await findDeliveryProblems(
          app,
          principalOf(owner),
          [
            { type: 'index', index: 'found' },
            { type: 'dataset', dataset: 'log', row: { at: '{{at}}' } },
            { type: 'dataset', dataset: 'none', row: { at: '{{at}}' } },
          ],
          ALERT_SAMPLE,
        )
      ).map(({ path, text }) => `${path.join('.')} ${text}`);
    const none = "2.dataset there is no dataset 'none' to which you may add rows";
    expect(await problems(await user('ann', false))).toEqual([
      "0.index you may not write to the index 'found'",
      "1.dataset there is no dataset 'log' to which you may add rows",
      none,
    ]);
    expect(await problems(await user('root', true))).toEqual([none]);
  } finally {
    await app.close();
  }
});
