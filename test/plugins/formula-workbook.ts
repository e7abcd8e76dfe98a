/** A workbook of values and formulas, and what `test/golden/formulas.tsv` says of each formula. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workbookFile } from './workbook-files.ts';

type Plain = string | number | boolean | null;

/** Columns from A on, rows 2 to 11. */
const DATA: Readonly<Record<string, readonly Plain[]>> = {
  A: [1, 2, 3, 4.5, -6, 0, 10, 'text', null, true],
  B: ['apple', 'Banana', 'cherry', 'apple pie', '', ' x  y ', '12', '*star', 'b?', null],
  C: [45413, 45444.75, 45657, 44927, 45000.5, 36526, 43831, 45351, 45688, 45746],
  D: [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
};

export interface GoldenFormula {
  readonly formula: string;
  /** `left`: taken out, for other programs to calculate. */
  readonly calculated: Plain | 'left';
  /** What LibreOffice calculates; errors are texts. */
  readonly libreOffice: Plain;
}

/** Formula, result, result of LibreOffice 7.4, separated by tabs; results are JSON. */
export const goldenFormulas: readonly GoldenFormula[] = readFileSync(
  join(import.meta.dir, '../golden/formulas.tsv'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => {
    const [formula, calculated, libreOffice] = line.split('\t') as [string, string, string];
    return {
      formula,
      calculated: calculated === 'left' ? 'left' : (JSON.parse(calculated) as Plain),
      libreOffice: JSON.parse(libreOffice) as Plain,
    };
  });

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function cell(reference: string, value: Plain): string {
  if (value === null) return '';
  if (typeof value === 'number') return `<c r="${reference}"><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${reference}" t="b"><v>${Number(value)}</v></c>`;
  return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`;
}

/** Sheet `Data` with the formulas in column F from row 2 on, without results; sheet `Other`; names `Prices` and `Rate`. */
export function goldenWorkbook(): Buffer {
  const header = Object.keys(DATA).map((column) => cell(`${column}1`, column.toLowerCase()));
  const rows = goldenFormulas.map(({ formula }, index) => {
    const number = index + 2;
    const cells = Object.entries(DATA).map(([column, values]) =>
      cell(`${column}${number}`, values[index] ?? null),
    );
    return `<row r="${number}">${cells.join('')}<c r="F${number}"><f>${escaped(formula)}</f></c></row>`;
  });
  return workbookFile({
    sheets: {
      Data: `<row r="1">${header.join('')}</row>${rows.join('')}`,
      Other: '<row r="1"><c r="A1"><v>7</v></c><c r="B1"><f>Data!A2*2</f></c></row>',
    },
    workbookTail:
      '<definedNames><definedName name="Prices">Data!$D$2:$D$11</definedName><definedName name="Rate">0.19</definedName></definedNames>',
  });
}
