/** Binding, strongest first: NOT, AND, OR, space. Apostrophes and brackets are ordinary characters. */
import type { Terms, TermValue, Word } from './ast.ts';
import { MAX_EXPRESSION_DEPTH, MAX_TERMS } from '../limits.ts';
import { strayWordNotice } from './foreign-words.ts';
import { markPlaceholders, unmarkPlaceholders } from './placeholder.ts';
import { Problem } from './problem.ts';
import { quoted, type TerseReader } from './terse-reader.ts';

/** Sent when the precedence may surprise. */
const MIXED_NOTICE = 'AND and OR are mixed: AND binds tighter than OR, a space binds weakest';

const MEANINGS: Readonly<Record<string, string>> = {
  AND: 'for rows with both sides',
  OR: 'for rows with either side',
  NOT: 'for rows without what follows',
};

const FIELD = /^[A-Za-z_@][A-Za-z0-9_@.\-:/$]*$/;
const OPERATORS = ['==', '!=', '<=', '>=', '=', '<', '>'] as const;

/** Throws `syntax`, `too_large`. */
export function parseTerms(reader: TerseReader, notice: (text: string) => void): Terms {
  const parser = new TermParser(reader);
  const terms = parser.group(0);
  if (parser.isMixed) notice(MIXED_NOTICE);
  // Only plain words next to each other: these are hardly ever meant as text.
  for (const text of parser.notices()) notice(text);
  const items = terms.kind === 'all' ? terms.items : [terms];
  items.forEach((item, index) => {
    if (item.kind !== 'word' || item.isQuoted) return;
    const text = strayWordNotice(unmarkPlaceholders(item.word.text), index === 0);
    if (text !== null) notice(text);
  });
  return terms;
}

class TermParser {
  isMixed = false;
  readonly #reader: TerseReader;
  #count = 0;
  readonly #lowered: { readonly word: string; readonly at: number }[] = [];
  readonly #starred: string[] = [];

  constructor(reader: TerseReader) {
    this.#reader = reader;
  }

