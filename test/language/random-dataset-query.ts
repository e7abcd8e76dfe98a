/**
 * Random CSV texts with what their cells mean, and random queries over them with lookups and joins.
 */
import { RandomQueries } from './random-query.ts';

/** A cell as the language sees it. */
type Shown = string | number | boolean;

/** A CSV text, and its rows by the words of the contract (DS-59, SL-40). */
export interface RandomTable {
  readonly csv: string;
  readonly rows: readonly (readonly Shown[])[];
}

/** `k` twice: the second gets another name. */
export const HEADER = ['k', 'n', 'v', 'b', 'k', 'x y'];

const WHOLE = ['0', '1', '2', '5', '7', '12', '-3', '100', '9007199254740991'];
const DECIMAL = ['1.5', '-0.25', '2', '0.1', '0.2', '1e3'];
/** Sums of these lose digits, or leave the range of doubles on the way. */
const AWKWARD = [
  '1e308',
  '-1e308',
  '1.7e308',
  '5e-324',
  '1e-300',
  '123456.78',
  '1e16',
  '-7.5',
  '-0.1',
  '-123456.78',
];
const TEXTS = [
  'alpha',
  'Alpha',
  'beta',
  'Straße',
  'a b',
  '7',
  '007',
  '[1,2]',
  '{"a":1}',
  'true',
  // Past what a number holds, so the whole column is text.
  '9007199254740993',
  '2026-11-20',
  '=1+1',
];

export class DatasetQueries extends RandomQueries {
  /** Columns of one kind each, but for the mixed ones; cells may be blank, and the last of a row missing. */
  table(): RandomTable {
    const kinds = HEADER.map(() =>
      this.pick(['key', 'whole', 'decimal', 'awkward', 'boolean', 'text', 'mixed']),
    );
    kinds[0] = this.pick(['key', 'whole', 'mixed']);
    const cells = this.many(0, 30, () => kinds.map((kind) => this.#cell(kind)));
    const lines = cells.map((row) => {
      const isShort = this.chance(0.1) && row.at(-1) === '';
      return (isShort ? row.slice(0, -1) : row).map(quoted).join(',');
    });
    const columns = HEADER.map((_name, at) => meaning(cells.map((row) => row[at]!)));
    return {
      csv: `${[HEADER.map(quoted).join(','), ...lines].join('\n')}\n`,
      rows: cells.map((_row, at) => columns.map((column) => column[at]!)),
    };
  }

  #cell(kind: string): string {
    if (this.chance(0.15)) return '';
    switch (kind) {
      case 'key':
        return this.pick(['alpha', 'beta', 'Alpha', '5']);
      case 'whole':
        return this.pick(WHOLE);
      case 'decimal':
        return this.pick(DECIMAL);
      case 'awkward':
        return this.pick([...AWKWARD, ...DECIMAL]);
      case 'boolean':
        return this.pick(['true', 'false']);
      case 'text':
        return this.pick(TEXTS);
      default:
        return this.pick([...WHOLE, ...DECIMAL, ...TEXTS]);
    }
  }

  override column(): string {
    return this.pick(['k', 'n', 'v', 'b', "'x y'", 'k_2', '_row_id']);
  }

  override field(): string {
    return this.pick(['k', 'n', 'v', 'b', "'x y'", 'w', 'nosuch']);
  }

  override atom(): string {
    return this.pick([
      this.column(),
      this.field(),
      '5',
      '"alpha"',
      '"7"',
      'null',
      'true',
      '1.5',
      '-3',
    ]);
  }

  override condition(): string {
    const path = this.pick(['k', 'n', 'v', 'b', 'x y', '_row_id']);
    if (path === '_row_id')
      return `_row_id__${this.pick(['gte', 'lt', 'exact'])}=${this.pick(['3', '7.5'])}`;
    const lookup = this.pick([
      '',
      '__iexact',
      '__contains',
      '__icontains',
      '__startswith',
      '__gt',
      '__lte',
      '__isnull',
      '__in',
    ]);
    if (lookup === '__isnull') return `${path}__isnull=${this.pick(['True', 'False'])}`;
    if (lookup === '__in') return `${path}__in=["alpha","7",5,7,true]`;
    return `${path}${lookup}=${this.pick(['alpha', 'ALPHA', '5', '"5"', '1.5', 'True', '""', 'None', 'a'])}`;
  }

  override term(): string {
    const field = this.pick(['k', 'n', 'v', 'b', '"x y"', 'k_2']);
    return this.pick([
      () => `${field}${this.pick(['=', '!=', '<', '<=', '>', '>='])}${this.termValue()}`,
      () =>
        `${field}${this.pick(['=', '>', '<='])}${this.pick(['5', '1.5', '7', 'true', 'alpha', '9007199254740993'])}`,
      () => `${field} IN (${this.termValue()}, 5, "7")`,
      () => this.pick(['alpha', 'straße', '"a b"', '*', '7', '"[1"']),
      () => `NOT ${field}=${this.pick(['alpha', '5', '*'])}`,
    ])();
  }

  #keys(most: number): string {
    return this.many(1, most, () => this.column()).join(', ');
  }

