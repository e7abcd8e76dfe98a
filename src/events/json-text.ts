/**
 * JSON of event clients (EV-4): parsed fast where nothing can be lost, exactly where numbers need their digits (DS-1), and
 * with the place of the fault in the words of the contract.
 */
import { JsonNumber, parseJson } from '../base/json.ts';
import { jsonErrorOffset } from '../base/json-error.ts';
import { JsonOutliner, JsonSyntaxError } from '../base/json-outline.ts';

/** A text that is no JSON; `message` is the `detail` of EV-4. */
export class JsonParseError extends Error {
  constructor(reason: string, text: string, offset: number) {
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - before.lastIndexOf('\n');
    super(`JSON parse error - ${reason}: line ${line} column ${column} (char ${offset})`);
    this.name = 'JsonParseError';
  }
}

/** What `parseJson` treats with care; inside of strings it means nothing. */
const AWKWARD_NUMBER = /[0-9](?:\.0+(?![0-9])|[eE][+-]?[0-9]|[0-9]{15})/;
const LONE_SURROGATE =
  /(?<!\\)(?:\\\\)*(\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2}))/;

/** The bytes as text. Throws `JsonParseError` when they are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    throw new JsonParseError('Invalid UTF-8', lenient, lenient.indexOf('\ufffd'));
  }
}

/** The value of a JSON text; numbers as `parseJson`. Throws `JsonParseError`, also for nesting beyond `maxDepth`. */
export function parseEventJson(text: string, maxDepth: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { reason, offset } = faultOf(text);
    throw new JsonParseError(reason, text, offset);
  }
  if (isDeeper(value, maxDepth)) {
    throw new JsonParseError(`Nesting deeper than ${maxDepth}`, text, depthOffset(text, maxDepth));
  }
  // Most events hold no number at all outside of their texts.
  if (hasNumber(value) && hasAwkwardNumbers(text)) value = parseJson(text);
  if (text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)) {
    const lone = LONE_SURROGATE.exec(text);
    if (lone !== null) {
      const offset = lone.index + lone[0].length - lone[1]!.length;
      throw new JsonParseError('Lone surrogate', text, offset);
    }
  }
  return value;
}

/** The value as compact JSON, with the digits numbers had. */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.source;
  if (isPlain(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const members = Object.keys(value).map(
    (name) => `${JSON.stringify(name)}:${exactJson((value as Record<string, unknown>)[name])}`,
  );
  return `{${members.join(',')}}`;
}

/** Whether JSON.stringify writes the value as it is: nothing in it has digits of its own. */
export function isPlain(value: object): boolean {
  if (value instanceof JsonNumber) return false;
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'bigint') return false;
    if (typeof member === 'object' && member !== null && !isPlain(member)) return false;
  }
  return true;
}

/** Whether a value holds numbers only `exactJson` can write. */
export function hasAwkwardNumbers(text: string): boolean {
  return AWKWARD_NUMBER.test(text) && AWKWARD_NUMBER.test(withoutStrings(text));
}

/** What stands outside of strings, with a space for each of them. A pattern for a whole string would cost seconds in a long one. */
function withoutStrings(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', from)) {
    kept.push(text.slice(from, at));
    from = stringEnd(text, at);
    if (from === 0) return kept.join(' ');
  }
  kept.push(text.slice(from));
  return kept.join(' ');
}

/** Behind the quote that ends the string which begins at `start`; 0 for none. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return 0;
}

/** A value that is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Whether a parsed value holds a number. As deep as the value. */
function hasNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  if (Array.isArray(value)) return value.some(hasNumber);
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'number') return true;
    if (typeof member === 'object' && member !== null && hasNumber(member)) return true;
  }
  return false;
}

/** Whether containers nest deeper than `depth`. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object' && isDeeper(item, depth - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && isDeeper(member, depth - 1)) return true;
  }
  return false;
}

function faultOf(text: string): { reason: string; offset: number } {
  if (text.trim() === '') return { reason: 'Expecting value', offset: 0 };
  try {
    // Bounds the depth for the recursive search that follows.
    new JsonOutliner(text).advance(text.length + 1);
    return { reason: 'Expecting value', offset: jsonErrorOffset(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { reason: error.message, offset: error.offset };
    throw error;
  }
}

function depthOffset(text: string, maxDepth: number): number {
  let depth = 0;
  let isInside = false;
  for (const { 0: part, index } of text.matchAll(/\\.|["[\]{}]/gs)) {
    if (part === '"') isInside = !isInside;
    else if (isInside || part.length > 1) continue;
    else depth += part === '[' || part === '{' ? 1 : -1;
    if (depth > maxDepth) return index;
  }
  return 0;
}
