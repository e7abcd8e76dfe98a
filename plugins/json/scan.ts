/**
 * Where the values of a JSON text begin and end, without parsing them.
 *
 * What stands inside a value is checked when its cell is made, except brackets and quotes.
 */

/** The text is no JSON at `at`, a position in the scanned text. */
export class JsonFault extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

/** Deeper values serve no table, and every level costs the readers of the answer stack. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

export function skipSpace(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    // NaN at the end of the text.
    if (!(code === SPACE || code === 0x0a || code === 0x0d || code === 0x09)) return at;
  }
}

/** -1 when the text ends before the value does. A number needs something behind it. */
function endOfValue(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === QUOTE) return endOfText(text, at);
  if (code === OPEN_OBJECT || code === OPEN_ARRAY) return endOfNested(text, at);
  let end = at;
  while (end < text.length && isPlain(text.charCodeAt(end))) end++;
  if (end === text.length) return -1;
  if (end === at) throw new JsonFault('a value is missing', at);
  return end;
}

/** Characters of numbers and words. */
function isPlain(code: number): boolean {
  return (
    code > SPACE &&
    code !== COMMA &&
    code !== COLON &&
    code !== QUOTE &&
    code !== CLOSE_ARRAY &&
    code !== CLOSE_OBJECT &&
    code !== OPEN_ARRAY &&
    code !== OPEN_OBJECT
  );
}

function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
    else if (code < SPACE) throw new JsonFault('a line end or control character in a text', at);
  }
  return -1;
}

function endOfNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at) - 1;
      if (at < 0) return -1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) throw new JsonFault(`more than ${MAX_DEPTH} nested levels`, at);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (--depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The members of one object. Reused between rows to avoid allocation. */
export class MemberSpans {
  count = 0;
  /** Per member: the name between its quotes, the value. */
  #spans = new Int32Array(256);

  nameFrom(member: number): number {
    return this.#spans[member * 4]!;
  }

  nameTo(member: number): number {
    return this.#spans[member * 4 + 1]!;
  }

  valueFrom(member: number): number {
    return this.#spans[member * 4 + 2]!;
  }

  valueTo(member: number): number {
    return this.#spans[member * 4 + 3]!;
  }

  /** -1 when the text ends before the object does. Throws `JsonFault`. */
  scan(text: string, from: number): number {
    this.count = 0;
    let at = skipSpace(text, from + 1);
    if (text.charCodeAt(at) === CLOSE_OBJECT) return at + 1;
    for (;;) {
      if (at >= text.length) return -1;
      if (text.charCodeAt(at) !== QUOTE) throw new JsonFault('a name in quotes is missing', at);
      const nameTo = endOfText(text, at);
      const colon = nameTo < 0 ? text.length : skipSpace(text, nameTo);
      if (colon >= text.length) return -1;
      if (text.charCodeAt(colon) !== COLON) throw new JsonFault('a colon is missing', colon);
      const valueFrom = skipSpace(text, colon + 1);
      if (valueFrom >= text.length) return -1;
      const valueTo = endOfValue(text, valueFrom);
      const next = valueTo < 0 ? text.length : skipSpace(text, valueTo);
      if (next >= text.length) return -1;
      this.#add(at + 1, nameTo - 1, valueFrom, valueTo);
      const code = text.charCodeAt(next);
      if (code === CLOSE_OBJECT) return next + 1;
      if (code !== COMMA) throw new JsonFault('a comma is missing', next);
      at = skipSpace(text, next + 1);
    }
  }

  #add(nameFrom: number, nameTo: number, valueFrom: number, valueTo: number): void {
    const at = this.count++ * 4;
    if (at === this.#spans.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#spans);
      this.#spans = larger;
    }
    this.#spans[at] = nameFrom;
    this.#spans[at + 1] = nameTo;
    this.#spans[at + 2] = valueFrom;
    this.#spans[at + 3] = valueTo;
  }
}

/** Until `visit` returns false; after the list, or -1 when it was left or the text ends before it does. */
export function eachElement(
  text: string,
  from: number,
  visit: (valueFrom: number, valueTo: number) => boolean,
): number {
  let at = skipSpace(text, from + 1);
  if (text.charCodeAt(at) === CLOSE_ARRAY) return at + 1;
  for (;;) {
    if (at >= text.length) return -1;
    const end = endOfValue(text, at);
    if (end < 0 || !visit(at, end)) return -1;
    at = skipSpace(text, end);
    if (at >= text.length) return -1;
    if (text.charCodeAt(at) === CLOSE_ARRAY) return at + 1;
    if (text.charCodeAt(at) !== COMMA) throw new JsonFault('a comma is missing', at);
    at = skipSpace(text, at + 1);
  }
}
