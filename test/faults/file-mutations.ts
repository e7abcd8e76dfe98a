/**
 * Real files of every kind of dataset, and what a bad disk, a broken program or an attacker makes of them. The same choices
 * of a trial give the same files.
 */
import * as XLSX from 'xlsx';
import { parquetFile } from '../plugins/parquet-table.ts';
import { richWorkbook } from '../plugins/workbook-rich-file.ts';
import { unzip, zip } from '../plugins/workbook-files.ts';
import type { Trial } from './trial.ts';

/** A good file. */
export interface SeedFile {
  readonly name: string;
  /** With its dot. */
  readonly extension: '.csv' | '.xlsx' | '.xls' | '.parquet';
  readonly content: Buffer;
}

const ROWS =
  "SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'name ' || (i % 10) END AS name, i / 8.0 AS x, i % 3 = 0 AS ok, DATE '2024-01-01' + i::INTEGER AS day";
const NESTED = `${ROWS}, [i, i + 1] AS list, {'a': i, 'b': [i::VARCHAR]} AS thing, (i / 100)::DECIMAL(18, 2) AS price`;
const CODECS = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'];

/** The files; made once for a run, in a second or two. */
export async function seedFiles(): Promise<SeedFile[]> {
  const parquet = CODECS.map(async (codec): Promise<SeedFile> => {
    const query = `${codec === 'snappy' ? NESTED : ROWS} FROM range(300) t(i)`;
    const content = Buffer.from(await parquetFile(query, `COMPRESSION ${codec}`));
    return { name: `parquet ${codec}`, extension: '.parquet', content };
  });
  const csv = (name: string, content: Buffer): SeedFile => ({ name, extension: '.csv', content });
  return [
    csv(
      'csv',
      Buffer.from(
        Array.from({ length: 80 }, (_, i) => `${i},"a ""${i}"" é",${i % 2 === 0},${i / 8}`).join(
          '\n',
        ),
      ),
    ),
    csv('csv with a mark', Buffer.from(`\ufeffa;b;c\r\n${'1;2;3\r\n"x;y";;\r\n'.repeat(40)}`)),
    csv('csv in UTF-16', Buffer.from(`\ufeffa\tb\n${'1\té💥\n'.repeat(60)}`, 'utf16le')),
    { name: 'xlsx', extension: '.xlsx', content: await richWorkbook() },
    { name: 'xls', extension: '.xls', content: legacyWorkbook() },
    ...(await Promise.all(parquet)),
  ];
}

function legacyWorkbook(): Buffer {
  const rows = Array.from({ length: 60 }, (_, i) => [i, `text ${i % 9} é東`, i / 8, i % 2 === 0]);
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(
    book,
    XLSX.utils.aoa_to_sheet([['id', 'text', 'x', 'ok'], ...rows]),
    'Data',
  );
  return Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'biff8' }) as Uint8Array);
}

/** The file after one to three mutations; of a workbook, half of the time those of a part within a sound archive. */
export function mutated({ extension, content }: SeedFile, trial: Trial): Buffer {
  const isInside = extension === '.xlsx' && trial.random() < 0.5;
  return isInside ? mutatedPart(content, trial) : mutatedBytes(content, trial);
}

function mutatedPart(content: Buffer, trial: Trial): Buffer {
  const parts = [...unzip(content)].map(([name, { data }]) => ({ name, data }));
  const chosen = trial.integer(0, parts.length - 1);
  return zip(
    parts.map(({ name, data }, index) => ({
      name,
      data: index === chosen && data.length > 0 ? mutatedBytes(data, trial) : data,
    })),
  );
}

/** Any bytes after one to three mutations. */
export function mutatedBytes(content: Buffer, trial: Trial): Buffer {
  let bytes: Buffer = Buffer.from(content);
  for (let count = trial.integer(1, 3); count > 0 && bytes.length > 0; count--) {
    bytes = trial.pick(MUTATIONS)(bytes, trial);
  }
  return bytes;
}

type Mutation = (bytes: Buffer, trial: Trial) => Buffer;

const place = (bytes: Buffer, trial: Trial): number => trial.integer(0, bytes.length - 1);
/** Numbers that programs do not expect. */
const LENGTHS = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

const flip: Mutation = (bytes, trial) => {
  bytes[place(bytes, trial)]! ^= 1 << trial.integer(0, 7);
  return bytes;
};

const MUTATIONS: readonly Mutation[] = [
  flip,
  flip,
  // A length field, or what would be one.
  (bytes, trial) => {
    const field = Buffer.alloc(4);
    field.writeUInt32LE(trial.pick(LENGTHS));
    field.copy(bytes, place(bytes, trial), 0, trial.pick([1, 2, 4]));
    return bytes;
  },
  (bytes, trial) => bytes.subarray(0, trial.integer(0, bytes.length)),
  (bytes, trial) => {
    const from = place(bytes, trial);
    const to = Math.min(bytes.length, from + trial.integer(1, 200));
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  // A piece of the file once more, elsewhere.
  (bytes, trial) => {
    const from = place(bytes, trial);
    const piece = bytes.subarray(from, from + trial.integer(1, 200));
    const at = place(bytes, trial);
    return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
  },
  (bytes, trial) =>
    bytes.fill(trial.pick([0, 0x20, 0xff]), place(bytes, trial), place(bytes, trial)),
];
