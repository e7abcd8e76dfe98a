import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareBytes } from '../../src/base/paths.ts';
import type { Family, ResourceType } from '../../src/docroot/kind.ts';
import { Names, stemNameOf, type Area, type Table } from '../../src/docroot/registry/names.ts';

const TYPES: Record<string, [ResourceType, Family]> = {
  csv: ['csv', 'dataset'],
  xlsx: ['excel', 'dataset'],
  ts: ['handler', 'dataset'],
  html: ['html', 'content'],
  md: ['markdown', 'content'],
  txt: ['file', 'content'],
  png: ['file', 'content'],
  mp4: ['media', 'media'],
};

function table(name: string): Table {
  const [rel = '', sheet = null] = name.split('#');
  const [type, family] = TYPES[rel.split('.').at(-1) ?? ''] ?? ['file', 'content'];
  return { rel, sheet, type, family };
}

function namesOf(...rels: string[]) {
  return new Names(rels.map(table));
}

const canonicals = (names: Names<Table>) => names.named.map(({ canonical }) => canonical);

describe('canonical names (DS-25)', () => {
  test('lose the last extension only', () => {
    expect(canonicals(namesOf('rep.v2.csv', 'a.b/c.md'))).toEqual(['a.b/c', 'rep.v2']);
  });

  test('go to the first by byte order; the others take their extension form', () => {
    const names = namesOf('notes.txt', 'notes.md', 'notes.csv');
    expect(canonicals(names)).toEqual(['notes', 'notes.md', 'notes.txt']);
    expect(names.shared.map(({ table: { rel }, name, holder }) => [rel, name, holder.rel])).toEqual(
      [
        ['notes.md', 'notes', 'notes.csv'],
        ['notes.txt', 'notes', 'notes.csv'],
      ],
    );
  });

  test('never are another file’s extension form', () => {
    const names = namesOf('a.csv', 'a.csv.csv', 'b.md', 'b.md.html');
    expect(canonicals(names)).toEqual(['a', 'a.csv.csv', 'b', 'b.md.html']);
    expect(names.find('dataset', 'a.csv')?.rel).toBe('a.csv');
  });

  test('of sheets stand below the workbook', () => {
    const names = namesOf('inv.xlsx#Stock', 'inv.xlsx#Über/Sicht', 'inv/Stock.csv');
    expect(names.named.map(({ canonical, extensionForm }) => [canonical, extensionForm])).toEqual([
      ['inv/Stock', 'inv.xlsx/Stock'],
      ['inv/Über/Sicht', 'inv.xlsx/Über/Sicht'],
      ['inv/Stock.csv', 'inv/Stock.csv'],
    ]);
  });
});

describe('lookup', () => {
  test('stays within its family (DS-26)', () => {
    const names = namesOf('notes.csv', 'notes.txt', 'clip.mp4', 'clip.csv');
    expect(names.find('dataset', 'notes')?.rel).toBe('notes.csv');
    expect(names.find('content', 'notes')?.rel).toBe('notes.txt');
    expect(names.find('media', 'notes')).toBeNull();
    expect(names.find('content', 'notes.csv')).toBeNull();
    expect(names.find('media', 'clip')?.rel).toBe('clip.mp4');
  });

  test('in /ui sees datasets and media but no handlers (DS-26)', () => {
    const names = namesOf('a.ts', 'a.xlsx', 'b.ts', 'b.mp4', 'c.md');
    expect(names.find('ui', 'a')?.rel).toBe('a.xlsx');
    expect(names.find('ui', 'b')?.rel).toBe('b.mp4');
    expect(names.find('ui', 'b.ts')).toBeNull();
    expect(names.find('ui', 'c')).toBeNull();
    expect(names.find('dataset', 'a')?.rel).toBe('a.ts');
  });

  test('prefers an extension form to any extensionless name', () => {
    const names = namesOf('a.csv.csv', 'a.csv');
    expect(names.find('dataset', 'a.csv')?.rel).toBe('a.csv');
  });

  test('is case-sensitive and blind to Unicode normalisation (DS-5)', () => {
    const names = namesOf('Cafe\u0301.csv');
    expect(names.find('dataset', 'Café')?.rel).toBe('Cafe\u0301.csv');
    expect(names.find('dataset', 'café')).toBeNull();
    expect(canonicals(names)).toEqual(['Café']);
  });

  test('a twin in another normalisation is reported, not served under a wrong name', () => {
    const names = namesOf('é.csv', 'e\u0301.csv');
    expect(names.named.map(({ table: { rel } }) => rel)).toEqual(['e\u0301.csv']);
    expect(names.unreachable.map(({ table: { rel } }) => rel)).toEqual(['é.csv']);
  });

  test('special characters have no meaning (DS-31)', () => {
    const names = namesOf('{id}.csv', 'a*b?.csv', ':x y.csv');
    for (const name of ['{id}', 'a*b?', ':x y']) expect(names.find('dataset', name)).not.toBeNull();
    expect(names.find('dataset', 'anything')).toBeNull();
  });

  test('names of objects in the language are ordinary names', () => {
    const names = namesOf('__proto__.csv', 'constructor.md');
    expect(names.find('dataset', '__proto__')?.rel).toBe('__proto__.csv');
    expect(names.find('dataset', 'toString')).toBeNull();
  });

  test('a folder or a workbook is no resource (DS-32)', () => {
    const names = namesOf('reports/q1.csv', 'inv.xlsx#Stock');
    for (const name of ['reports', 'inv', 'inv.xlsx', '']) {
      expect(names.find('dataset', name)).toBeNull();
      expect(names.find('content', name)).toBeNull();
    }
  });
});

