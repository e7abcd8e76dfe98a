/**
 * The tags of a piece of XML in order.
 *
 * Enough of XML 1.0 for office documents: comments, CDATA and processing instructions are skipped, tags must nest,
 * and declarations (`<!DOCTYPE`, `<!ENTITY`) are refused everywhere, because entities can expand without bound.
 */
import { unreadable } from '../../../src/base/errors.ts';
import { attributeValue } from './xml-text.ts';

const TAG =
  /<(\/?)([A-Za-z_\u0080-\u00ff][^\s/>=<]*)((?:\s+[^\s=/>]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export class XmlCursor {
  readonly text: string;
  readonly #part: string;
  readonly #open: string[] = [];
  #at = 0;
  #attributes = '';
  #isPastRoot = false;

  from = 0;
  to = 0;
  name = '';
  kind: 'open' | 'empty' | 'close' = 'open';

  constructor(text: string, part: string) {
    this.text = text;
    this.#part = part;
  }

  get depth(): number {
    return this.#open.length;
  }

  get local(): string {
    return this.name.slice(this.name.indexOf(':') + 1);
  }

  get prefix(): string {
    return this.name.slice(0, this.name.indexOf(':') + 1);
  }

  /** Whether the text ended after the root element. */
  get isComplete(): boolean {
    return this.#isPastRoot && this.#open.length === 0;
  }

  /**
   * False when the text ends, or is not XML from here on (`isComplete` tells). Throws `unreadable-file` for tags that
   * do not nest and for declarations.
   */
  next(): boolean {
    const start = nextTag(this.text, this.#at, this.#part);
    if (start < 0) return false;
    TAG.lastIndex = start;
    const match = TAG.exec(this.text);
    if (match === null) return false;
    this.from = start;
    this.to = TAG.lastIndex;
    this.#at = this.to;
    this.name = match[2]!;
    this.#attributes = match[3]!;
    this.kind = match[1] === '/' ? 'close' : match[4] === '/' ? 'empty' : 'open';
    this.#nest();
    return true;
  }

  /** Moves to the closing tag of the current element; false when the text ends first. */
  skip(): boolean {
    if (this.kind !== 'open') return true;
    const outside = this.#open.length - 1;
    while (this.next()) if (this.#open.length === outside) return true;
    return false;
  }

  /** Undefined when absent. */
  attribute(name: string): string | undefined {
    return this.#attributeWhere((candidate) => candidate === name)?.value;
  }

  /** By local name; the attribute must have a prefix, whichever it is. */
  prefixedAttribute(local: string): string | undefined {
    return this.#attributeWhere((candidate) => candidate.endsWith(`:${local}`))?.value;
  }

  attributeSpan(name: string): Span | null {
    return this.#attributeWhere((candidate) => candidate === name)?.span ?? null;
  }

  #attributeWhere(isMeant: (name: string) => boolean): { value: string; span: Span } | undefined {
    for (const match of this.#attributes.matchAll(ATTRIBUTE)) {
      if (!isMeant(match[1]!)) continue;
      const from = this.from + 1 + this.name.length + match.index;
      const span = { from, to: from + match[0].length };
      return { value: attributeValue(match[2] ?? match[3]!), span };
    }
    return undefined;
  }

  #nest(): void {
    if (this.kind === 'close') {
      if (this.#open.pop() !== this.name) throw this.malformed(this.from);
      if (this.#open.length === 0) this.#isPastRoot = true;
      return;
    }
    if (this.#open.length === 0 && this.#isPastRoot) throw this.malformed(this.from);
    if (this.kind === 'open') this.#open.push(this.name);
    else if (this.#open.length === 0) this.#isPastRoot = true;
  }

  /** For text that is no XML at `position`. */
  malformed(position: number): Error {
    return unreadable(`${this.#part} is malformed XML at character ${position}`);
  }
}

/** -1 when the text ends first. Throws `unreadable-file` for a declaration. */
function afterMarkup(text: string, at: number, part: string): number {
  const end = (mark: string): number => {
    const found = text.indexOf(mark, at);
    return found < 0 ? -1 : found + mark.length;
  };
  if (text.startsWith('<?', at)) return end('?>');
  if (text.startsWith('<!--', at)) return end('-->');
  if (text.startsWith('<![CDATA[', at)) return end(']]>');
  const rest = text.slice(at, at + '<![CDATA['.length);
  const isCut = '<!--'.startsWith(rest) || '<![CDATA['.startsWith(rest);
  if (isCut) return -1;
  throw unreadable(`${part} holds an XML declaration (DOCTYPE or entity)`);
}

// Below, XML is skipped by position, several times as fast. All return -1 when the text ends first.

const SPACE = 0x20;
const DOUBLE_QUOTE = 34;
const SINGLE_QUOTE = 39;
const SLASH = 47;
const LESS = 60;
const GREATER = 62;
const BANG = 33;
const QUESTION = 63;

export function afterTag(text: string, at: number): number {
  for (let here = at + 1; here < text.length; here++) {
    const code = text.charCodeAt(here);
    if (code === GREATER) return here + 1;
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
      here = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", here + 1);
      if (here < 0) return -1;
    }
  }
  return -1;
}

export function afterElement(text: string, at: number, part: string): number {
  let depth = 0;
  for (let here = at; ;) {
    // With `nextTag` a sheet of inline texts would take 8 % longer.
    const start = text.indexOf('<', here);
    if (start < 0) return -1;
    const next = text.charCodeAt(start + 1);
    const isMarkup = next === BANG || next === QUESTION;
    here = isMarkup ? afterMarkup(text, start, part) : afterTag(text, start);
    if (here < 0) return -1;
    if (isMarkup) continue;
    if (next === SLASH) depth--;
    else if (text.charCodeAt(here - 2) !== SLASH) depth++;
    if (depth <= 0) return here;
  }
}

/** Skips white space and comments. */
export function nextTag(text: string, at: number, part: string): number {
  for (let here = at; ;) {
    let code = text.charCodeAt(here);
    while (code <= SPACE) code = text.charCodeAt(++here);
    if (code !== LESS) {
      here = text.indexOf('<', here);
      if (here < 0) return -1;
    }
    const next = text.charCodeAt(here + 1);
    if (next !== BANG && next !== QUESTION) return next === next ? here : -1;
    here = afterMarkup(text, here, part);
    if (here < 0) return -1;
  }
}
