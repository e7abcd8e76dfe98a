/**
 * The outline of a JSON text: brackets, bounds, and where a long text can be cut for `JSON.parse`.
 *
 * `JSON.parse` takes 85 bytes of memory per `{}`, accepts five million levels, and holds the event loop for a quarter
 * of a second on 32 MiB. So texts are scanned first, in turns, at 400 to 700 MB/s.
 */

import { MAX_NUMBER_LENGTH } from './json.ts';

/** What a JSON text may hold. */
export interface JsonBounds {
  /** Scalars and containers; names of members do not count. */
  readonly values: number;
  /** Nested containers. */
  readonly depth: number;
}

/** Deeper bodies serve no request here and overflow recursive code. */
export const JSON_BOUNDS: JsonBounds = { values: 100_000, depth: 32 };
/** Characters between cuts: up to 8 ms of parsing when numbers need all their digits. */
const SLICE = 64 * 1024;
/** A native search costs as much as looking at so many characters. */
const NEAR = 24;

/** Elements or members from `from` to `to`, with commas only in between. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** A container that was cut. `nested` children stand between runs; `from` is where their element or member starts. */
export interface Outline {
  readonly kind: '[' | '{';
  /** The opening bracket. */
  readonly from: number;
  /** After the closing bracket. */
  readonly to: number;
  readonly parts: readonly (Run | { readonly from: number; readonly nested: Outline })[];
}

/** The offset is in UTF-16 units. */
export class JsonSyntaxError extends SyntaxError {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

interface Open {
  isObject: boolean;
  from: number;
  /** Start of the present element or member. */
  elementFrom: number;
  /** Start of the text not yet in a part. */
  restFrom: number;
  /** End of a nested part that no comma has followed yet; else -1. */
  nestedTo: number;
  parts: (Run | { from: number; nested: Outline })[] | null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const BRACE = 0x20;

/** Call `advance` until it returns true. */
export class JsonOutliner {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  /** By depth; objects are reused. */
  readonly #stack: Open[] = [];
  #depth = 0;
  #position = 0;
  /** Start of the present string. */
  #stringFrom = 0;
  #isInString = false;
  /** After the last mark or string: where a number may start. */
  #scalarFrom = 0;
  #values = 1;
  #root: Outline | null = null;

  constructor(text: string, bounds: JsonBounds = JSON_BOUNDS) {
    this.#text = text;
    this.#bounds = bounds;
  }

  /** Null when nothing was cut: the text is short enough to parse. */
  get root(): Outline | null {
    return this.#root;
  }

  get values(): number {
    return this.#values;
  }

  /**
   * True at the end of the text. Throws `JsonSyntaxError` for unmatched brackets, an unterminated string, values or
   * levels past the bounds, and numbers past MAX_NUMBER_LENGTH.
   */
  advance(characters: number): boolean {
    const text = this.#text;
    const until = Math.min(text.length, this.#position + characters);
    let at = this.#isInString ? this.#string(this.#position, until) : this.#position;
    for (; at < until; at++) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.#stringFrom = at;
        at = this.#string(at + 1, until) - 1;
      } else if (unit === COMMA) this.#comma(at);
      else if ((unit & ~BRACE) === OPEN_ARRAY) this.#open(unit === OPEN_OBJECT, at);
      else if ((unit & ~BRACE) === CLOSE_ARRAY) this.#close(unit !== CLOSE_ARRAY, at);
    }
    this.#position = at;
    if (at < text.length) return false;
    if (this.#isInString) throw new JsonSyntaxError('Unterminated string', this.#stringFrom);
    this.#endScalar(at);
    if (this.#depth > 0) throw new JsonSyntaxError('Unexpected end of the text', at);
    return true;
  }

  #open(isObject: boolean, at: number): void {
    if (this.#depth >= this.#bounds.depth) {
      throw new JsonSyntaxError(`Nested deeper than ${this.#bounds.depth} levels`, at);
    }
    this.#values++;
    this.#scalarFrom = at + 1;
    const open = this.#stack[this.#depth++];
    if (open === undefined) {
      const start = { from: at, elementFrom: at + 1, restFrom: at + 1, nestedTo: -1 };
      this.#stack.push({ isObject, ...start, parts: null });
      return;
    }
    open.isObject = isObject;
    open.from = at;
    open.elementFrom = open.restFrom = at + 1;
    open.nestedTo = -1;
    open.parts = null;
  }

