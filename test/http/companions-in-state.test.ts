/** Companions of folders that are named like folders of the state stay when the server tidies those (DS-70). */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LONGEST_TEST_MS } from '../support/patience.ts';
import { startService } from '../support/service.ts';
import { address, get } from './listing.ts';

test(
  'a start deletes no companions in tables, search, run and tmp of the default state folder',
  async () => {
    const schema = '{"columns":{"n":{"type":"string"}}}';
    const names = ['tables/a', 'tables/2024/a', 'search/a', 'run/a', 'tmp/a', 'replaced/a'];
    await using svc = await startService({
      files: Object.fromEntries(
        names.flatMap((name) => [
          [`${name}.csv`, 'n\n007\n'],
          [`.svc/${name}.csv.schema.json`, schema],
        ]),
      ),
    });
    await svc.restart();
    await svc.accounts.grant('anna', '*', 'read');
    const reader = await svc.as('anna');
    for (const name of names) {
      const path = join(svc.stateDir, `${name}.csv.schema.json`);
      expect(readFileSync(path, 'utf8')).toBe(schema);
      expect((await get(reader, address(name))).rows).toMatchObject([{ n: '007' }]);
    }
  },
  LONGEST_TEST_MS,
);
