/** Bytes too many for memory, with a name and without one. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { mapped, SpoolFile } from '../../src/base/files/spool-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test.each([true, false])(
  'another process reads them; nothing is left (nameless: %p)',
  async (is) => {
    using folder = temporaryFolder();
    {
      using file = new SpoolFile(folder.path, is);
      expect(readdirSync(folder.path)).toHaveLength(is ? 0 : 1);
      for (const text of ['one, ', 'two']) await file.add(Buffer.from(text));
      expect(Buffer.from(file.head(3)).toString()).toBe('one');
      expect(Buffer.from(mapped(file.path)).toString()).toBe('one, two');
      const other = Bun.spawnSync(['cat', file.path]);
      expect(other.stdout.toString()).toBe('one, two');
    }
    expect(readdirSync(folder.path)).toEqual([]);
  },
);
