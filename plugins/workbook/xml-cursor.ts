/**
 * The tags of a piece of XML, one after the other, with the positions they stand at.
 *
 * Enough of XML 1.0 for parts of office documents: comments, CDATA and processing instructions are passed over, tags must
 * nest, and declarations (`<!DOCTYPE`, `<!ENTITY`) are refused wherever they stand (DS-68).
 */
import { unreadable } from './file-bytes.ts';
import { attributeValue } from './xml-text.ts';

const TAG =
  /<(\/?)([A-Za-z_\u0080-\u00ff][^\s/>=<]*)((?:\s+[^\s=/>]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Where something stands: from (inclusive) to (exclusive). */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A place in a piece of XML that moves from tag to tag. */
export class XmlCursor {
  readonly text: string;
  readonly #part: string;
  /** Qualified names of the open elements. */
  readonly #open: string[] = [];
  #at: number;
  #attributes = '';
  #isPastRoot = false;

  /** The present tag. */
  from = 0;
  to = 0;
  /** Qualified name of the present tag. */
  name = '';
  kind: 'open' | 'empty' | 'close' = 'open';

  /** `part` is named in errors; `at` is a position outside of any tag. */
  constructor(text: string, part: string, at = 0) {
    this.text = text;
    this.#part = part;
    this.#at = at;
  }

  /** Elements open after the present tag. */
  get depth(): number {
    return this.#open.length;
  }

  /** Name of the present tag without its prefix. */
  get local(): string {
    return this.name.slice(this.name.indexOf(':') + 1);
  }

  /** The prefix of the present tag with its colon, or ''. */
  get prefix(): string {
    return this.name.slice(0, this.name.indexOf(':') + 1);
  }

  /** Whether the text ended where XML may end: after its root element. */
  get isComplete(): boolean {
    return this.#isPastRoot && this.#open.length === 0;
  }

  /**
   * Moves to the next tag; false when no complete one follows: the text ends, or is no XML from here on (`isComplete`
   * tells). Throws `unreadable-file` for tags that do not nest and for declarations.
   */
  next(): boolean {
    const start = this.#skipToTag();
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

  /** Moves past the present open element to its closing tag; false when the text ends before. */
  skip(): boolean {
    if (this.kind !== 'open') return true;
    const outside = this.#open.length - 1;
    while (this.next()) if (this.#open.length === outside) return true;
    return false;
  }

  /** The value of an attribute of the present tag; undefined when absent. */
  attribute(name: string): string | undefined {
    return this.#attributeWhere((candidate) => candidate === name);
  }

  /** As `attribute`, by local name: the attribute must have a prefix, whichever the file has chosen. */
  prefixedAttribute(local: string): string | undefined {
    return this.#attributeWhere((candidate) => candidate.endsWith(`:${local}`));
  }

  #attributeWhere(isMeant: (name: string) => boolean): string | undefined {
    for (const [, name, double, single] of this.#attributes.matchAll(ATTRIBUTE)) {
      if (isMeant(name!)) return attributeValue(double ?? single!);
    }
    return undefined;
  }

  /** Where the attribute with exactly this name stands in the text, with its name and quotes. */
  attributeSpan(name: string): Span | null {
    const start = this.from + 1 + (this.kind === 'close' ? 1 : 0) + this.name.length;
    for (const match of this.#attributes.matchAll(ATTRIBUTE)) {
      if (match[1] !== name) continue;
      return { from: start + match.index, to: start + match.index + match[0].length };
    }
    return null;
  }

  /** The next tag's position, past comments and the like; -1 when the text ends before. */
  #skipToTag(): number {
    for (let at = this.#at; ;) {
      const start = this.text.indexOf('<', at);
      if (start < 0) return -1;
      const next = this.text[start + 1];
      if (next !== '!' && next !== '?') return start;
      const end = afterMarkup(this.text, start, this.#part);
      if (end < 0) return -1;
      at = end;
    }
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

  /** The error for XML that is none at `position` of the text. */
  malformed(position: number): Error {
    return unreadable(`${this.#part} is malformed XML at character ${position}`);
  }
}

/**
 * The character after the comment, CDATA section or processing instruction at `at`; -1 when the text ends before. Throws
 * `unreadable-file` for a declaration.
 */
export function afterMarkup(text: string, at: number, part: string): number {
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
