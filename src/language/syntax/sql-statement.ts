/**
 * The query that a simple SQL statement stands for, so that who types SQL sees how the same is asked here: columns, expressions and
 * aggregates of one table, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT.
 */
import { printName } from '../expressions/expression.ts';
import { printSourceName } from './source-name.ts';
import { quoted } from './terse-reader.ts';

const STATEMENT = /^\s*(?:select\b[^|]*?\sfrom\s+[\w"'`[@]|with\s+\S+\s+as\s*\()/i;
const TOKEN =
  /\s+|--[^\n]*|(?<text>'(?:[^']|'')*')|(?<name>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])|(?<word>[A-Za-z_@][\w@]*(?:\.[A-Za-z_@][\w@]*)*)|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<sign><>|!=|<=|>=|==|\|\||[-+*/%=<>(),;])/y;
/** Nobody types more, and names are looked up in lists. */
const MAX_CHARACTERS = 4_096;
const CLAUSES = ['SELECT', 'FROM', 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT'] as const;
/** Statements with one of these have no single query that is the same. */
const BEYOND =
  'JOIN UNION INTERSECT EXCEPT WITH CASE OVER EXISTS INTERVAL OFFSET ILIKE CAST NULLS ALL ANY'.split(
    ' ',
  );
const AGGREGATES: Readonly<Record<string, string>> = {
  count: 'count',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  median: 'median',
  mode: 'mode',
  stddev: 'stdev',
  stddev_samp: 'stdev',
  stddev_pop: 'stdevp',
  variance: 'var',
  var_samp: 'var',
  var_pop: 'varp',
};

interface Token {
  readonly kind: 'text' | 'name' | 'word' | 'number' | 'sign';
  /** As it is written here. */
  readonly text: string;
  /** Without quotes. */
  readonly value: string;
  /** Of words, in capitals; empty for others. */
  readonly key: string;
}

/** Something is selected from something: no words that one searches for in a text. */
export function isSqlStatement(text: string): boolean {
  return STATEMENT.test(text);
}

/** Whether a saved text is SQL, which may begin with a comment; the search language has none. */
export function isSql(text: string): boolean {
  return /^\s*--(?:\s|$)/.test(text) || isSqlStatement(text);
}

/** Null for a statement that is not simple. It is not known whether the query's names exist. */
export function queryOfSql(sql: string): string | null {
  const tokens = sql.length > MAX_CHARACTERS ? null : tokensOf(sql);
  const clauses = tokens && clausesOf(tokens);
  try {
    return clauses && new Statement(clauses).query();
  } catch (error) {
    if (error instanceof NotSimple) return null;
    throw error;
  }
}

function tokensOf(sql: string): Token[] | null {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < sql.length) {
    const groups = TOKEN.exec(sql)?.groups;
    if (groups === undefined) return null;
    at = TOKEN.lastIndex;
    const { text, name, word, number, sign } = groups;
    if (text !== undefined) {
      // DATE '2024-01-31' is the text alone.
      if (['DATE', 'TIMESTAMP'].includes(tokens.at(-1)?.key ?? '')) tokens.pop();
      const value = text.slice(1, -1).replaceAll("''", "'");
      tokens.push({ kind: 'text', text: quoted(value), value, key: '' });
    } else if (name !== undefined) {
      const mark = name[0]!;
      const value = name.slice(1, -1).replaceAll(mark + mark, mark);
      tokens.push({ kind: 'name', text: printName(value), value, key: '' });
    } else if (word !== undefined) {
      tokens.push({ kind: 'word', text: word, value: word, key: word.toUpperCase() });
    } else if (number !== undefined) tokens.push(plainToken('number', number));
    else if (sign !== undefined && sign !== ';') {
      tokens.push(plainToken('sign', sign === '<>' ? '!=' : sign === '||' ? '.' : sign));
    }
  }
  return tokens;
}

function plainToken(kind: Token['kind'], text: string): Token {
  return { kind, text, value: text, key: '' };
}

type Clauses = Partial<Record<(typeof CLAUSES)[number], Token[]>>;

function clausesOf(tokens: readonly Token[]): Clauses | null {
  const clauses: Clauses = {};
  let current: Token[] | null = null;
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    if (BEYOND.includes(token.key)) return null;
    const clause = CLAUSES.find((one) => one === token.key);
    if (clause === undefined) {
      if (current === null) return null;
      if (!(token.key === 'BY' && current.length === 0)) current.push(token);
      continue;
    }
    // A statement within this one, or a clause that comes twice.
    if (depth > 0 || clauses[clause] !== undefined) return null;
    current = clauses[clause] = [];
  }
  return clauses;
}

