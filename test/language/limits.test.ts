/**
 * The limits of a query (SL-7): what reaches one is answered, what passes it is told which.
 */
import { describe, expect, test } from 'bun:test';
import { ask } from './fixture.ts';

const many = (count: number, one: string, separator = ''): string =>
  Array.from({ length: count }, () => one).join(separator);

/** A query that has `count` of what is limited. */
interface Limited {
  readonly limit: number;
  readonly says: string;
  readonly query: (count: number) => string;
}

const limits: Record<string, Limited> = {
  'bytes of a query': {
    limit: 65_536,
    says: 'A query may have 65536 bytes',
    query: (count) => `* | head 1${many(count - 10, ' ')}`,
  },
  stages: {
    limit: 100,
    says: 'A query may have 100 stages',
    query: (count) => `*${many(count - 1, ' | head 1')}`,
  },
  'brackets in brackets': {
    limit: 5,
    says: 'Brackets may be 5 deep',
    query: (count) => `*${many(count, ' | append [search *')}${many(count, ']')}`,
  },
  'depth of an expression': {
    limit: 100,
    says: 'Expressions may be 100 deep',
    query: (count) => `* | eval x=${many(count - 1, '(')}1${many(count - 1, ')')}`,
  },
  'terms of a search': {
    limit: 1_000,
    says: 'A search may have 1000 terms',
    query: (count) => many(count, 'a', ' OR '),
  },
  'values of a list': {
    limit: 10_000,
    says: 'A list may have 10000 values',
    query: (count) => `* | where id IN (${many(count, '1', ',')})`,
  },
  'characters of a pattern': {
    limit: 1_000,
    says: 'A regular expression may have 1000 characters',
    query: (count) => `* | where match(host, "${many(count, 'a')}")`,
  },
  'characters of a pattern of rex': {
    limit: 1_000,
    says: 'A regular expression may have 1000 characters',
    query: (count) => `* | rex field=host "(?<a>${many(count - 6, 'b')})"`,
  },
  ...Object.fromEntries(
    Object.entries({
      eval: (at: number) => `m${at}=1`,
      table: (at: number) => `m${at}`,
      'eventstats count,': (at: number) => `sum(m${at})`,
      fillnull: (at: number) => `m${at}`,
      'rename host AS h,': (at: number) => `m${at} AS o${at}`,
    }).map(([command, one]) => [
      `columns made by ${command}`,
      {
        limit: 500,
        says: 'A stage may make 500 columns',
        query: (count: number) => {
          // What the command names itself is one more.
          const made = Array.from({ length: count - Number(command.includes(',')) }, (_, at) =>
            one(at),
          );
          return `* | ${command} ${made.join(', ')}`;
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      'eval with +': (count: number) => `* | eval x=${many(count, '1+')}1`,
      'eval with .': (count: number) => `* | eval x=${many(count, '"a".')}"b"`,
      'where with OR': (count: number) => `* | where ${many(count, 'a OR ')}b`,
      'annotate with *': (count: number) => `search | annotate --set=x=${many(count, '1*')}1`,
    }).map(([what, query]) => [
      `operators of ${what}`,
      { limit: 10_000, says: 'An expression may have 10000 operators', query },
    ]),
  ),
  'columns of --select': {
    limit: 500,
    says: 'A stage may make 500 columns',
    query: (count) =>
      `search --select='[${Array.from({ length: count }, (_, at) => `"extracted_fields__m${at}"`).join(',')}]'`,
  },
};

describe('a query may have (SL-7)', () => {
  test.each(Object.keys(limits))('%s up to the limit', (name) => {
    const { limit, query } = limits[name]!;
    expect(ask(query(limit)).problem).toBeNull();
  });

  test.each(Object.keys(limits))('%s and no more', (name) => {
    const { limit, says, query } = limits[name]!;
    const { problem } = ask(query(limit + 1));
    expect(problem).toStartWith('too_large');
    expect(problem).toContain(says);
  });
});
