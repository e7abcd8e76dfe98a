/** JSON request bodies: parsed without blocking the event loop, no digit lost, the last of equal keys counts. */
import type { AppError } from '../../base/errors.ts';
import { invalidRequest } from '../../base/errors.ts';
import { parseJson } from '../../base/json/json.ts';
import type { Outline } from '../../base/json/json-outline.ts';
import type { JsonBounds } from '../../base/json/json-outline.ts';
import {
  JSON_BOUNDS,
  JsonOutliner,
  JsonSyntaxError,
  requireBlank,
} from '../../base/json/json-outline.ts';
import { jsonErrorOffset } from '../../base/json/json-error.ts';
import { LoopShare } from '../../base/scheduling/loop-share.ts';

/** Characters between two looks at the clock: less than a millisecond. */
const CHARACTERS_PER_STEP = 64 * 1024;
const share = new LoopShare();

/**
 * Numbers as `parseJson` gives them. Long bodies together take at most half of the event loop. Throws `invalid-request`:
 * `missing` at `["body"]` for no bytes, `json_invalid` at `["body", offset]` for what is no JSON or UTF-8, starts with a
 * byte order mark, exceeds a bound, or has a number of more than 1,000 characters. `onMeasured` is awaited before anything
 * is made of the text.
 */
export async function parseJsonBody(
  bytes: Uint8Array,
  bounds: JsonBounds = JSON_BOUNDS,
  onMeasured?: (values: number) => Promise<void>,
): Promise<unknown> {
  if (bytes.length === 0) {
    throw invalidRequest({ type: 'missing', loc: ['body'], msg: 'The body is missing' });
  }
  const text = decode(bytes);
  try {
    const outliner = new JsonOutliner(text, bounds);
    if (text.length > CHARACTERS_PER_STEP) await share.turn();
    while (!outliner.advance(CHARACTERS_PER_STEP)) await share.turn();
    const { root, values } = outliner;
    await onMeasured?.(values);
    if (root === null) return parsePiece(text, 0);
    requireBlank(text, 0, root.from);
    requireBlank(text, root.to, text.length);
    return await new Assembly(text).value(root);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidJson(error.message, error.offset);
    throw error;
  }
}

class Assembly {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  async value(outline: Outline): Promise<unknown> {
    return outline.kind === '[' ? this.#array(outline) : this.#object(outline);
  }

  async #array({ parts }: Outline): Promise<unknown[]> {
    const result: unknown[] = [];
    for (const part of parts) {
      if ('nested' in part) {
        // A 0 in its place finds out whether anything stands before it.
        this.#parse('[', part.from, part.nested.from, '0]');
        result.push(await this.value(part.nested));
        continue;
      }
      const items = this.#parse('[', part.from, part.to, ']') as unknown[];
      if (items.length === 0) throw new JsonSyntaxError('Expected a value', part.to);
      for (const item of items) result.push(item);
      if (share.isOver) await share.turn();
    }
    return result;
  }

  async #object({ parts }: Outline): Promise<Record<string, unknown>> {
    const result: Record<string, unknown> = {};
    for (const part of parts) {
      if ('nested' in part) {
        const [name = ''] = Object.keys(this.#members(part.from, part.nested.from, '0}'));
        define(result, name, await this.value(part.nested));
        continue;
      }
      const members = this.#members(part.from, part.to, '}');
      for (const name of Object.keys(members)) define(result, name, members[name]);
      if (share.isOver) await share.turn();
    }
    return result;
  }

  #members(from: number, to: number, end: string): Record<string, unknown> {
    const members = this.#parse('{', from, to, end) as Record<string, unknown>;
    // Nothing between two commas, or between a comma and the bracket.
    if (Object.keys(members).length === 0) throw new JsonSyntaxError('Expected a member', to);
    return members;
  }

  #parse(start: string, from: number, to: number, end: string): unknown {
    return parsePiece(start + this.#text.slice(from, to) + end, from - start.length);
  }
}

/** As `JSON.parse` would: `__proto__` is a member like any other. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else {
    const attributes = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(target, name, { value, ...attributes });
  }
}

function parsePiece(text: string, offset: number): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new JsonSyntaxError('The body is not valid JSON', offset + jsonErrorOffset(text));
  }
}

function decode(bytes: Uint8Array): string {
  try {
    // The mark stays in the text, where JSON does not allow it (RFC 8259, 8.1).
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    throw invalidJson('The body is not valid UTF-8', lenient.indexOf('\ufffd'));
  }
}

function invalidJson(msg: string, offset: number): AppError {
  return invalidRequest({ type: 'json_invalid', loc: ['body', offset], msg });
}
