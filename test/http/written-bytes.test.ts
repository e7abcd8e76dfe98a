/**
 * The bytes that a change writes into a CSV file (DS-86), and what of the file it keeps (DS-85).
 *
 * The expected file is put together here from plain lines, for every delimiter, line ending, encoding and byte order
 * mark; the editor itself has property tests of its own.
 */
import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { bytesOf, create, remove, update } from './changes.ts';
import { eventually } from './eventually.ts';
import { list } from './listing.ts';
import { sharedService } from './shared-service.ts';

interface Manner {
  readonly delimiter: string;
  readonly ending: string;
  readonly encoding: Encoding;
  readonly isEnded: boolean;
}

type Encoding = 'utf-8' | 'utf-8 with BOM' | 'utf-16le' | 'utf-16be' | 'latin1';

const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', bar: '|' } as const;
const ENDINGS = { LF: '\n', CRLF: '\r\n', CR: '\r' } as const;
const ENCODINGS: readonly Encoding[] = [
  'utf-8',
  'utf-8 with BOM',
  'utf-16le',
  'utf-16be',
  'latin1',
];

function encode(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with BOM') return Buffer.from(`\ufeff${text}`);
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

/** A row is its cells as they are spelled in the file; null is a line without bytes. */
type Line = readonly string[] | null;

function fileOf(lines: readonly Line[], { delimiter, ending, encoding, isEnded }: Manner): Buffer {
  const text = lines.map((line) => line?.join(delimiter) ?? '').join(ending);
  return encode(isEnded ? text + ending : text, encoding);
}

const START: readonly Line[] = [
  ['name', 'n', 'flag'],
  ['"quoted"', ' 1 ', 'True'],
  null,
  ['plain é', '2', 'False'],
  ['"two\nlines"', '3', 'True'],
  ['last', '4', 'true'],
];

const shared = sharedService({
  files: {
    'above.csv': 'made by hand;\n"",x\nid;v\n1;a\n',
    '.svc/above.csv.options.json': '{"header_row":3,"delimiter":";"}',
    'one.csv': 'a\nx\n',
    'ragged.csv': 'a,b\n1,2\n3,4,five\n6\n',
    'kept/mode.csv': 'a\n1\n',
    'kept/target.csv': 'a\n1\n',
    'open-end.csv': 'a,b\n1,x\n2,y',
    'mixed.csv': 'a\r\n1\r\n2\n3\r\n',
    'spelled.csv': 'f\nTRUE\nFALSE\nTRUE\ntrue\n',
    'necessary.csv': 'a,b\n"1","x"\n2,y\n',
  },
});

const writer = () => shared.writer;

/** A change and the lines it leaves. */
interface Step {
  readonly name: string;
  readonly run: (dataset: string) => Promise<{ readonly status: number }>;
  readonly change: (lines: Line[], manner: Manner) => void;
}

const STEPS: readonly Step[] = [
  {
    name: 'an unquoted cell is quoted when that is necessary',
    run: (name) => update(writer(), name, { _row_id: 2, name: 'a , b ; c \t d | "e"' }),
    change: (lines) => {
      lines[3] = ['"a , b ; c \t d | ""e"""', '2', 'False'];
    },
  },
  {
    name: 'a quoted cell stays quoted, its neighbours keep their bytes',
    run: (name) => update(writer(), name, { _row_id: 1, name: 'new é' }),
    change: (lines) => {
      lines[1] = ['"new é"', ' 1 ', 'True'];
    },
  },
  {
    name: 'a boolean is spelled as the column spells most of them',
    run: (name) => update(writer(), name, { _row_id: 2, flag: true }),
    change: (lines) => {
      lines[3] = [lines[3]![0]!, '2', 'True'];
    },
  },
  {
    name: 'rows are appended in the manner of the file',
    run: (name) => create(writer(), name, [{ name: 'added', n: 5, flag: false }, { n: 6 }, {}]),
    change: (lines) => lines.push(['added', '5', 'False'], ['', '6', ''], ['', '', '']),
  },
  {
    name: 'a deleted row goes with all its lines',
    run: (name) => remove(writer(), name, 3),
    change: (lines) => lines.splice(4, 1),
  },
  {
    name: 'the last row can go too',
    run: (name) => remove(writer(), name, 7),
    change: (lines) => lines.pop(),
  },
];

describe.each(ENCODINGS)('a file in %s', (encoding) => {
  const cases = Object.entries(DELIMITERS).flatMap(([delimiterName, delimiter]) =>
    Object.entries(ENDINGS).flatMap(([endingName, ending]) =>
      // Both ends of file for the most frequent encoding, one of them for each of the others.
      (encoding === 'utf-8' ? [true, false] : [ending === '\n']).map((isEnded) => {
        const manner: Manner = { delimiter, ending, encoding, isEnded };
        return [delimiterName, endingName, isEnded ? 'ended' : 'open', manner] as const;
      }),
    ),
  );

  test.each(cases)('%s, %s, %s: only touched bytes change (DS-86)', async (...parts) => {
    const [delimiterName, endingName, end, manner] = parts;
    const dataset = `${encoding.replaceAll(' ', '-')}-${delimiterName}-${endingName}-${end}`;
    const rel = `${dataset}.csv`;
    const { service, reader } = shared;
    if (encoding === 'latin1') service.write(`.svc/${rel}.options.json`, '{"encoding":"latin1"}');
    // The cell with two lines has the line end of the file, as an editor would leave it.
    const lines = START.map(
      (line) => line?.map((cell) => cell.replace('\n', manner.ending)) ?? null,
    ) as Line[];
    service.write(rel, fileOf(lines, manner));
    await eventually(async () => expect((await list(reader, dataset)).total).toBe(4));
    const done: string[] = [];
    for (const { name, run, change } of STEPS) {
      const { status } = await run(dataset);
      change(lines, manner);
      done.push(name);
      const expected = fileOf(lines, manner).toString('latin1');
      expect({ done, status, content: bytesOf(service, rel) }).toEqual({
        done,
        status: 200,
        content: expected,
      });
    }
  });
});

describe('rules of DS-86 one by one', () => {
  const content = (rel: string) => bytesOf(shared.service, rel);

  test('rows above the header and its BOM stay as they are (DS-72)', async () => {
    await create(writer(), 'above', [{ id: 2, v: 'b' }]);
    await update(writer(), 'above', { _row_id: 1, v: 'c' });
    expect(content('above.csv')).toBe('made by hand;\n"",x\nid;v\n1;c\n2;b\n');
  });

  test('a row that would have no bytes is written ""', async () => {
    await create(writer(), 'one', [{}, { a: 'y' }]);
    expect(content('one.csv')).toBe('a\nx\n""\ny\n');
    await update(writer(), 'one', { _row_id: 1, a: null });
    expect(content('one.csv')).toBe('a\n""\n""\ny\n');
    expect((await list(shared.reader, 'one')).rows.length).toBe(3);
  });

  test('writing a cell past the header extends only that row', async () => {
    await update(writer(), 'ragged', { _row_id: 3, column_3: 'x' });
    expect(content('ragged.csv')).toBe('a,b\n1,2\n3,4,five\n6,,x\n');
    await create(writer(), 'ragged', [{ a: 7 }, { column_3: 'y' }]);
    expect(content('ragged.csv')).toBe('a,b\n1,2\n3,4,five\n6,,x\n7,\n,,y\n');
  });

  test('a missing final newline stays missing', async () => {
    await create(writer(), 'open-end', [{ a: 3 }]);
    expect(content('open-end.csv')).toBe('a,b\n1,x\n2,y\n3,');
    await remove(writer(), 'open-end', 3);
    expect(content('open-end.csv')).toBe('a,b\n1,x\n2,y');
  });

  test('an appended row ends like most lines of the file', async () => {
    await create(writer(), 'mixed', [{ a: 4 }]);
    expect(content('mixed.csv')).toBe('a\r\n1\r\n2\n3\r\n4\r\n');
  });

  test('booleans follow the spelling that prevails', async () => {
    await create(writer(), 'spelled', [{ f: true }, { f: false }]);
    expect(content('spelled.csv')).toBe('f\nTRUE\nFALSE\nTRUE\ntrue\nTRUE\nFALSE\n');
  });

  test('untouched cells of an updated row keep their quotes', async () => {
    await update(writer(), 'necessary', { _row_id: 1, a: 9 });
    expect(content('necessary.csv')).toBe('a,b\n"9","x"\n2,y\n');
  });
});

describe('what belongs to the file but not to its content (DS-85)', () => {
  const pathOf = (rel: string) => join(shared.service.docroot, rel);

  test('mode and owner stay', async () => {
    const path = pathOf('kept/mode.csv');
    chmodSync(path, 0o640);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(path, 4321, 8765);
    const before = statSync(path);
    expect((await create(writer(), 'kept/mode', [{ a: 2 }])).status).toBe(200);
    const { mode, uid, gid, ino } = statSync(path);
    expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
    expect(ino).not.toBe(before.ino);
  });

  test('a symlink stays one; the file it points to is replaced', async () => {
    symlinkSync('target.csv', pathOf('kept/link.csv'));
    await eventually(async () => expect((await list(shared.reader, 'kept/link')).status).toBe(200));
    expect((await create(writer(), 'kept/link', [{ a: 2 }])).status).toBe(200);
    expect(lstatSync(pathOf('kept/link.csv')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(pathOf('kept/link.csv'))).toBe('target.csv');
    expect(readFileSync(pathOf('kept/target.csv'), 'utf8')).toBe('a\n1\n2\n');
    expect((await list(shared.reader, 'kept/target')).rows.length).toBe(2);
  });

  test('no temporary file is left anywhere', () => {
    const names = readdirSync(shared.service.docroot, { recursive: true }) as string[];
    const published = names.filter((name) => !name.startsWith('.svc'));
    expect(published.filter((name) => /(^|\/)\.|\.tmp$|~/.test(name))).toEqual([]);
  });
});
