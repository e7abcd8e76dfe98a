import { expect, test } from 'bun:test';
import type { Family, ResourceType } from '../../src/docroot/kind.ts';
import { RESERVED_PATTERNS, shadowedNames } from '../../src/docroot/registry/shadowed-names.ts';

const PATTERNS = [
  '/',
  '/health',
  '/_svc/*',
  '/api/events',
  '/api/events/{id}',
  '/ui/media',
  '/a/:b',
];

function check(type: ResourceType, family: Family, canonical: string, extensionForm: string) {
  const found = shadowedNames([{ type, family, canonical, extensionForm }], PATTERNS)[0];
  return found && [found.path, found.pattern, found.isFormShadowed];
}

test('a file with the name of a built-in route is found (DS-29)', () => {
  expect(check('csv', 'dataset', 'events', 'events.csv')).toEqual([
    '/api/events',
    '/api/events',
    false,
  ]);
  expect(check('markdown', 'content', 'health', 'health.md')).toEqual([
    '/health',
    '/health',
    false,
  ]);
  expect(check('media', 'media', 'media', 'media.mp4')).toEqual(['/ui/media', '/ui/media', false]);
});

test('a pattern with a parameter covers one segment, and may cover the extension form too', () => {
  expect(check('csv', 'dataset', 'events/a', 'events/a.csv')).toEqual([
    '/api/events/a',
    '/api/events/{id}',
    true,
  ]);
  expect(check('html', 'content', 'a/b', 'a/b.html')?.[2]).toBe(true);
  expect(check('csv', 'dataset', 'events/a/b', 'events/a/b.csv')).toBeUndefined();
});

test('a star covers everything below', () => {
  expect(check('file', 'content', '_svc/x/y', '_svc/x/y.txt')?.[1]).toBe('/_svc/*');
});

test('the name matters in the family’s own places only', () => {
  expect(check('csv', 'dataset', 'health', 'health.csv')).toBeUndefined();
  expect(check('handler', 'dataset', 'media', 'media.ts')).toBeUndefined();
});

test('every built-in address of the contract is known, also where nothing answers yet (DS-29, EV-10)', () => {
  const content = (name: string) =>
    ({
      type: 'markdown',
      family: 'content',
      canonical: name,
      extensionForm: `${name}.md`,
    }) as const;
  const dataset = (name: string) =>
    ({ type: 'csv', family: 'dataset', canonical: name, extensionForm: `${name}.csv` }) as const;
  const all = [
    ...['mcp', 'docs', 'search', 'profile', 'admin', 'events', 'v1/logs', '_bulk'].map(content),
    ...['uploads', 'events', 'events/tail', 'events/7', 'savedsearches/1', 'apikeys'].map(dataset),
  ];
  expect(shadowedNames(all, RESERVED_PATTERNS)).toHaveLength(all.length);
  const free = [...['search2', 'health2', 'elastics'].map(content), dataset('events/x')];
  expect(shadowedNames(free, RESERVED_PATTERNS)).toEqual([]);
});
