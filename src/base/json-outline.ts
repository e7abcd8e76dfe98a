/**
 * The outline of a JSON text: where its brackets open and close, and where a long text may be cut into pieces that
 * `JSON.parse` can take one at a time.
 *
 * `JSON.parse` on 32 MiB holds the event loop for a quarter of a second, and accepts five million nested levels. So the
 * brackets are walked first, in turns: that bounds the depth, and remembers a comma about every SLICE characters.
 * Everything between the cuts is left to `JSON.parse`, which finds all other errors.
 */

/** Nesting of the contract's bodies; what is deeper serves no request here and overflows recursive code. */
const MAX_JSON_DEPTH = 32;
/** Characters between two cuts: up to 8 ms of parsing when numbers need all their digits. */
const SLICE = 64 * 1024;

/** Text from `from` to `to`: elements or members with commas between, none around. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** A container that was cut. `nested` children stand between runs; `from` is where their element or member starts. */
export interface Outline {
  readonly kind: '[' | '{';
  /** Position of the opening bracket. */
  readonly from: number;
  /** Position after the closing bracket. */
  readonly to: number;
  readonly parts: readonly (Run | { readonly from: number; readonly nested: Outline })[];
}

/** Where a text stops being JSON, in UTF-16 units. */
export class JsonSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

interface Open {
  readonly kind: '[' | '{';
  readonly from: number;
  /** Where the present element or member starts. */
  elementFrom: number;
  /** Where the text not yet in a part starts. */
  restFrom: number;
  /** End of a nested part that no comma has followed yet; -1 otherwise. */
  nestedTo: number;
  parts: (Run | { from: number; nested: Outline })[];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Walks one text; call `advance` until it answers true. */
export class JsonOutliner {
  readonly #text: string;
  readonly #stack: Open[] = [];
  #position = 0;
  #root: Outline | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** The outline of the outermost container when it was cut, else null: then the text is short enough to parse. */
  get root(): Outline | null {
    return this.#root;
  }

  /**
   * Goes on for about `characters`; true at the end of the text. Throws `JsonSyntaxError` for brackets that do not
   * match, an unterminated string, and nesting beyond MAX_JSON_DEPTH.
   */
  advance(characters: number): boolean {
    const text = this.#text;
    const until = Math.min(text.length, this.#position + characters);
    let at = this.#position;
    for (; at < until; at++) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) at = endOfString(text, at);
      else if (unit === COMMA) this.#comma(at);
      else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) this.#open(unit, at);
      else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) this.#close(unit, at);
    }
    this.#position = at;
    if (at < text.length) return false;
    if (this.#stack.length > 0) throw new JsonSyntaxError('Unexpected end of the text', at);
    return true;
  }

  #open(unit: number, at: number): void {
    if (this.#stack.length === MAX_JSON_DEPTH) {
      throw new JsonSyntaxError(`Nested deeper than ${MAX_JSON_DEPTH} levels`, at);
    }
    this.#stack.push({
      kind: unit === OPEN_OBJECT ? '{' : '[',
      from: at,
      elementFrom: at + 1,
      restFrom: at + 1,
      nestedTo: -1,
      parts: [],
    });
  }

  #comma(at: number): void {
    const open = this.#stack.at(-1);
    if (open === undefined) throw new JsonSyntaxError('Unexpected comma', at);
    if (open.nestedTo >= 0) {
      this.#endNested(open, at);
    } else if (at - open.restFrom >= SLICE) {
      open.parts.push({ from: open.restFrom, to: at });
      open.restFrom = at + 1;
    }
    open.elementFrom = at + 1;
  }

  #close(unit: number, at: number): void {
    const open = this.#stack.pop();
    if (open?.kind !== (unit === CLOSE_OBJECT ? '{' : '[')) {
      throw new JsonSyntaxError('Unexpected closing bracket', at);
    }
    if (open.parts.length === 0) return;
    if (open.nestedTo >= 0) this.#endNested(open, at);
    else open.parts.push({ from: open.restFrom, to: at });
    const outline = { kind: open.kind, from: open.from, to: at + 1, parts: open.parts };
    const parent = this.#stack.at(-1);
    if (parent === undefined) this.#root = outline;
    else addNested(parent, outline);
  }

  #endNested(open: Open, at: number): void {
    requireBlank(this.#text, open.nestedTo, at);
    open.nestedTo = -1;
    open.restFrom = at + 1;
  }
}

function addNested(parent: Open, nested: Outline): void {
  if (parent.restFrom < parent.elementFrom) {
    parent.parts.push({ from: parent.restFrom, to: parent.elementFrom - 1 });
  }
  parent.parts.push({ from: parent.elementFrom, nested });
  parent.nestedTo = nested.to;
}

/** Throws when anything but JSON white space stands between the two positions. */
export function requireBlank(text: string, from: number, to: number): void {
  const offset = text.slice(from, to).search(/[^ \t\r\n]/);
  if (offset >= 0) throw new JsonSyntaxError('Unexpected text', from + offset);
}

/** Position of the quote that ends the string starting at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  throw new JsonSyntaxError('Unterminated string', from);
}
