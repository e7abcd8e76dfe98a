/**
 * The row of totals at the end of a file: a word for a total, and beside it nothing but sums of their columns.
 *
 * The sums prove it, so the file is read a second time. Edits carry the sums on; else the row would be one of the
 * table when the file is read again.
 */
import { isTotalLabel } from '../../src/tables/infer/total-label.ts';
import type { Cell, ReadOptions } from '../../src/tables/types.ts';
import {
  type NumberMarks,
  numberForm,
  spelledNumber,
} from '../../src/tables/values/number-spelling.ts';
import { numberWithUnit } from '../../src/tables/values/number-unit.ts';
import { cellValue } from './cell-value.ts';
import type { TextWindow } from './text-window.ts';

/** A cell of the row that is the sum of its column. */
interface ColumnSum {
  /** Of the column. */
  readonly name: string;
  readonly position: number;
  readonly marks: NumberMarks;
  /** Exact, as JSON would write it. */
  readonly sum: string;
  /** Numbers in the column. */
  readonly numbers: number;
  /** Between groups of digits; empty: there are no groups. */
  readonly group: string;
  /** Digits after the decimal mark at least. */
  readonly decimals: number;
}

export interface TotalRow {
  /** To the end of the file, from the row or blank ones above it on; part of no segment. */
  readonly bytes: number;
  readonly sums: readonly ColumnSum[];
  readonly values: Readonly<Record<string, Cell>>;
}

/** A word for a total in front of numbers alone. */
export function isTotalLike(cells: readonly (string | number)[]): boolean {
  const filled = cells.map(String).filter((cell) => !isBlank(cell));
  const [label, ...others] = filled;
  if (label === undefined || others.length === 0 || !isTotalLabel(label)) return false;
  return others.every((cell) => numberForm(numberWithUnit(cell)?.number ?? cell) >= 0);
}

export function isBlank(cell: string | number): boolean {
  return typeof cell === 'string' && cell.trim() === '';
}

/** Where the file may have its total, counted in rows of the body. */
interface TotalPlace {
  readonly names: readonly string[];
  /** Of the table; those from here on are none. */
  readonly rows: number;
  /** The row itself, after blank ones. */
  readonly at: number;
}

/** Two numbers at least make a sum. */
const MIN_NUMBERS = 2;
/** Of what is added up: programs write 0.30000000000000004. */
const TOLERANCE = 1e-12;
const CHARACTERS = 65_536;

/**
 * Null unless every number of the row is the sum of its column; a declared row needs no proof. The window is at the
 * body.
 */
export async function findTotal(
  window: TextWindow,
  delimiter: string,
  { names, rows, at }: TotalPlace,
  options: Pick<ReadOptions, 'decimal' | 'thousands' | 'totalRow'>,
): Promise<(Omit<TotalRow, 'bytes'> & { readonly offset: number }) | null> {
  const columns = new Map<number, RunningSum[]>();
  const candidates = marksOf(options);
  const isDeclared = options.totalRow === 'last';
  let offset = 0;
  for (let row = 0; ;) {
    const spans = await window.rows(CHARACTERS, delimiter, { lf: 0, crlf: 0, cr: 0 });
    if (spans.consumed === window.position) return null;
    for (let index = 0; index < spans.count; index++, row++) {
      if (row === rows) {
        window.moveTo(spans.start(index));
        offset = window.offset;
      }
      const cells = spans.spellings(window.text, index).map(cellValue);
      if (row < rows) {
        for (const [position, cell] of cells.entries()) {
          if (isBlank(cell)) continue;
          let sums = columns.get(position);
          if (!sums)
            columns.set(position, (sums = candidates.map((marks) => new RunningSum(marks))));
          for (const sum of sums) sum.add(cell);
        }
      } else if (row === at) {
        const sums = cells.flatMap((cell, position) => {
          const found = (columns.get(position) ?? []).find((sum) =>
            sum.isProvenBy(cell, isDeclared),
          );
          return found ? [found.toSum(nameOf(names, position), position, cell)] : [];
        });
        const filled = cells.filter((cell) => !isBlank(cell)).length;
        if (sums.length < filled - 1 && !isDeclared) return null;
        return { offset, sums, values: valuesOf(cells, sums, names) };
      }
    }
    window.moveTo(spans.consumed);
  }
}

function valuesOf(
  cells: readonly string[],
  sums: readonly ColumnSum[],
  names: readonly string[],
): Record<string, Cell> {
  const numbers = new Map(sums.map(({ position, sum }) => [position, Number(sum)]));
  const entries = cells.flatMap((cell, position): [string, Cell][] => {
    return isBlank(cell) ? [] : [[nameOf(names, position), numbers.get(position) ?? cell]];
  });
  return Object.fromEntries(entries);
}

function nameOf(names: readonly string[], position: number): string {
  return names[position] ?? `column_${position + 1}`;
}

const GROUPS = "'\u2019 \u00a0\u202f";