interface Item {
  /** The result's column; null for an expression without a name. */
  readonly name: string | null;
  readonly isAliased: boolean;
  readonly expression: readonly Token[];
  /** As `stats` writes it. */
  readonly aggregate: string | null;
}

/** What makes a statement too much for one query. */
class NotSimple extends Error {}

class Statement {
  readonly #clauses: Clauses;
  readonly #source: string;
  readonly #items: readonly Item[];
  /** Names of the table in front of those of its columns. */
  readonly #prefixes: readonly string[];

  constructor(clauses: Clauses) {
    this.#clauses = clauses;
    const [source, ...rest] = clauses.FROM ?? [];
    const [called, ...more] = rest[0]?.key === 'AS' ? rest.slice(1) : rest;
    const name = source?.kind === 'text' ? source.value : nameOf(source);
    if (name === '' || more.length > 0 || (called && nameOf(called) === '')) throw new NotSimple();
    this.#source = name;
    this.#prefixes = [nameOf(called), name].filter((one) => one !== '');
    const select = clauses.SELECT ?? [];
    const shown = this.#isDistinct ? select.slice(1) : select;
    this.#items = splitAt(shown).map((tokens) => this.#item(tokens));
  }

  get #isDistinct(): boolean {
    return this.#clauses.SELECT?.[0]?.key === 'DISTINCT';
  }

  query(): string {
    const { WHERE, GROUP } = this.#clauses;
    const stages = [`from ${printSourceName({ text: this.#source, place: NOWHERE })}`];
    if (WHERE) stages.push(`where ${this.#text(WHERE)}`);
    const made = this.#items.filter(
      ({ aggregate, expression }) => !aggregate && !isColumn(expression) && !isStar(expression),
    );
    const set = made.map(({ name, expression }) => `${named(name)}=${this.#text(expression)}`);
    if (set.length > 0) stages.push(`eval ${set.join(', ')}`);
    const isGrouped = GROUP !== undefined || this.#items.some(({ aggregate }) => aggregate);
    return [...stages, ...(isGrouped ? this.#grouped(GROUP) : this.#plainRows())].join(' | ');
  }

  #grouped(group: readonly Token[] | undefined): string[] {
    const { HAVING } = this.#clauses;
    if (this.#isDistinct || this.#items.some(isRenamed)) throw new NotSimple();
    const aggregates = this.#items.filter(({ aggregate }) => aggregate !== null);
    if (aggregates.length === 0) throw new NotSimple();
    const groups = group ? splitAt(group).map((one) => this.#columnOf(one)) : [];
    const calls = aggregates.map(({ aggregate, name, isAliased }) =>
      isAliased ? `${aggregate} AS ${named(name)}` : aggregate,
    );
    const by = groups.length > 0 ? ` BY ${groups.join(', ')}` : '';
    const stages = [`stats ${calls.join(', ')}${by}`];
    if (HAVING) stages.push(`where ${this.#text(this.#withColumns(HAVING))}`);
    const made = [...groups, ...aggregates.map(({ name }) => named(name))];
    const wanted = this.#items.map(({ name }) => named(name));
    stages.push(...this.#ends());
    return made.join() === wanted.join() ? stages : [...stages, `table ${wanted.join(', ')}`];
  }

  #plainRows(): string[] {
    if (this.#clauses.HAVING) throw new NotSimple();
    const renamed = this.#items
      .filter(isRenamed)
      .map(({ name, expression }) => `${this.#text(expression)} AS ${named(name)}`);
    const rename = renamed.length > 0 ? [`rename ${renamed.join(', ')}`] : [];
    const isAll = this.#items.some(({ expression }) => isStar(expression));
    const names = isAll ? '' : this.#items.map(({ name }) => named(name)).join(', ');
    const table = isAll ? [] : [`table ${names}`];
    if (!this.#isDistinct) return [...rename, ...this.#ends(), ...table];
    if (isAll) throw new NotSimple();
    return [...rename, ...table, `dedup keepempty=true ${names}`, ...this.#ends()];
  }

  /** ORDER BY and LIMIT. */
  #ends(): string[] {
    const { ORDER, LIMIT } = this.#clauses;
    const stages: string[] = [];
    if (ORDER) {
      const keys = splitAt(ORDER).map((tokens) => {
        const direction = tokens.at(-1)!.key;
        const isTold = direction === 'ASC' || direction === 'DESC';
        const column = this.#columnOf(isTold ? tokens.slice(0, -1) : tokens);
        return `${direction === 'DESC' ? '-' : ''}${column}`;
      });
      stages.push(`sort ${keys.join(', ')}`);
    }
    if (LIMIT) {
      if (LIMIT.length !== 1 || !/^\d+$/.test(LIMIT[0]!.text)) throw new NotSimple();
      stages.push(`head ${LIMIT[0]!.text}`);
    }
    return stages;
  }

  #item(tokens: readonly Token[]): Item {
    const [last, before] = [tokens.at(-1), tokens.at(-2)];
    const isAliased =
      before !== undefined &&
      nameOf(last) !== '' &&
      (before.kind !== 'sign' || before.text === ')');
    const expression = isAliased ? tokens.slice(0, before.key === 'AS' ? -2 : -1) : tokens;
    const aggregate = this.#aggregate(expression);
    const own = isColumn(expression) ? this.#plain(nameOf(expression[0])) : columnName(aggregate);
    return { name: isAliased ? nameOf(last) : own, isAliased, expression, aggregate };
  }

  /** Null for what is none. */
  #aggregate(tokens: readonly Token[]): string | null {
    if (!tokens.some((_token, at) => isAggregate(tokens, at))) return null;
    const end = closing(tokens, 1);
    // An expression of several aggregates takes a stage more.
    if (!isAggregate(tokens, 0) || end !== tokens.length - 1) throw new NotSimple();
    const name = AGGREGATES[tokens[0]!.text.toLowerCase()]!;
    const inner = tokens.slice(2, end);
    if (isStar(inner)) return 'count';
    const isDistinct = inner[0]?.key === 'DISTINCT';
    if (isDistinct && name !== 'count') throw new NotSimple();
    return isDistinct ? `dc(${this.#text(inner.slice(1))})` : `${name}(${this.#text(inner)})`;
  }

  /** Named, by its place in the list, or by the same expression. */
  #columnOf(tokens: readonly Token[]): string {
    const [first] = tokens;
    const text = this.#text(tokens);
    if (isColumn(tokens)) {
      const renamed = this.#items.find(
        (item) => isRenamed(item) && this.#text(item.expression) === text,
      );
      return renamed ? named(renamed.name) : printName(this.#plain(nameOf(first)));
    }
    const item =
      tokens.length === 1 && first!.kind === 'number'
        ? this.#items[Number(first!.text) - 1]
        : this.#items.find(({ expression }) => this.#text(expression) === text);
    return named(item?.name ?? null);
  }

  /** Aggregates become the columns they stand in. */
  #withColumns(tokens: readonly Token[]): Token[] {
    const at = tokens.findIndex((_token, index) => isAggregate(tokens, index));
    if (at < 0) return [...tokens];
    const end = closing(tokens, at + 1) + 1;
    const column = plainToken('name', this.#columnOf(tokens.slice(at, end)));
    return [...tokens.slice(0, at), column, ...this.#withColumns(tokens.slice(end))];
  }

  #text(tokens: readonly Token[]): string {
    let text = '';
    let before: Token | null = null;
    for (const token of withoutBetween(tokens)) {
      const isCall = token.text === '(' && before?.kind === 'word' && !isOperator(before);
      const isTight = before === null || before.text === '(' || isCall || /^[),]$/.test(token.text);
      text += (isTight ? '' : ' ') + (token.kind === 'word' ? this.#plain(token.text) : token.text);
      before = token;
    }
    return text;
  }

  #plain(name: string): string {
    const prefix = this.#prefixes.find((one) => name.startsWith(`${one}.`));
    return prefix === undefined ? name : name.slice(prefix.length + 1);
  }
}

