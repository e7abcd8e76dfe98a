/**
 * Rows on disk until their types are known: a typed file begins with the types, and the last row decides them. The
 * file has no name, so nothing is left however the worker ends. Lists and objects are JSON text;
 * integers past 2^53 keep their digits. One piece is in memory.
 */
import { closeSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { openNameless } from '../../base/files/temporary-files.ts';
import { requireRoom } from '../../base/files/disk-room.ts';
import type { Row as StoredRow } from '../../tables/encode/encode.ts';
import { Problem } from '../syntax/problem.ts';
import { isNumber, jsonOf, type Value } from '../expressions/value.ts';
import {
  type ColumnType,
  type FileType,
  presentedType,
  wideNumber,
} from '../../tables/infer/file-type.ts';
import {
  isoDates,
  type NativeColumn,
  nativeType,
  nativeValue,
} from '../../tables/encode/native-value.ts';
import { wideKeyOf } from '../../tables/values/wide-number.ts';

const PIECE_CHARACTERS = 256 * 1024;
/** Left free on the disk for everybody else. */
const ROOM_BYTES = 64 * 1024 ** 2;
const LONG_BITS = 64;

/** `long` is an integer past 2^53 that fits in 64 bits; `text` also what only a text can express. */
type Seen = Set<'integer' | 'long' | 'fraction' | 'boolean' | 'text'>;

interface SpoolOptions {
  readonly maxBytes: number;
  /** The format has a type for each cell, so that texts among dates change nothing. */
  readonly isByCell: boolean;
}

export class SpilledRows {
  readonly #directory: string;
  readonly #file: number;
  readonly #seen: readonly Seen[];
  readonly #native: readonly NativeColumn[];
  /** As long as all values fit. */
  readonly #declared: (Declared | null)[];
  readonly #options: SpoolOptions;
  readonly #pieces: number[] = [];
  #text = '';
  #bytes = 0;
  #isOpen = true;
  count = 0;

  /** `native` is what the datasets know that the columns come from. */
  constructor(directory: string, native: readonly NativeColumn[], options: SpoolOptions) {
    this.#directory = directory;
    this.#file = openNameless(directory);
    this.#seen = native.map(() => new Set());
    this.#native = native;
    this.#declared = native.map(declared);
    this.#options = options;
  }

  /** Throws `too_large`, `no-space`. */
  add(values: readonly Value[]): void {
    const cells = values.map((given, column) => {
      const value = given === '' && this.#native[column]!.isBlankNull ? null : given;
      const known = this.#declared[column];
      const isAlone = this.#options.isByCell && typeof value === 'string';
      if (known && value !== null && !isAlone && !known.fits(value)) this.#declared[column] = null;
      return cellOf(value, this.#seen[column]!);
    });
    this.#text += `${this.#text === '' ? '[' : ','}[${cells.join(',')}]`;
    this.count++;
    if (this.#text.length >= PIECE_CHARACTERS) this.#write();
  }

  /** `string` when the values have no type in common. */
  typeOf(column: number): NativeColumn & { readonly type: ColumnType } {
    const known = this.#declared[column];
    return known
      ? { type: presentedType(known.type), ...this.#native[column] }
      : { type: this.#valuesType(column) };
  }

  #valuesType(column: number): ColumnType {
    const seen = this.#seen[column]!;
    const isNumeric = seen.has('integer') || seen.has('long') || seen.has('fraction');
    const isMixed = seen.has('boolean') && isNumeric;
    // No other type holds both: a fraction would cost long integers their last digits.
    const isCut = seen.has('long') && seen.has('fraction');
    if (seen.has('text') || isMixed || isCut) return 'string';
    if (seen.has('boolean')) return 'boolean';
    if (seen.has('fraction')) return 'number';
    return isNumeric ? 'integer' : 'string';
  }

  /** With their number first, as the dataset encoders take them; a boolean of a typed column is 0 or 1. */
  *rows(): Generator<StoredRow> {
    this.#write();
    const storing = this.#seen.map((_, column) => {
      const known = this.#declared[column];
      const wide = known && wideNumber(known.type);
      if (wide) return (cell: Cell) => (cell === null ? null : wideKeyOf(String(cell), wide));
      const isBoolean = this.#valuesType(column) === 'boolean';
      return (cell: Cell) => storedCell(cell, isBoolean);
    });
    let at = 0;
    let number = 0;
    for (const length of this.#pieces) {
      const cells = JSON.parse(this.#read(at, length)) as Cell[][];
      at += length;
      for (const row of cells) {
        number++;
        yield [number, ...row.map((cell, column) => storing[column]!(cell))];
      }
    }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  #write(): void {
    if (this.#text === '') return;
    const bytes = Buffer.from(`${this.#text}]`);
    this.#text = '';
    if (this.#bytes + bytes.length > this.#options.maxBytes) throw tooLarge(this.#options.maxBytes);
    requireRoom(join(this.#directory, 'result'), ROOM_BYTES);
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#bytes + done);
    }
    this.#bytes += bytes.length;
    this.#pieces.push(bytes.length);
  }

  #read(from: number, length: number): string {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const read = readSync(this.#file, bytes, done, length - done, from + done);
      if (read === 0) throw new AppError('internal', 'Rows that were set aside are gone');
      done += read;
    }
    return bytes.toString();
  }
}

function tooLarge(maxBytes: number): Problem {
  const mebibytes = Math.round(maxBytes / 2 ** 20);
  const text = `The result is larger than ${mebibytes} MiB: ask for fewer rows or columns, or for csv or ndjson`;
  return new Problem('too_large', text);
}

/** Long integers are the only values in brackets; lists and objects are texts. */
function cellOf(value: Value, seen: Seen): string {
  switch (typeof value) {
    case 'string':
      seen.add('text');
      return JSON.stringify(value);
    case 'boolean':
      seen.add('boolean');
      return String(value);
    case 'number':
      seen.add(Number.isSafeInteger(value) ? 'integer' : 'fraction');
      return JSON.stringify(value);
    case 'bigint':
      seen.add(BigInt.asIntN(LONG_BITS, value) === value ? 'long' : 'text');
      return `["${value}"]`;
    default:
      if (value === null) return 'null';
      seen.add('text');
      return JSON.stringify(jsonOf(value));
  }
}

type Cell = number | boolean | string | null | [long: string];

function storedCell(cell: Cell, isBoolean: boolean): StoredRow[number] {
  if (typeof cell === 'boolean') return isBoolean ? Number(cell) : String(cell);
  return valueOf(cell);
}

function valueOf<Plain>(cell: Plain | [long: string]): Plain | bigint {
  return Array.isArray(cell) ? BigInt(cell[0]) : cell;
}

interface Declared {
  readonly type: FileType;
  fits(value: Value): boolean;
}

/** Null for a type that the values give themselves. */
function declared(column: NativeColumn): Declared | null {
  const type = nativeType(column);
  const wide = type && wideNumber(type);
  const native = type && nativeValue(type);
  if (!type || (!wide && !native)) return null;
  const isoOf = isoDates(column);
  const isText = presentedType(type) === 'string';
  return {
    type,
    fits: (value) => {
      if (typeof value === 'string') {
        const iso = isText ? isoOf(value) : null;
        return iso !== null && native!(iso) !== null;
      }
      if (isText || !isNumber(value)) return false;
      return wide ? wideKeyOf(String(value), wide) !== null : native!(value) !== null;
    },
  };
}
