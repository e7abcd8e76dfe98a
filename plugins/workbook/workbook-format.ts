import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { unreadable } from './unreadable.ts';

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** By the first bytes. Throws `unreadable-file` for any other file. */
export async function formatOf(source: FileSource): Promise<'xlsx' | 'xls'> {
  const start = await readBytes(source, 0, COMPOUND_FILE.length);
  if (start.subarray(0, ZIP.length).equals(ZIP)) return 'xlsx';
  if (start.equals(COMPOUND_FILE)) return 'xls';
  throw unreadable(start.length === 0 ? 'it is empty' : 'it is no Excel workbook');
}