const NOWHERE = { at: 0, length: 0 };

function isOperator({ key }: Token): boolean {
  return ['AND', 'OR', 'NOT', 'IN', 'LIKE'].includes(key);
}

function isAggregate(tokens: readonly Token[], at: number): boolean {
  const { kind, text } = tokens[at]!;
  const isKnown = kind === 'word' && Object.hasOwn(AGGREGATES, text.toLowerCase());
  return isKnown && tokens[at + 1]?.text === '(';
}

/** As `stats` calls it; null for a call it names otherwise. */
function columnName(aggregate: string | null): string | null {
  const [, name, inner = ''] = /^(\w+)(?:\((.*)\))?$/s.exec(aggregate ?? '') ?? [];
  if (name === undefined) return null;
  if (inner === '') return name;
  if (/^'[^']*'$/.test(inner)) return `${name}(${inner.slice(1, -1)})`;
  return /['"]/.test(inner) ? null : `${name}(${inner.replaceAll(' ', '')})`;
}

/** `a BETWEEN 1 AND 2` is two comparisons. */
function withoutBetween(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex(({ key }) => key === 'BETWEEN');
  if (at < 0) return tokens;
  const [column, low, and, high] = [tokens[at - 1], tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  const isPlain = column && nameOf(column) !== '' && !isOperator(column);
  if (!isPlain || !low || !high || and?.key !== 'AND') throw new NotSimple();
  if (low.kind === 'sign' || high.kind === 'sign') throw new NotSimple();
  const [open, from, to, close] = ['(', '>=', '<=', ')'].map((text) => plainToken('sign', text));
  const both = [open!, column, from!, low, and, column, to!, high, close!];
  return [...tokens.slice(0, at - 1), ...both, ...withoutBetween(tokens.slice(at + 4))];
}

/** At commas outside parentheses. */
function splitAt(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    if (token.text === ',' && depth === 0) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  if (parts.some((part) => part.length === 0)) throw new NotSimple();
  return parts;
}

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]!.text === '(') depth++;
    else if (tokens[at]!.text === ')' && --depth === 0) return at;
  }
  throw new NotSimple();
}

function isColumn(tokens: readonly Token[]): boolean {
  return tokens.length === 1 && nameOf(tokens[0]) !== '';
}

function isStar(tokens: readonly Token[]): boolean {
  return tokens.length === 1 && tokens[0]!.text === '*';
}

function isRenamed({ isAliased, expression }: Item): boolean {
  return isAliased && isColumn(expression);
}

/** Empty for what is no name. */
function nameOf(token: Token | undefined): string {
  return token?.kind === 'word' || token?.kind === 'name' ? token.value : '';
}

function named(name: string | null): string {
  if (name === null) throw new NotSimple();
  return printName(name);
}
