/** The words of HTML and XML without tags, scripts and styles. For searching, never for showing. */
import type { Handler } from 'htmlparser2';

const UNSEEN: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
]);
/** Do not separate words. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strong sub sup u var wbr tspan'.split(
    ' ',
  ),
);

/** The text below one heading that has an id, or before the first such heading. */
interface MarkupSection {
  /** Null before the first heading. */
  readonly heading: {
    readonly level: number;
    readonly anchor: string;
    readonly text: string;
  } | null;
  readonly text: string;
}

interface MarkupWords {
  /** Null when missing or empty. */
  readonly title: string | null;
  readonly sections: readonly MarkupSection[];
}

/** Blanks folded, scripts and styles left out. Accepts any bytes. */
export async function xmlText(markup: string): Promise<string> {
  const { Parser } = await import('htmlparser2');
  const words: string[] = [];
  let unseen = 0;
  const parser = new Parser(
    {
      onopentag: (name) => (unseen += UNSEEN.has(name) ? 1 : 0),
      ontext: (text) => unseen === 0 && words.push(text),
      onclosetag(name) {
        if (UNSEEN.has(name)) unseen = Math.max(0, unseen - 1);
        words.push(' ');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(markup);
  return folded(words);
}

/** By headings. Accepts any bytes. */
export async function readMarkup(markup: string): Promise<MarkupWords> {
  const { Parser } = await import('htmlparser2');
  const words = new WordCollector();
  const parser = new Parser(words, { decodeEntities: true });
  parser.end(markup);
  return words.result();
}

class WordCollector implements Partial<Handler> {
  readonly #sections: { heading: MarkupSection['heading']; words: string[] }[] = [
    { heading: null, words: [] },
  ];
  readonly #title: string[] = [];
  #unseen = 0;
  #isInTitle = false;
  #heading: { level: number; anchor: string; words: string[] } | null = null;

  onopentag(name: string, attributes: Record<string, string>): void {
    if (UNSEEN.has(name)) this.#unseen += 1;
    else if (name === 'title') this.#isInTitle = true;
    else if (/^h[1-6]$/.test(name) && attributes['id']) {
      this.#heading = { level: Number(name[1]), anchor: attributes['id'], words: [] };
    } else if (name === 'img' && attributes['alt']) this.#add(` ${attributes['alt']} `);
    else if (!INLINE.has(name)) this.#add(' ');
  }

  ontext(text: string): void {
    if (this.#unseen === 0) this.#add(text);
  }

  onclosetag(name: string): void {
    if (UNSEEN.has(name)) this.#unseen = Math.max(0, this.#unseen - 1);
    else if (name === 'title') this.#isInTitle = false;
    else if (this.#heading !== null && name === `h${this.#heading.level}`) this.#endHeading();
    else if (!INLINE.has(name)) this.#add(' ');
  }

  result(): MarkupWords {
    if (this.#heading !== null) this.#endHeading();
    const title = folded(this.#title);
    return {
      title: title === '' ? null : title,
      sections: this.#sections.map(({ heading, words }) => ({ heading, text: folded(words) })),
    };
  }

  #add(text: string): void {
    if (this.#isInTitle) this.#title.push(text);
    else (this.#heading ?? this.#sections.at(-1)!).words.push(text);
  }

  #endHeading(): void {
    const { level, anchor, words } = this.#heading!;
    this.#heading = null;
    this.#sections.push({ heading: { level, anchor, text: folded(words) }, words: [] });
  }
}

function folded(words: readonly string[]): string {
  return words.join('').replace(/\s+/g, ' ').trim();
}
