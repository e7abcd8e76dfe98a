import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import type { Kind } from '../../src/docroot/kind.ts';
import type { FoundFile } from '../../src/docroot/registry/scan.ts';
import type { SheetName } from '../../src/docroot/kind.ts';
import { SheetNames } from '../../src/docroot/registry/sheet-names.ts';
import { eventually } from '../http/eventually.ts';
import { testLog } from '../support/database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const kind = {
  type: 'excel',
  family: 'dataset',
  extensions: ['.xlsx'],
  dataset: { read: async () => undefined, sheets: async () => [] },
} as Kind;

/** A file of 2020, so that nothing of it is fresh. */
function found(rel: string, inode = '1'): FoundFile {
  const time = '1577836800000000000';
  return { rel, kind, isSymlink: false, stamp: { size: 1, mtimeNs: time, ctimeNs: time, inode } };
}

const filesOf = (...files: readonly FoundFile[]) => new Map(files.map((file) => [file.rel, file]));

interface Wanted {
  readonly sheetsOf: (file: FoundFile) => Promise<readonly SheetName[] | null>;
  readonly memory?: string;
  readonly publishesHidden?: boolean;
}

function sheetNames({ sheetsOf, memory, publishesHidden = false }: Wanted): SheetNames {
  const { log } = testLog();
  return new SheetNames({
    sheetsOf,
    publishesHidden,
    memory: memory ?? null,
    log,
    onListed: async () => undefined,
  });
}

test('hundreds of files at once are opened a few at a time, and none is left out', async () => {
  let open = 0;
  let most = 0;
  const names = sheetNames({
    sheetsOf: async ({ rel }) => {
      most = Math.max(most, ++open);
      await new Promise(setImmediate);
      open--;
      return [rel];
    },
  });
  const files = Array.from({ length: 300 }, (_, index) => found(`${index}.xlsx`));
  names.follow(filesOf(...files));
  expect(names.namesOf('7.xlsx')).toEqual([]);
  await names.settled();
  expect(most).toBe(2);
  for (const { rel } of files) expect(names.namesOf(rel)).toEqual([rel]);
});

test('a file that could not be opened for a reason of ours is tried again; a broken one is not', async () => {
  let attempts = 0;
  const names = sheetNames({
    sheetsOf: async ({ rel }) => {
      if (rel === 'broken.xlsx') throw new AppError('unreadable-file', 'no archive');
      if (++attempts === 1) throw new AppError('unavailable', 'The server is busy');
      return ['S'];
    },
  });
  names.follow(filesOf(found('busy.xlsx'), found('broken.xlsx')));
  await names.settled();
  expect([names.namesOf('busy.xlsx'), names.namesOf('broken.xlsx')]).toEqual([[], null]);
  await eventually(() => expect(names.namesOf('busy.xlsx')).toEqual(['S']));
});

test('names are remembered across restarts for the very version of the file', async () => {
  using folder = temporaryFolder();
  const memory = folder.at('sheets.json');
  const first = sheetNames({ memory, sheetsOf: async () => ['A', 'B'] });
  first.follow(filesOf(found('a.xlsx'), found('b.xlsx')));
  await first.settled();
  await eventually(async () => expect(await Bun.file(memory).text()).toContain('b.xlsx'));
  const asked: string[] = [];
  const second = sheetNames({
    memory,
    sheetsOf: async ({ rel }) => {
      asked.push(rel);
      return ['C'];
    },
  });
  second.follow(filesOf(found('a.xlsx'), found('b.xlsx', '2')));
  expect(second.namesOf('a.xlsx')).toEqual(['A', 'B']);
  await second.settled();
  expect(asked).toEqual(['b.xlsx']);
  expect(second.namesOf('b.xlsx')).toEqual(['C']);
  folder.write('sheets.json', '{"version":1,');
  const third = sheetNames({ memory, sheetsOf: async () => ['D'] });
  third.follow(filesOf(found('a.xlsx')));
  await third.settled();
  expect(third.namesOf('a.xlsx')).toEqual(['D']);
});

test('what is remembered holds whether hidden sheets are published or not (DS-65)', async () => {
  using folder = temporaryFolder();
  const memory = folder.at('sheets.json');
  const sheetsOf = async (): Promise<SheetName[]> => ['A', { hidden: 'B' }];
  const first = sheetNames({ memory, sheetsOf });
  first.follow(filesOf(found('a.xlsx')));
  await first.settled();
  expect([first.namesOf('a.xlsx'), [...first.hidden()]]).toEqual([
    ['A'],
    [{ rel: 'a.xlsx', sheet: 'B' }],
  ]);
  await eventually(async () => expect(await Bun.file(memory).text()).toContain('a.xlsx'));
  const second = sheetNames({ memory, sheetsOf, publishesHidden: true });
  second.follow(filesOf(found('a.xlsx')));
  expect([second.namesOf('a.xlsx'), [...second.hidden()]]).toEqual([['A', 'B'], []]);
});
