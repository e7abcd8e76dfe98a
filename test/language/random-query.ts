/**
 * Random queries of both forms, over the columns of events and what stages make of them.
 */

/** Numbers from 0 up to and without 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

export class RandomQueries {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)]!;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** A number from 0 up to and without that. */
  below(most: number): number {
    return this.#random() * most;
  }

  many<T>(least: number, most: number, make: () => T): T[] {
    const count = least + Math.floor(this.#random() * (most - least + 1));
    return Array.from({ length: count }, make);
  }

  /** What SQL can count by itself. */
  countedQuery(): string {
    const terms = this.many(0, 2, () =>
      this.pick([
        'index=web',
        'host=ALPHA',
        'host=strasse',
        'bob',
        '*',
        '"a b"',
        'latest=2026-11-20T10:03:00Z',
        'earliest=2026-11-20T10:01:00Z',
        'host IN (alpha, k)',
        'source=X',
      ]),
    ).join(this.pick([' ', ' AND ']));
    const keys = this.pick([
      '',
      ' BY host',
      ' BY index, host',
      ' BY n',
      ' BY v',
      ' BY v, host',
      ' BY extracted_fields.n',
      ' BY host, host',
    ]);
    return `${terms === '' ? '*' : terms} | stats ${this.pick(['count', 'count AS c', 'count, count AS d', 'count()'])}${keys}`;
  }

  /** What SQL can do most of: parts of cells, rows put together, sorts and limits. */
  plannedQuery(): string {
    const member = (): string => this.pick(['n', 'v', 'user_id', 'deep.k', 'm']);
    const searches = [
      () => this.terms(1),
      () => `${this.pick(['*', 'index=web', 'host!=alpha', 'NOT host=beta'])} ${this.memberTerm()}`,
      () => `${this.flagCondition('filter')} ${this.flagCondition('exclude')}`,
      () => `search ${this.flagCondition('filter')} ${this.flagCondition('filter')}`,
      () => 'from events',
    ];
    const search = this.pick(searches)();
    const first = search.startsWith('--') ? `search ${search}` : search;
    const between = this.many(0, 2, () =>
      this.pick([
        () => `filter --condition='${this.condition()}'`,
        () => `search ${this.memberTerm()}`,
        () => `where ${member()}${this.pick(['>', '=', '!='])}${this.pick(['3', '"x"', 'host'])}`,
        () => `eval e=${member()} . "!", n=n`,
        () => `annotate --set='t=${this.trunc()}'`,
        () => `annotate --set='t=${this.trunc()}' --set='u=${this.trunc()}'`,
        () =>
          `bin span=${this.pick(['1m', '90s', '1h', '1w', '2mon', '2'])} ${this.pick(['_time', 'created', 'event_time', 'n', 'id'])} AS t`,
        () => 'rename host AS machine',
        () => `fillnull value=7 n`,
        () => 'table host, n, v, _time, created, event_time, extracted_fields, index',
      ])(),
    );
    const keys = (): string =>
      this.many(1, 2, () => this.pick(['host', 'index', 'n', 'v', 'user_id', 'm', 't', 'e'])).join(
        ', ',
      );
    const numbers = (): string =>
      this.pick(['n', 'm', 'v', 'id', 'user_id', 'host', 'created', 'e']);
    const aggregates = (): string =>
      this.many(1, 3, () =>
        this.pick([
          () => 'count',
          () =>
            `${this.pick(['count', 'sum', 'avg', 'min', 'max', 'range', 'dc', 'mode', 'values', 'mean'])}(${numbers()})`,
          () => `${this.pick(['median', 'stdev', 'first', 'list', 'latest'])}(${numbers()})`,
          () => `count(eval(${member()}>3))`,
          () => `sum(eval(${member()}*2))`,
          () => `max(${member()}*2)`,
          () => `count(${member()})`,
        ])(),
      ).join(', ');
    const last = this.pick([
      () => `stats ${aggregates()}${this.chance(0.7) ? ` BY ${keys()}` : ''}`,
      () => `stats ${aggregates()} BY ${keys()}`,
      () =>
        `groupby --keys='["${this.pick(['host', 'extracted_fields__n', 't', 'extracted_fields__user_id'])}"${this.chance(0.6) ? `,"${this.flagAggregate()}"` : ''}]'`,
      () =>
        `stats --aggregations='["count","${this.flagAggregate()}","${this.flagAggregate()}"]'${this.chance(0.6) ? ` --by='["index"]'` : ''}`,
      () =>
        `${this.pick(['top', 'rare'])} limit=3 ${keys()}${this.chance(0.3) ? ' BY source' : ''}`,
      () =>
        `timechart span=${this.pick(['1m', '90s', '15m', '1h', '1w', '1mon'])}${this.pick(['', '', ' field=created', ' field="event_time"'])} ${this.chance(0.5) ? aggregates() : `${this.pick(['count', 'sum(n)', 'avg(m)', 'dc(v)'])} BY ${this.pick(['index', 'n', 'v', 'host'])}`}`,
      () => `head ${this.pick([0, 1, 5])} | table id, ${member()}`,
      () =>
        `sort ${this.pick(['', '2 '])}${this.pick(['-', ''])}${this.pick(['id', 'host', 'created', 'event_time', '_time', 'n', 'data'])}, ${this.pick(['-id', 'index', 'v'])} | table id, ${member()}`,
      () =>
        `sort --fields='["${this.pick(['-host', 'created', '-event_time', 'id'])}","${this.pick(['-index', 'data'])}"]' | head ${this.pick([1, 4])} | fields id`,
      () => `table id, ${member()} | tail 3`,
      () => `dedup ${keys()}`,
    ])();
    return [first, ...between, last].join(' | ');
  }

  /** A comparison that is, perhaps, one on a member. */
  memberTerm(): string {
    const op = this.pick(['=', '=', '!=', '<', '<=', '>', '>=']);
    const field = this.pick(['n', 'v', 'm', 'user_id', 'extracted_fields.n', 'deep.k', 'tags']);
    if (this.chance(0.2)) return `${field} IN (${this.termValue()}, ${this.termValue()})`;
    return `${field}${op}${this.pick([this.termValue(), '5', '3', '0', '1', '-3', '1000', 'X', 'straße', 'true'])}`;
  }

  flagCondition(flag: string): string {
    return this.chance(0.3) ? '' : `--${flag}='${this.condition()}'`;
  }

  trunc(): string {
    const unit = this.pick(['Second', 'Minute', 'Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year']);
    const of = this.pick(['created', 'event_time', '_time']);
    return this.pick([
      `Trunc${unit}(${of})`,
      `Extract${unit}(${of})`,
      `TruncDate(${of})`,
      `Trunc(${of},"hour")`,
      `ExtractWeekDay(F(${of}))`,
    ]);
  }

  flagAggregate(): string {
    const of = this.pick(['id', 'extracted_fields__n', 'extracted_fields__m', 'host', 'created']);
    return this.pick([
      `${this.pick(['Sum', 'Avg', 'Min', 'Max', 'Count', 'StdDev'])}(${of})`,
      `Count(${of}, distinct=True)`,
      `Sum(${of}+1)`,
    ]);
  }

  query(): string {
    if (this.chance(0.15)) {
      return [this.countedQuery(), ...this.many(0, 1, () => 'sort -count')].join(' | ');
    }
    if (this.chance(0.5)) return this.plannedQuery();
    const stages = [
      this.chance(0.5) ? this.terms(2) : this.flagSearch(),
      ...this.many(0, 4, () => this.stage()),
    ];
    return stages.join(' | ');
  }

  text(): string {
    return this.pick([
      'alpha',
      'ALPHA',
      'beta',
      'Straße',
      'STRASSE',
      'É',
      'a b',
      'x',
      '',
      '100%',
      '_',
      'it"s',
      'K',
      "o'x",
      '{n}',
      '7',
      '1e3',
      '007',
    ]);
  }

  column(): string {
    return this.pick(['id', 'index', 'host', 'source', 'data', 'created', '_time', 'event_time']);
  }

  field(): string {
    return this.pick([
      'id',
      'index',
      'host',
      'n',
      'v',
      'deep.k',
      'deep.list.0',
      'tags',
      'data',
      'data',
      'created',
      '_time',
      'extracted_fields.n',
    ]);
  }

  time(): string {
    return this.pick([
      '2026-11-20T10:00:00Z',
      '2026-11-20',
      '2026-11-20T10:05:30.5+01:00',
      '1969-12-31T23:59:59.999999Z',
      '2026-11-20T10:02:00.000001Z',
    ]);
  }

  termValue(): string {
    return this.pick([
      'alpha',
      'AL*',
      '*',
      'be*a',
      '"a b"',
      '"l*n"',
      '5',
      '7.5',
      '"007"',
      'true',
      'web',
      'WEB',
      '"STRASSE"',
      'strasse',
      '2026-11-20',
      '"2026-11-20T10:00:00Z"',
      '1e3',
      '\\*x',
      'bob',
      '*b*',
      '"*failed*"',
      'nothing*',
    ]);
  }

  term(): string {
    const value = this.termValue();
    switch (Math.floor(this.#random() * 6)) {
      case 0:
        return this.pick([
          'alpha',
          'fail*bob',
          'straße',
          '"a b"',
          '*',
          'É',
          '"100%_x"',
          '7',
          'nothing',
          'bob',
        ]);
      case 1:
        return `${this.field()}${this.pick(['=', '!=', '<', '<=', '>', '>='])}${value}`;
      case 2:
        return `${this.pick(['index', 'host', 'source'])}${this.pick(['=', '!='])}${value}`;
      case 3:
        return `${this.pick(['host', 'index', 'n', 'v'])} IN (${this.many(1, 3, () => this.termValue()).join(', ')})`;
      case 4:
        return `NOT ${this.pick(['host=alpha', 'bob', 'n=*', '(index=web OR v=x)'])}`;
      default:
        return this.pick(['index=web', 'host=alpha', 'n>3', 'v=x']);
    }
  }

  terms(depth: number): string {
    const parts = this.many(1, 3, () =>
      depth > 0 && this.chance(0.25) ? `(${this.terms(depth - 1)})` : this.term(),
    );
    const joined = parts.join(this.pick([' ', ' AND ', ' OR ', ', ']));
    return depth === 2 && this.chance(0.2)
      ? `${joined} ${this.pick(['earliest=2026-11-20T10:01:00Z', 'latest=2026-11-20T10:04:00Z', 'earliest=-5m'])}`
      : joined;
  }

  condition(): string {
    const path = this.pick([
      'id',
      'index',
      'host',
      'data',
      'created',
      'event_time',
      'extracted_fields__n',
      'extracted_fields__v',
      'extracted_fields__deep__k',
    ]);
    const isTime = path === 'created' || path === 'event_time';
    if (isTime) return `${path}__${this.pick(['gte', 'lt', 'exact', 'gt', 'lte'])}=${this.time()}`;
    if (path === 'id')
      return `id__${this.pick(['gte', 'lt', 'exact', 'lte'])}=${this.pick(['3', '5.5', '0x4'])}`;
    const lookup = this.pick([
      '',
      '__exact',
      '__iexact',
      '__contains',
      '__icontains',
      '__startswith',
      '__istartswith',
      '__endswith',
      '__gt',
      '__lte',
      '__isnull',
      '__in',
    ]);
    if (lookup === '__isnull') return `${path}__isnull=${this.pick(['True', 'False'])}`;
    if (lookup === '__in') return `${path}__in=["alpha","web",5,"x"]`;
    return `${path}${lookup}=${this.pick(['alpha', 'ALPHA', 'web', 'e', 'Straße', '5', '"5"', '7.5', 'None', 'true', 'x', '2026-11-20'])}`;
  }

  flagSearch(): string {
    const parts = [
      'search',
      ...this.many(0, 2, () => `--filter='${this.condition()}'`),
      ...this.many(0, 1, () => `--exclude='${this.condition()}'`),
    ];
    if (this.chance(0.3))
      parts.push(
        `--order-by='["${this.pick(['', '-'])}${this.pick(['host', 'id', 'extracted_fields__n', 'created'])}","id"]'`,
      );
    if (this.chance(0.3)) parts.push(`--limit=${this.pick(['0', '1', '3', '7'])}`);
    return parts.join(' ');
  }

  stage(): string {
    const field = (): string => this.field();
    return this.pick([
      () => `filter --condition='${this.condition()}'`,
      () => `where ${this.expression(2)}`,
      () => `eval e=${this.expression(2)}`,
      () =>
        `stats ${this.aggregates()}${this.chance(0.7) ? ` BY ${this.pick(['host', 'index', 'n', 'v', 'index, host'])}` : ''}`,
      () =>
        `groupby --keys='["${this.pick(['host', 'index', 'extracted_fields__n', 'extracted_fields__v'])}"${this.chance(0.3) ? ',"Avg(id)"' : ''}]'`,
      () =>
        `stats --aggregations='["count","${this.pick(['Sum', 'Avg', 'Min', 'Max'])}(id)"]' --by='["host"]'`,
      () => `sort ${this.pick(['', '3 '])}${this.pick(['-', '+', ''])}${field()}, id`,
      () => `head ${this.pick([0, 1, 4, 100])}`,
      () => `tail ${this.pick([0, 2, 50])}`,
      () => `top limit=2 ${this.pick(['host', 'index', 'n', 'v'])}`,
      () => `rare ${this.pick(['host', 'index'])}`,
      () => `dedup ${this.pick(['host', 'index, host', '2 n'])}`,
      () => `table id, host, ${this.pick(['n', 'v', '_time'])}, extracted_fields`,
      () => `fields - data, updated`,
      () => `rename host AS index, index AS host`,
      () => `fillnull value=0 n, v`,
      () =>
        `timechart span=1m${this.pick(['', ' field={x} ', ' field="a b" '])} count${this.chance(0.5) ? ' BY host' : ''}`,
      () => `bin span=${this.pick(['2', '1m', '1h'])} ${this.pick(['n', '_time', 'id'])} AS b`,
      () => `unique --fields='["host","extracted_fields__v"]'`,
      () => `eventstats max(n) AS most BY host`,
    ])();
  }

  aggregates(): string {
    return this.many(1, 3, () =>
      this.pick([
        'count',
        'count(n)',
        'sum(n)',
        'avg(n)',
        'min(v)',
        'max(n)',
        'dc(host)',
        'values(v)',
        'median(n)',
        'stdevp(n)',
        'first(host)',
        'last(v)',
        'count(eval(n>3))',
      ]),
    ).join(', ');
  }

  expression(depth: number): string {
    if (depth === 0) return this.atom();
    return this.pick([
      () =>
        `${this.atom()} ${this.pick(['=', '!=', '<', '>=', '+', '-', '*', '/', '%', ' . ', 'LIKE'])} ${this.atom()}`,
      () =>
        `(${this.expression(depth - 1)}) ${this.pick(['AND', 'OR'])} (${this.expression(depth - 1)})`,
      () => `NOT (${this.expression(depth - 1)})`,
      () =>
        `${this.atom()} ${this.pick(['IS NULL', 'IS NOT NULL', 'IN (1, "x", null)', 'NOT IN ("alpha", 5)'])}`,
      () => `if(${this.expression(depth - 1)}, ${this.atom()}, ${this.atom()})`,
      () => `match(${this.atom()}, ${this.pick(['"a"', 'host', '"(" . host', 'v'])})`,
      () => `${this.pick(['upper', 'len', 'typeof', 'tonumber', 'abs'])}(${this.atom()})`,
    ])();
  }

  atom(): string {
    return this.pick([
      this.pick(['host', 'n', 'v', 'id', 'deep.k', '_time', 'nosuch']),
      '5',
      '"x"',
      '"7"',
      'null',
      'true',
      '2.5',
      '"ALPHA"',
      '"2026-11-20T10:00:00Z"',
      '-3',
      '{now}',
      '"{{now}} {today}"',
    ]);
  }
}