  #comma(at: number): void {
    if (this.#depth === 0) throw new JsonSyntaxError('Unexpected comma', at);
    this.#values++;
    this.#requireFew(at);
    this.#endScalar(at);
    const open = this.#stack[this.#depth - 1]!;
    if (open.nestedTo >= 0) {
      this.#endNested(open, at);
    } else if (at - open.restFrom >= SLICE) {
      (open.parts ??= []).push({ from: open.restFrom, to: at });
      open.restFrom = at + 1;
    }
    open.elementFrom = at + 1;
  }

  #close(isObject: boolean, at: number): void {
    const open = this.#depth === 0 ? undefined : this.#stack[--this.#depth];
    if (open?.isObject !== isObject) throw new JsonSyntaxError('Unexpected closing bracket', at);
    // Its first element was counted when it was opened.
    if (open.from === at - 1) this.#values--;
    this.#requireFew(at);
    this.#endScalar(at);
    if (open.parts === null) return;
    if (open.nestedTo >= 0) this.#endNested(open, at);
    else open.parts.push({ from: open.restFrom, to: at });
    const kind = isObject ? '{' : '[';
    const outline: Outline = { kind, from: open.from, to: at + 1, parts: open.parts };
    if (this.#depth === 0) this.#root = outline;
    else addNested(this.#stack[this.#depth - 1]!, outline);
  }

  #requireFew(at: number): void {
    if (this.#values > this.#bounds.values) {
      throw new JsonSyntaxError(`More than ${this.#bounds.values} values`, at);
    }
  }

  /** A number, a word or white space ends here; looks for a long number from its possible far end. */
  #endScalar(at: number): void {
    const from = this.#scalarFrom;
    this.#scalarFrom = at + 1;
    if (at - from <= MAX_NUMBER_LENGTH) return;
    for (let start = from; start + MAX_NUMBER_LENGTH < at;) {
      let seen = start + MAX_NUMBER_LENGTH;
      while (seen >= start && this.#text.charCodeAt(seen) > 0x20) seen--;
      if (seen < start) {
        const message = `A number of more than ${MAX_NUMBER_LENGTH} characters`;
        throw new JsonSyntaxError(message, start);
      }
      start = seen + 1;
    }
  }

  /** After the closing quote; if there is none before `until`, some position past `until`. */
  #string(from: number, until: number): number {
    const text = this.#text;
    this.#isInString = true;
    let at = from;
    while (this.#isInString && at < until) {
      for (const near = Math.min(at + NEAR, until); at < near; at++) {
        const unit = text.charCodeAt(at);
        if (unit === BACKSLASH) at++;
        else if (unit === QUOTE) {
          this.#isInString = false;
          break;
        }
      }
      if (this.#isInString && at < until) {
        const quote = text.indexOf('"', at);
        if (quote < 0) throw new JsonSyntaxError('Unterminated string', this.#stringFrom);
        let before = quote;
        while (before > at && text.charCodeAt(before - 1) === BACKSLASH) before--;
        this.#isInString = (quote - before) % 2 === 1;
        at = quote;
        if (this.#isInString) at++;
      }
    }
    if (!this.#isInString) at++;
    this.#scalarFrom = at;
    return at;
  }

  #endNested(open: Open, at: number): void {
    requireBlank(this.#text, open.nestedTo, at);
    open.nestedTo = -1;
    open.restFrom = at + 1;
  }
}

/**
 * Throws `JsonSyntaxError` past the bounds and for open brackets or strings. Nearly free for a text too short to pass
 * them; its depth is not checked.
 */
export function requireJsonBounds(text: string, bounds: JsonBounds = JSON_BOUNDS): void {
  if (text.length <= Math.min(MAX_NUMBER_LENGTH, bounds.values)) return;
  new JsonOutliner(text, bounds).advance(text.length);
}

function addNested(parent: Open, nested: Outline): void {
  const parts = (parent.parts ??= []);
  if (parent.restFrom < parent.elementFrom) {
    parts.push({ from: parent.restFrom, to: parent.elementFrom - 1 });
  }
  parts.push({ from: parent.elementFrom, nested });
  parent.nestedTo = nested.to;
}

/** Throws unless only JSON white space is between the positions. */
export function requireBlank(text: string, from: number, to: number): void {
  const offset = text.slice(from, to).search(/[^ \t\r\n]/);
  if (offset >= 0) throw new JsonSyntaxError('Unexpected text', from + offset);
}
