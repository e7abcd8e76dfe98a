/** Workbooks of one sheet, made for a test. */
import { type CellValue, Workbook } from 'exceljs';

/** A sheet with these cells, by reference. */
export async function book(
  cells: Readonly<Record<string, unknown>>,
  merged: string[] = [],
): Promise<Buffer> {
  const workbook = new Workbook();
  const sheet = workbook.addWorksheet('Sheet');
  for (const [reference, value] of Object.entries(cells)) {
    sheet.getCell(reference).value = value as CellValue;
  }
  for (const range of merged) sheet.mergeCells(range);
  return Buffer.from(await workbook.xlsx.writeBuffer());
}
