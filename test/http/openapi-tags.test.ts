/** `GET /openapi.json?tag=`: the part of the description one wants (DS-190). */
import { expect, test } from 'bun:test';
import { get } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({ files: { 'a.csv': 'x\n1\n', 'b.md': '# b' } });

interface Described {
  readonly paths: Record<string, Record<string, { tags: string[]; security?: unknown[] }>>;
  readonly components: Record<string, Record<string, unknown>>;
}

const described = async (query = '') =>
  (await get(shared.superuser, `/openapi.json${query}`)).body as Described;

const tagsOf = ({ paths }: Described): string[] => [
  ...new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)),
  ),
];

test('each tag has its operations, whole and with all they refer to, and together they are all', async () => {
  const all = await described();
  const found: string[] = [];
  for (const tag of tagsOf(all)) {
    const part = await described(`?tag=${tag}`);
    expect(tagsOf(part)).toEqual([tag]);
    for (const [path, item] of Object.entries(part.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        found.push(`${method} ${path}`);
        expect(operation).toEqual(all.paths[path]![method]!);
      }
    }
    const text = JSON.stringify(part);
    for (const [, section = '', name = ''] of text.matchAll(/#\/components\/(\w+)\/([^"]+)"/g))
      expect([tag, section, name, part.components[section]?.[name] !== undefined]).toEqual([
        tag,
        section,
        name,
        true,
      ]);
    for (const section of ['schemas', 'parameters', 'responses', 'headers'])
      for (const name of Object.keys(part.components[section] ?? {}))
        expect(text).toContain(`"#/components/${section}/${name}"`);
  }
  const expected = Object.entries(all.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
});

test('several tags are separated by commas, and an unknown one is named with the known ones', async () => {
  expect(tagsOf(await described('?tag=csv,%20markdown')).toSorted()).toEqual(['csv', 'markdown']);
  const refused = await get(shared.superuser, '/openapi.json?tag=evnts');
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('events');
  expect(tagsOf((await get(shared.service, '/openapi.json?tag=csv')).body as Described)).toEqual(
    [],
  );
});

test('every operation says its credentials, or that it takes none', async () => {
  for (const [path, item] of Object.entries((await described()).paths))
    for (const [method, { security }] of Object.entries(item))
      expect([path, method, Array.isArray(security)]).toEqual([path, method, true]);
});
