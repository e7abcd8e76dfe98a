/**
 * A workbook by SheetJS, its first sheet as arrays.
 *
 *     bun read-workbook.ts <file>
 *
 * Prints the number of rows below the header, and the most memory this took.
 */
import { readFileSync } from 'node:fs';
import * as XLSX from 'xlsx';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('read-workbook.ts <file>');
const book = XLSX.read(readFileSync(path), { dense: true });
const rows = XLSX.utils.sheet_to_json(book.Sheets[book.SheetNames[0]!]!, { header: 1 });
const peakMegabytes = (process.resourceUsage().maxRSS * 1024) / 1e6;
console.log(JSON.stringify({ rows: rows.length - 1, peakMegabytes }));