/** A point is decimal where both readings give the same sum. */
function marksOf({
  decimal,
  thousands,
}: Pick<ReadOptions, 'decimal' | 'thousands'>): NumberMarks[] {
  const groups = thousands === ' ' ? ' \u00a0\u202f' : thousands;
  const marks: NumberMarks[] = [
    { decimal: '.', group: groups ?? `,${GROUPS}` },
    { decimal: ',', group: groups ?? `.${GROUPS}` },
  ];
  return decimal === undefined ? marks : marks.filter((one) => one.decimal === decimal);
}

/** Of a column, by some marks. */
class RunningSum {
  #isSum = true;
  #sum: Decimal = ZERO;
  #size = 0;
  #numbers = 0;
  #group = '';

  constructor(readonly marks: NumberMarks) {}

  add(cell: string): void {
    if (!this.#isSum) return;
    const value = decimalOf(cell, this.marks);
    this.#isSum = value !== null;
    if (value === null) return;
    this.#sum = plus(this.#sum, value, 1);
    this.#size += Math.abs(toNumber(value));
    this.#numbers++;
    this.#group ||= groupIn(cell, this.marks);
  }

  isProvenBy(cell: string, isDeclared: boolean): boolean {
    const total = decimalOf(cell, this.marks);
    if (!this.#isSum || total === null) return false;
    if (!isDeclared && !isProof(this.#sum, this.#numbers)) return false;
    return Math.abs(toNumber(plus(this.#sum, total, -1))) <= this.#size * TOLERANCE;
  }

  toSum(name: string, position: number, cell: string): ColumnSum {
    return {
      name,
      position,
      marks: this.marks,
      sum: textOf(this.#sum),
      numbers: this.#numbers,
      group: groupIn(cell, this.marks) || this.#group,
      decimals: decimalOf(cell, this.marks)!.scale,
    };
  }
}

/** A single number, and nothing, are equal to too many things. */
function isProof({ units }: Decimal, numbers: number): boolean {
  return units !== 0n && numbers >= MIN_NUMBERS;
}

function groupIn(cell: string, { group }: NumberMarks): string {
  return [...bareOf(cell)].find((character) => group.includes(character)) ?? '';
}

function bareOf(cell: string): string {
  return (numberWithUnit(cell)?.number ?? cell).trim();
}

/** Cells changed in an edit: `before` and `after` as texts, undefined where there is no such cell. */
interface ChangedCell {
  readonly position: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A column that holds more than numbers now is no longer summed up; nor one whose sum would have to prove the row and does not. */
export function followingSums(
  sums: readonly ColumnSum[],
  cells: readonly ChangedCell[],
  isDeclared: boolean,
): ColumnSum[] {
  return sums.flatMap((one) => {
    let { numbers } = one;
    let sum = decimalOf(one.sum, PLAIN)!;
    for (const { position, before, after } of cells) {
      if (position !== one.position) continue;
      for (const [cell, step] of [
        [before, -1],
        [after, 1],
      ] as const) {
        if (cell === undefined || isBlank(cell)) continue;
        const value = decimalOf(cell, one.marks);
        if (value === null) return [];
        sum = plus(sum, value, step);
        numbers += step;
      }
    }
    return isDeclared || isProof(sum, numbers) ? [{ ...one, sum: textOf(sum), numbers }] : [];
  });
}

/** The sum as the row writes it, with the unit and the spaces of the cell before. */
export function sumSpelling({ sum, marks, group, decimals }: ColumnSum, before: string): string {
  const [, sign = '', whole = '', digits = ''] = /^(-?)(\d+)(?:\.(\d*?)0*)?$/.exec(sum)!;
  const grouped = group === '' ? whole : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, group);
  const fraction = digits.padEnd(decimals, '0');
  const text = sign + grouped + (fraction === '' ? '' : marks.decimal + fraction);
  return before.replace(bareOf(before), () => text);
}

/** `units` divided by ten to the power of `scale`. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const ZERO: Decimal = { units: 0n, scale: 0 };
const PLAIN: NumberMarks = { decimal: '.', group: '' };

/** Null for what is no number by these marks, or has an exponent. */
function decimalOf(cell: string, marks: NumberMarks): Decimal | null {
  const bare = bareOf(cell);
  if (Number.isNaN(spelledNumber(bare, marks)) || /e/i.test(bare)) return null;
  const [whole = '', fraction = ''] = bare.split(marks.decimal);
  const digits = [...whole].filter((character) => !marks.group.includes(character)).join('');
  return { units: BigInt(digits + fraction), scale: fraction.length };
}

function plus(a: Decimal, b: Decimal, step: 1 | -1): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const units = scaled(a, scale) + BigInt(step) * scaled(b, scale);
  return { units, scale };
}

function scaled({ units, scale }: Decimal, to: number): bigint {
  return scale === to ? units : units * 10n ** BigInt(to - scale);
}

function toNumber(value: Decimal): number {
  return Number(textOf(value));
}

function textOf({ units, scale }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = scale === 0 ? '' : `.${digits.slice(point)}`;
  return (units < 0n ? '-' : '') + digits.slice(0, point) + fraction;
}