describe('index pages (DS-28)', () => {
  test('answer at their folder, HTML before Markdown', () => {
    const names = namesOf('a/index.md', 'a/index.html', 'b/c/index.md');
    expect(names.find('content', 'a')?.rel).toBe('a/index.html');
    expect(names.find('content', 'a/index')?.rel).toBe('a/index.html');
    expect(names.find('content', 'b/c')?.rel).toBe('b/c/index.md');
    expect(names.find('dataset', 'a')).toBeNull();
  });

  test('give way to a content resource of that name, not to a dataset', () => {
    const names = namesOf('a/index.html', 'a.txt', 'b/index.html', 'b.csv');
    expect(names.find('content', 'a')?.rel).toBe('a.txt');
    expect(names.find('content', 'b')?.rel).toBe('b/index.html');
  });

  test('at the root answer at /index only', () => {
    const names = namesOf('index.html');
    expect(names.find('content', '')).toBeNull();
    expect(names.find('content', 'index')?.rel).toBe('index.html');
  });
});

describe('handlers (DS-27)', () => {
  const names = namesOf('shop.ts', 'shop/cart.ts', 'shop/items.csv', 'data.csv');
  const find = (path: string) => {
    const found = names.findHandler(path.split('/'));
    return found && [found.table.rel, found.rest.join('/')];
  };

  test.each([
    ['shop', ['shop.ts', '']],
    ['shop.ts/x', ['shop.ts', 'x']],
    ['shop/x/y', ['shop.ts', 'x/y']],
    ['shop/cart/1', ['shop/cart.ts', '1']],
    ['shop/cart.ts', ['shop/cart.ts', '']],
    ['shop/carts', ['shop.ts', 'carts']],
    ['shopping', null],
    ['data/x', null],
  ])('%s', (path, expected) => expect(find(path)).toEqual(expected as never));
});

describe('for any set of files', () => {
  const component = fc.constantFrom('a', 'b', 'a.csv', 'é', 'e\u0301', 'index', 'a.b', 'Z');
  const extension = fc.constantFrom(...Object.keys(TYPES), 'CSV');
  const rel = fc
    .tuple(fc.array(component, { maxLength: 2 }), component, extension)
    .map(([folders, name, ext]) => [...folders, `${name}.${ext}`].join('/'));
  const rels = fc.uniqueArray(rel, { maxLength: 25 });
  const areaOf = ({ family }: Table): Area => family;

  test('every file is reachable by its extension form, unless a twin holds it', () => {
    fc.assert(
      fc.property(rels, (given) => {
        const names = namesOf(...given);
        expect(names.named.length + names.unreachable.length).toBe(given.length);
        for (const { table: own, extensionForm } of names.named) {
          expect(names.find(areaOf(own), extensionForm)).toBe(own);
        }
        for (const { table: twin, holder } of names.unreachable) {
          expect(holder.rel.normalize('NFC')).toBe(twin.rel.normalize('NFC'));
        }
      }),
    );
  });

  test('canonical names are unique and lead to their own resource in every family that has it', () => {
    fc.assert(
      fc.property(rels, (given) => {
        const names = namesOf(...given);
        expect(new Set(canonicals(names)).size).toBe(names.named.length);
        for (const { table: own, canonical } of names.named) {
          expect(names.find(areaOf(own), canonical)).toBe(own);
        }
      }),
    );
  });

  test('a lookup answers what a plain reading of the rules does', () => {
    const areas: Area[] = ['dataset', 'content', 'media', 'ui'];
    fc.assert(
      fc.property(
        rels,
        fc.constantFrom(...areas),
        rel,
        fc.boolean(),
        (given, area, other, asStem) => {
          const names = namesOf(...given);
          const wanted = asStem ? stemNameOf(table(other)) : other.normalize('NFC');
          expect(names.find(area, wanted)?.rel ?? null).toBe(naive(given, area, wanted));
        },
      ),
    );
  });

  /** DS-26 and DS-28 word for word, over a list. */
  function naive(given: string[], area: Area, name: string): string | null {
    const reachable = namesOf(...given).named.map(({ table: own }) => own);
    const inArea = reachable
      .filter(({ family, type }) =>
        area === 'ui' ? family !== 'content' && type !== 'handler' : family === area,
      )
      .sort((a, b) => compareBytes(a.rel, b.rel));
    const wanted = [name];
    if (area === 'content') wanted.push(`${name}/index.html`, `${name}/index.md`);
    const byForm = inArea.find(({ rel: own }) => own.normalize('NFC') === name);
    const byStem = inArea.find((own) => stemNameOf(own) === name);
    const byIndex = wanted
      .slice(1)
      .map((page) => inArea.find(({ rel: own }) => own.normalize('NFC') === page))
      .find((found) => found !== undefined);
    return (byForm ?? byStem ?? byIndex)?.rel ?? null;
  }
});
