/**
 * Rows on disk until their types are known: a typed file begins with the types, and the last row decides them. The
 * file has no name, so nothing is left however the worker ends. Lists and objects are JSON text;
 * integers past 2^53 keep their digits. One piece is in memory.
 */
import { closeSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { openNameless } from '../../base/files/temporary-files.ts';
import { asNoSpace, requireRoom } from '../../tables/copy/disk-room.ts';
import type { Row as StoredRow } from '../../tables/encode/encode.ts';
import { Problem } from '../syntax/problem.ts';
import { isNumber, jsonOf, type Value } from '../expressions/value.ts';
import {
  type ColumnType,
  type FileColumn,
  type FileType,
  presentedType,
  wideNumber,
} from '../../tables/infer/file-type.ts';
import { nativeValue } from '../../tables/encode/native-value.ts';
import { wideKeyOf } from '../../tables/values/wide-number.ts';

const PIECE_CHARACTERS = 256 * 1024;
/** Left free on the disk for everybody else. */
const ROOM_BYTES = 64 * 1024 ** 2;
const LONG_BITS = 64;

/** `long` is an integer past 2^53 that fits in 64 bits; `text` also what only a text can express. */
type Seen = Set<'integer' | 'long' | 'fraction' | 'boolean' | 'text'>;

export class SetAsideRows {
  readonly #directory: string;
  readonly #file: number;
  readonly #seen: readonly Seen[];
  /** As long as all values fit. */
  readonly #declared: (Declared | null)[];
  readonly #maxBytes: number;
  readonly #pieces: number[] = [];
  #text = '';
  #bytes = 0;
  #isOpen = true;
  count = 0;

  /** `files` are the types that files declare for the columns. */
  constructor(directory: string, files: readonly (FileType | undefined)[], maxBytes: number) {
    this.#directory = directory;
    this.#file = openNameless(directory);
    this.#seen = files.map(() => new Set());
    this.#declared = files.map((file) => (file ? declared(file) : null));
    this.#maxBytes = maxBytes;
  }

  /** Throws `too_large`, `no-space`. */
  add(values: readonly Value[]): void {
    const cells = values.map((value, column) => {
      const file = this.#declared[column];
      if (file && value !== null && file.stored(value) === null) this.#declared[column] = null;
      return cellOf(value, this.#seen[column]!);
    });
    this.#text += `${this.#text === '' ? '[' : ','}[${cells.join(',')}]`;
    this.count++;
    if (this.#text.length >= PIECE_CHARACTERS) this.#write();
  }

  /** `string` when the values have no type in common. */
  typeOf(column: number): { readonly type: ColumnType; readonly file?: FileColumn } {
    const file = this.#declared[column];
    return file
      ? { type: presentedType(file.type), file: { type: file.type, isRequired: false } }
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
      const file = this.#declared[column];
      if (file) return (cell: Cell) => (cell === null ? null : file.stored(valueOf(cell)));
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
    if (this.#bytes + bytes.length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    requireRoom(join(this.#directory, 'result'), ROOM_BYTES);
    try {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.#file, bytes, done, bytes.length - done, this.#bytes + done);
      }
    } catch (error) {
      throw asNoSpace(error);
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
  /** As a typed copy stores it; null for what the type cannot hold. */
  readonly stored: (value: Value) => string | number | bigint | null;
}

/** Null for a type that the values give themselves. */
function declared(type: FileType): Declared | null {
  const wide = wideNumber(type);
  const native = nativeValue(type);
  if (!wide && !native) return null;
  const isMeant = (value: Value): value is string | number | bigint =>
    presentedType(type) === 'string' ? typeof value === 'string' : isNumber(value);
  const stored: Declared['stored'] = (value) => {
    if (!isMeant(value)) return null;
    if (wide) return wideKeyOf(String(value), wide);
    return native!(value) === null ? null : value;
  };
  return { type, stored };
}
