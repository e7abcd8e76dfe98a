/**
 * One cell of a workbook by exceljs: read, change, write.
 *
 *     bun rewrite-workbook.ts <file> <new file> <sheet>
 *
 * Prints the milliseconds, without the start of the process.
 */
import ExcelJS from 'exceljs';

const [path, target, sheet] = process.argv.slice(2);
if (path === undefined || target === undefined || sheet === undefined) {
  throw new Error('rewrite-workbook.ts <file> <new file> <sheet>');
}
const startedAt = performance.now();
const book = new ExcelJS.Workbook();
await book.xlsx.readFile(path);
book.getWorksheet(sheet)!.getCell('E100').value = 1_000_000;
await book.xlsx.writeFile(target);
console.log(performance.now() - startedAt);
