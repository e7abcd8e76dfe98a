/**
 * Rows and schemas enter an answer as the JSON text they already are, so no digit is lost. In pieces, because joining
 * and encoding megabytes at once would block the event loop.
 */
import { JsonNumber } from '../base/json/json.ts';

/** JSON text in place of its value; the pieces joined are the text. */
export class JsonText {
  readonly pieces: readonly string[];

  constructor(text: string | readonly string[]) {
    this.pieces = typeof text === 'string' ? [text] : text;
  }

  static array(items: readonly string[]): JsonText {
    const pieces: string[] = [];
    for (const [index, item] of items.entries()) pieces.push(index === 0 ? '[' : ',', item);
    pieces.push(items.length === 0 ? '[]' : ']');
    return new JsonText(pieces);
  }

  get text(): string {
    return this.pieces.join('');
  }

  /** Bytes in UTF-8. */
  get size(): number {
    let bytes = 0;
    for (const piece of this.pieces) bytes += Buffer.byteLength(piece);
    return bytes;
  }
}

/** Compact JSON. Takes values of `parseJson` with JsonText at any depth; undefined members are left out. */
export function writeJson(value: unknown): string {
  return jsonPieces(value).join('');
}

export function jsonPieces(value: unknown): string[] {
  const pieces: string[] = [];
  write(value, pieces);
  return pieces;
}

/** The digits of a parsed integer; `5.0` is the integer 5. */
export function integerText(value: unknown): string {
  const text = writeJson(value);
  return /^-?[0-9]+$/.test(text) ? text : BigInt(Number(text)).toString();
}

function write(value: unknown, pieces: string[]): void {
  if (value instanceof JsonText) for (const piece of value.pieces) pieces.push(piece);
  else if (value instanceof JsonNumber) pieces.push(value.source);
  else if (typeof value === 'bigint') pieces.push(String(value));
  else if (Array.isArray(value)) writeArray(value, pieces);
  else if (typeof value === 'object' && value !== null) writeObject(value, pieces);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

function writeArray(items: readonly unknown[], pieces: string[]): void {
  pieces.push('[');
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(',');
    write(item, pieces);
  }
  pieces.push(']');
}

function writeObject(value: object, pieces: string[]): void {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    pieces.push(`${before}${JSON.stringify(name)}:`);
    write(member, pieces);
    before = ',';
  }
  pieces.push(before === '{' ? '{}' : '}');
}
