/** The contract stands here rule by rule; what cites a rule by its id means one that exists. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');
const ID = /\b(?:DS|EV|SL)-\d+\b/g;
const rules = ['data-service', 'event-service', 'search-language'].flatMap((name) => [
  ...readFileSync(join(import.meta.dir, `${name}.md`), 'utf8').matchAll(
    /^[^A-Za-z]*((?:DS|EV|SL)-\d+)\b/gm,
  ),
]);

test('every rule has an id of its own', () => {
  const ids = rules.map(([, id]) => id!);
  expect(ids.length).toBeGreaterThan(390);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('every rule that is cited exists', () => {
  const defined = new Set(rules.map(([, id]) => id));
  const citing = new Bun.Glob('{test,src,plugins,docs,bench,build}/**/*.{ts,tsx,md,css,golden}');
  const unknown = [...citing.scanSync({ cwd: root })]
    .filter((file) => !file.startsWith('build/out/'))
    .flatMap((file) =>
      (readFileSync(join(root, file), 'utf8').match(ID) ?? [])
        .filter((id) => !defined.has(id))
        .map((id) => `${file} cites ${id}`),
    );
  expect(unknown).toEqual([]);
});