  /** On what is text here and hardly meant so. */
  notices(): string[] {
    const between = this.#lowered.filter(
      ({ word, at }) => at < this.#count && (at > 1 || word.toUpperCase() === 'NOT'),
    );
    return [
      ...between.map(({ word }) => {
        const meant = word.toUpperCase();
        return `'${word}' was searched as a word; write ${meant} in capitals ${MEANINGS[meant]!}`;
      }),
      ...this.#starred,
    ];
  }

  #noteStar({ text }: Word, field = ''): void {
    const written = unmarkPlaceholders(text);
    // A lone run of them is hardly a pattern, and `\*` is one nowhere.
    if (!/(?<!\\)\*/.test(written) || !/[^\s*]/.test(written)) return;
    const bare = written.replace(/\s*\*[\s*]*/g, '*');
    const meant = /[\s"(),|=<>\\]/.test(bare) ? '' : `: ${field}${bare}`;
    const what = field + quoted(written);
    this.#starred.push(
      `'*' in ${what} is an ordinary character; without the quotes it stands for any text${meant}`,
    );
  }

  group(depth: number): Terms {
    const items: Terms[] = [];
    while (!this.#reader.isAtEnd() && this.#reader.peek() !== ')') {
      if (items.length > 0) this.#reader.take(',');
      if (this.#reader.isAtEnd()) break;
      items.push(this.#either(depth));
    }
    return items.length === 1 ? items[0]! : { kind: 'all', items };
  }

  #either(depth: number): Terms {
    const items = [this.#both(depth)];
    while (this.#takeWord('OR')) items.push(this.#both(depth));
    if (items.length === 1) return items[0]!.terms;
    if (items.some(({ isJoined }) => isJoined)) this.isMixed = true;
    return { kind: 'or', items: items.map(({ terms }) => terms) };
  }

  #both(depth: number): { terms: Terms; isJoined: boolean } {
    const items = [this.#negated(depth)];
    while (this.#takeWord('AND')) items.push(this.#negated(depth));
    if (items.length === 1) return { terms: items[0]!, isJoined: false };
    return { terms: { kind: 'and', items }, isJoined: true };
  }

  #negated(depth: number): Terms {
    if (depth > MAX_EXPRESSION_DEPTH) {
      throw new Problem('too_large', `Expressions may be ${MAX_EXPRESSION_DEPTH} deep`);
    }
    if (this.#takeWord('NOT')) return { kind: 'not', item: this.#negated(depth + 1) };
    if (this.#reader.peek() !== '(') return this.#term();
    const { at } = this.#reader;
    this.#reader.take('(');
    const terms = this.group(depth + 1);
    if (!this.#reader.take(')')) {
      throw new Problem('syntax', "Missing ')'", { place: { at, length: 1 } });
    }
    if (terms.kind === 'all' && terms.items.length === 0) {
      throw new Problem('syntax', "Expected a search term, found ')'", {
        place: { at: this.#reader.at - 1, length: 1 },
      });
    }
    return terms;
  }

  #term(): Terms {
    if (++this.#count > MAX_TERMS) {
      throw new Problem('too_large', `A search may have ${MAX_TERMS} terms`);
    }
    const phrase = this.#reader.takeString();
    const word = phrase ?? this.#word();
    if (word === null) throw this.#reader.expected('a search term');
    const op = this.#operator();
    if (op !== null) return this.#comparison(word, phrase !== null, op);
    if (phrase === null && isReserved(word.text)) {
      throw new Problem('syntax', `Expected a search term, found '${word.text}'`, {
        place: word.place,
      });
    }
    if (FIELD.test(word.text) && this.#takeListStart()) {
      return this.#list(word);
    }
    if (phrase !== null) this.#noteStar(phrase);
    else if (/^(?:and|or|not)$/i.test(word.text))
      this.#lowered.push({ word: word.text, at: this.#count });
    return { kind: 'word', word, isQuoted: phrase !== null };
  }

  #takeListStart(): boolean {
    const { at } = this.#reader;
    if (this.#reader.takeWord()?.text === 'IN' && this.#reader.take('(')) return true;
    this.#reader.at = at;
    return false;
  }

  #list(field: Word): Terms {
    const values = this.#reader.list(() => this.#value());
    if (!this.#reader.take(')')) throw this.#reader.expected("',' or ')'");
    if (values.length > MAX_TERMS) {
      throw new Problem('too_large', `A search may have ${MAX_TERMS} terms`);
    }
    for (const value of values) if (value.isQuoted) this.#noteStar(value);
    return { kind: 'compare', field, op: '=', values, isList: true };
  }

  #comparison(field: Word, isQuoted: boolean, op: (typeof OPERATORS)[number]): Terms {
    if (!isQuoted && !FIELD.test(field.text)) {
      const written = unmarkPlaceholders(field.text);
      const text = `'${written}' is not a field name; put the text in double quotes`;
      throw new Problem('syntax', text, { place: field.place });
    }
    const values = [this.#value()];
    if (values[0]!.isQuoted) this.#noteStar(values[0]!, `${unmarkPlaceholders(field.text)}${op}`);
    return { kind: 'compare', field, op: op === '==' ? '=' : op, values, isList: false };
  }

  #value(): TermValue {
    const text = this.#reader.takeString();
    if (text) return { ...text, isQuoted: true };
    const word = this.#reader.takeWord();
    if (word === null) throw this.#reader.expected('a value');
    return { ...word, isQuoted: false };
  }

  #operator(): (typeof OPERATORS)[number] | null {
    const { at } = this.#reader;
    const found = OPERATORS.find((operator) => this.#reader.take(operator));
    if (found === undefined) this.#reader.at = at;
    return found ?? null;
  }

  #word(): Word | null {
    this.#reader.skip();
    const { text, to, at } = this.#reader;
    let end = at;
    while (end < to && !/[\s",()|=<>]/.test(text[end]!) && !text.startsWith('!=', end)) end++;
    if (end === at) return null;
    this.#reader.at = end;
    return { text: markPlaceholders(text.slice(at, end)), place: { at, length: end - at } };
  }

  #takeWord(keyword: string): boolean {
    const { at } = this.#reader;
    if (this.#reader.peek() !== '"' && this.#word()?.text === keyword) {
      // `OR=1` compares a field of that name.
      const after = this.#reader.at;
      const isField = this.#operator() !== null;
      this.#reader.at = isField ? at : after;
      return !isField;
    }
    this.#reader.at = at;
    return false;
  }
}

function isReserved(word: string): boolean {
  return word === 'AND' || word === 'OR' || word === 'NOT';
}

export function printTerms(terms: Terms): string {
  switch (terms.kind) {
    case 'all':
      return terms.items.map(printInner).join(' ');
    case 'or':
      return terms.items.map(printInner).join(' OR ');
    case 'and':
      return terms.items.map(printInner).join(' AND ');
    case 'not':
      return `NOT ${printInner(terms.item)}`;
    case 'word':
      return terms.isQuoted ? quotedText(terms.word.text) : unmarkPlaceholders(terms.word.text);
    case 'compare': {
      const field = FIELD.test(terms.field.text) ? terms.field.text : quotedText(terms.field.text);
      const values = terms.values.map(printValue);
      if (!terms.isList) return `${field}${terms.op}${values[0]}`;
      return `${field} IN (${values.join(', ')})`;
    }
  }
}

function printInner(terms: Terms): string {
  const isGroup = terms.kind === 'all' || terms.kind === 'or' || terms.kind === 'and';
  return isGroup ? `(${printTerms(terms)})` : printTerms(terms);
}

function printValue({ text, isQuoted }: TermValue): string {
  return isQuoted ? quotedText(text) : unmarkPlaceholders(text);
}

function quotedText(text: string): string {
  return quoted(unmarkPlaceholders(text));
}
