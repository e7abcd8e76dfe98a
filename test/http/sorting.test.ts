/**
 * Sorted lists (DS-57, DS-58).
 */
import { describe, expect, test } from 'bun:test';
import { columnOf, idsOf, list } from './listing.ts';
import type { Query } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    // Row ids:    1          2           3          4         5           6         7
    'types.csv':
      'i,x,f,s\n10,2.5,true,b\n9,1e1,false,B\n,,,\n-1,-0.5,TRUE,a\n9,2.50,False,é\n100,1e-3,true,b\n,,,10\n',
    'points.csv': `s\n${['\uffee', '😀', 'z', 'Z', '_', '"é"', 'e\u0301', '""', '10', '9', '" a"', '"a "', 'a'].join('\n')}\n`,
    'names.csv': '-a,a,"x,y","say ""hi""",b\n1,3,2,1,x\n2,2,1,3,x\n3,1,3,2,x\n',
    'declared.csv': 'n\n10\nzz\n9\n\nabc\n-1\n,\n007\n" "\nABC\n',
    '.svc/declared.csv.schema.json': '{"columns":{"n":{"type":"integer"}}}',
    'many.csv': `${Array.from({ length: 200 }, (_, i) => `c${i}`).join(',')}\n${'1,'.repeat(199)}1\n`,
  },
});

const sorted = async (name: string, query: Query) => {
  const found = await list(shared.reader, name, query);
  if (found.status !== 200) throw new Error(`${found.status}: ${found.text}`);
  return idsOf(found.rows);
};

describe('each type has its order', () => {
  test.each([
    [{ sort: 'i' }, [4, 2, 5, 1, 6, 3, 7]],
    [{ sort: '-i' }, [6, 1, 2, 5, 4, 3, 7]],
    [{ sort: 'i', order: 'desc' }, [6, 1, 2, 5, 4, 3, 7]],
    [{ sort: 'x' }, [4, 6, 1, 5, 2, 3, 7]],
    [{ sort: '-x' }, [2, 1, 5, 6, 4, 3, 7]],
    [{ sort: 'f' }, [2, 5, 1, 4, 6, 3, 7]],
    [{ sort: '-f' }, [1, 4, 6, 2, 5, 3, 7]],
    [{ sort: 's' }, [3, 7, 2, 4, 1, 6, 5]],
    [{ sort: '-s' }, [5, 1, 6, 4, 2, 7, 3]],
  ] as [Query, number[]][])(
    '%j: blanks last in both orders but among texts, equal rows in file order (DS-57, DS-58)',
    async (query, ids) => {
      expect(await sorted('types', query)).toEqual(ids);
    },
  );

  test('texts go by code point (DS-58)', async () => {
    const { rows } = await list(shared.reader, 'points', { sort: 's' });
    const texts = columnOf(rows, 's') as string[];
    const points = (text: string) => [...text].map((character) => character.codePointAt(0)!);
    const expected = texts.toSorted((a, b) => {
      const [x, y] = [points(a), points(b)];
      const at = x.findIndex((point, index) => point !== y[index]);
      if (at < 0) return x.length - y.length;
      return at >= y.length ? 1 : x[at]! - y[at]!;
    });
    expect(texts).toEqual(expected);
    expect(texts[0]).toBe('');
    expect(texts.at(-1)).toBe('😀');
  });

  test('text in a declared number column follows the numbers, blanks come last (DS-58, DS-61)', async () => {
    const { rows } = await list(shared.reader, 'declared', { sort: 'n' });
    expect(columnOf(rows, 'n')).toEqual([-1, 7, 9, 10, 'ABC', 'abc', 'zz', '', '']);
    const down = await list(shared.reader, 'declared', { sort: '-n' });
    expect(columnOf(down.rows, 'n').slice(-2)).toEqual(['', '']);
    expect(columnOf(down.rows, 'n').filter((value) => typeof value === 'number')).toEqual([
      10, 9, 7, -1,
    ]);
  });
});

describe('the sort parameter', () => {
  test.each([
    [{ sort: '' }, [1, 2, 3, 4, 5, 6, 7]],
    [{ sort: '', order: 'desc' }, [1, 2, 3, 4, 5, 6, 7]],
    [{ order: 'desc' }, [1, 2, 3, 4, 5, 6, 7]],
    [{ sort: '-_row_id' }, [7, 6, 5, 4, 3, 2, 1]],
    [{ sort: '_row_id', order: 'desc' }, [7, 6, 5, 4, 3, 2, 1]],
    [{ sort: 'f,-i' }, [2, 5, 6, 1, 4, 3, 7]],
    [{ sort: '-f,i' }, [4, 1, 6, 2, 5, 3, 7]],
    [{ sort: 'f,i', order: 'desc' }, [6, 1, 4, 2, 5, 3, 7]],
    [{ sort: 'f,-i', order: 'desc' }, [6, 1, 4, 2, 5, 3, 7]],
    [{ sort: 'f,-_row_id' }, [5, 2, 6, 4, 1, 7, 3]],
    [{ sort: 's,s,i' }, [3, 7, 2, 4, 1, 6, 5]],
    [{ sort: 'i,-i' }, [4, 2, 5, 1, 6, 3, 7]],
    [{ sort: '"i"' }, [4, 2, 5, 1, 6, 3, 7]],
    [{ sort: '-"i"' }, [6, 1, 2, 5, 4, 3, 7]],
  ] as [Query, number[]][])('%j gives the rows %j (DS-57)', async (query, ids) => {
    expect(await sorted('types', query)).toEqual(ids);
  });

  test.each([
    ['-a', [1, 2, 3]],
    ['a', [3, 2, 1]],
    ['--a', [3, 2, 1]],
    ['"x,y"', [2, 1, 3]],
    ['-"x,y"', [3, 1, 2]],
    ['b,"say ""hi"""', [1, 3, 2]],
    ['-"say ""hi""",a', [2, 3, 1]],
  ])(
    '%s: a column whose name begins with - goes before a descending one (DS-42, DS-57)',
    async (sort, ids) => {
      expect(await sorted('names', { sort })).toEqual(ids);
    },
  );

  test.each([
    ['nope', 'nope'],
    ['I', 'I'],
    ['i,nope', 'nope'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['rowid', 'rowid'],
    ['c0', 'c0'],
    ['1', '1'],
    ['(select 1)', '(select 1)'],
    ['i desc; --', 'i desc; --'],
    ['i asc', 'i asc'],
    ['"nope"', 'nope'],
    ['random()', 'random()'],
  ])('%s is refused, naming the unknown column (DS-57, B-Q)', async (sort, name) => {
    const { status, detail } = await list(shared.reader, 'types', { sort });
    expect({ status, detail }).toEqual({
      status: 422,
      detail: `Invalid sort: unknown column '${name}'`,
    });
  });

  test('many columns are sorted by or refused, never an error (B-Q)', async () => {
    const columns = Array.from({ length: 200 }, (_, i) => `c${i}`);
    const { status } = await list(shared.reader, 'many', { sort: columns.join(',') });
    expect([200, 422]).toContain(status);
    expect(await sorted('many', { sort: columns.slice(0, 60).join(',') })).toEqual([1]);
    expect(
      await sorted('types', { sort: Array.from({ length: 500 }, () => 'i').join(',') }),
    ).toEqual(await sorted('types', { sort: 'i' }));
  });
});