  #right(): string {
    return this.pick([
      () => 'FROM e',
      () => `[ from e | where ${this.expression(1)} ]`,
      () => `[ from e | table k, n, v | head ${this.pick([0, 3, 9])} ]`,
      () => `[ from e | stats count AS w BY k ]`,
      () => `[ from e | rename n AS w | dedup k ]`,
    ])();
  }

  override stage(): string {
    return this.pick([
      () => `where ${this.expression(2)}`,
      () => `eval w=${this.expression(2)}`,
      () => `search ${this.terms(1)}`,
      () => `filter --condition='${this.condition()}'`,
      () => `stats ${this.aggregates()}${this.chance(0.7) ? ` BY ${this.#keys(2)}` : ''}`,
      () =>
        `stats --aggregations='["count","${this.pick(['Sum', 'Avg', 'Min', 'Max'])}(n)"]' --by='["k"]'`,
      () =>
        `groupby --keys='["${this.pick(['k', 'v', 'b', 'n'])}"${this.chance(0.4) ? ',"Sum(n)"' : ''}]'`,
      () => `eventstats max(n) AS w BY ${this.pick(['k', 'b'])}`,
      () => `${this.pick(['top', 'rare'])} limit=3 ${this.#keys(2)}`,
      () =>
        `sort ${this.pick(['', '4 '])}${this.pick(['-', ''])}${this.column()}${this.pick([', _row_id', `, ${this.pick(['', '-'])}${this.column()}`, ''])}`,
      () => `head ${this.pick([0, 1, 5])}`,
      () => `tail ${this.pick([0, 2, 5])}`,
      () => `dedup ${this.pick(['', '2 '])}${this.#keys(2)}`,
      () => `unique --fields='["k","v"]'`,
      () => `table ${this.#keys(4)}`,
      () => `fields - ${this.column()}`,
      () => 'rename k AS n, n AS k',
      () => `fillnull value=${this.pick(['0', 'none'])} ${this.pick(['w, n', 'v'])}`,
      () => `bin span=${this.pick(['2', '10', '1.5'])} n AS w`,
      () =>
        `lookup e k${this.pick(['', ' AS v', ' AS n'])}${this.pick(['', ' OUTPUT n AS w', ' OUTPUT v, b AS bb', " OUTPUT 'x y' AS w"])}`,
      () => `lookup e k, n OUTPUT v AS w`,
      () =>
        `join type=${this.pick(['inner', 'left', 'right', 'outer'])} ${this.pick(['k', 'n', 'k, n', 'v'])} ${this.#right()}`,
      () =>
        `join --on='["${this.pick(['k', 'n'])}"]' --how=${this.pick(['left', 'inner', 'right', 'outer'])} --model=dataset.e${this.chance(0.5) ? ` --filter='${this.condition()}'` : ''}${this.chance(0.3) ? ` --select='["k","v"]'` : ''}`,
      () => `append ${this.#right()}`,
      () => `to_dataframe`,
    ])();
  }

  override aggregates(): string {
    const of = (): string => this.pick(['n', 'v', 'b', 'k', '_row_id', "'x y'"]);
    return this.many(1, 3, () =>
      this.pick([
        () => 'count',
        () =>
          `${this.pick(['count', 'sum', 'avg', 'min', 'max', 'dc', 'values', 'median', 'p95', 'mode', 'range', 'stdevp', 'first', 'last', 'list'])}(${of()})`,
        () => 'count(eval(n>3))',
        () => 'sum(eval(n*2))',
        () => 'avg(n*2-1)',
        () => 'count(n>3)',
      ])(),
    ).join(', ');
  }

  filter(): string {
    const comparison = (): string =>
      `${this.column()} ${this.pick(['=', '!=', '<', '>='])} ${this.pick(['5', '1.5', '"alpha"', '"7"', 'true', '""'])}`;
    return this.pick([
      () => `where ${comparison()}`,
      () => `where ${comparison()} AND ${comparison()} AND ${this.expression(1)}`,
      () => `where ${comparison()} OR ${comparison()}`,
      () => `search ${this.term()} ${this.term()}`,
      () => `search ${this.terms(1)}`,
    ])();
  }

  counting(): string {
    const by = (): string => (this.chance(0.7) ? ` BY ${this.#keys(2)}` : '');
    return this.pick([
      () => `stats ${this.aggregates()}${by()}`,
      () => `stats avg(v), sum(n), min(v), max(n), median(v), dc(k)${by()}`,
      () => `top limit=3 ${this.#keys(2)}`,
      () => `groupby --keys='["k","Sum(v)"]'`,
    ])();
  }

  override query(): string {
    const conditions = (flag: string, most: number): string =>
      this.many(0, most, () => ` --${flag}='${this.condition()}'`).join('');
    const first = this.pick([
      () => 'from d',
      () => 'from d',
      () =>
        `search --model=dataset.d${conditions('filter', 2)}${conditions('exclude', 1)}${this.chance(0.3) ? ` --order-by='["${this.pick(['', '-'])}${this.pick(['k', 'n', 'v'])}","_row_id"]'` : ''}${this.chance(0.2) ? ' --limit=6' : ''}${this.chance(0.2) ? ` --select='["k","m=n*2","v"]'` : ''}`,
      () => `from d | search ${this.terms(2)}`,
    ])();
    if (this.chance(0.25))
      return [first, ...this.many(0, 2, () => this.filter()), this.counting()].join(' | ');
    return [first, ...this.many(0, 4, () => this.stage())].join(' | ');
  }
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The narrowest type all cells fit decides, an oversized integer is text (DS-60); blank cells fit every type and stay blank. */
function meaning(texts: readonly string[]): Shown[] {
  const given = texts.filter((text) => text !== '');
  const isNumeric = given.length > 0 && given.every(isNumber);
  const isBoolean = given.length > 0 && given.every((text) => /^(?:true|false)$/.test(text));
  const read = (text: string): Shown =>
    isNumeric ? Number(text) : isBoolean ? text === 'true' : text;
  return texts.map((text) => (text === '' ? '' : read(text)));
}

function isNumber(text: string): boolean {
  if (/^-?(?:0|[1-9]\d*)$/.test(text)) return Number.isSafeInteger(Number(text));
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e-?\d+)?$/.test(text);
}
