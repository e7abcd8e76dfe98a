/**
 * What a file is by its first bytes.
 */
import type { FileSource } from '../../src/base/file-source.ts';
import { readBytes, unreadable } from './file-bytes.ts';

const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** The format of the workbook. Throws `unreadable-file` for a file that is none of these. */
export async function formatOf(source: FileSource): Promise<'xlsx' | 'xls'> {
  const start = await readBytes(source, 0, COMPOUND_FILE.length);
  if (start.subarray(0, ZIP.length).equals(ZIP)) return 'xlsx';
  if (start.equals(COMPOUND_FILE)) return 'xls';
  throw unreadable(start.length === 0 ? 'it is empty' : 'it is no Excel workbook');
}
