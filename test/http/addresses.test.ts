/**
 * What a path means: slashes, encoding, normal forms, odd names, names with and without extension, names of built-in
 * routes (DS-4, DS-5, DS-23 to DS-32, S-P).
 */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { address, get, list } from './listing.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

/** A file that tells which one it is. */
const marked = (mark: string): string => `mark\n${mark}\n`;

/** Names without extension; each is a file that holds its own name. */
const ODD_NAMES = [
  'a b',
  ' outer ',
  '{id}',
  '{}',
  ':id',
  '*',
  '**',
  '?x=1',
  'a#b',
  'a%20b',
  '100%',
  'a+b',
  'a&b=c',
  "it's",
  'say "hi"',
  'back\\slash',
  'semi;colon',
  'comma,name',
  'a@b',
  '[1]',
  '(a|b)',
  '^start$',
  '<script>alert(1)</script>',
  'größe',
  '東京',
  '💥 boom',
  '\u200bzero',
  'new\nline',
  'tab\there',
  '\u0001',
  'a..b',
  '...dots'.slice(3),
  '-dash',
  '$HOME',
  '`id`',
  "'; DROP TABLE rows; --",
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'venv.x',
  'con',
  'x'.repeat(251),
  'folder with {braces}/inner *',
  'über/größe/ß',
];

const shared = sharedService({
  files: {
    ...Object.fromEntries(ODD_NAMES.map((name) => [`${name}.csv`, marked(quoted(name))])),
    'top.csv': marked('top'),
    'UPPER.CSV': marked('UPPER.CSV'),
    'Mixed.Csv': marked('Mixed.Csv'),
    'rep.v2.csv': marked('rep.v2.csv'),
    'rep.csv': marked('rep.csv'),
    'twin.CSV': marked('twin.CSV'),
    'twin.csv': marked('twin.csv'),
    'double.csv': marked('double.csv'),
    'double.csv.csv': marked('double.csv.csv'),
    'notes.csv': marked('notes.csv'),
    'notes.tab': marked('notes.tab'),
    'alone.tab': marked('alone.tab'),
    'off.data': marked('off.data'),
    'deep/er/and/deeper/leaf.csv': marked('leaf'),
    'apikeys.csv': marked('apikeys.csv'),
    'folder.csv/inner.csv': marked('inner'),
    'same/name.csv': marked('same/name'),
    'name.csv': marked('name'),
  },
  config: { plugin_registry: { tab: 'csv', '.data': 'none' } },
});

/** The one cell of the dataset at a path; the status when there is none. */
async function markAt(path: string): Promise<unknown> {
  const { status, rows } = await get(shared.superuser, path);
  return status === 200 ? rows[0]?.['mark'] : status;
}

const rawStatus = async (path: string, headers: Record<string, string> = {}) => {
  const { status, body } = await rawRequest(shared.service.url, { path, headers });
  return { status, text: Buffer.from(body).toString() };
};

const superuserKey = async () => ({ 'X-API-Key': await shared.service.accounts.apiKey('root') });

describe('slashes', () => {
  test.each([
    ['/api/top', 200],
    ['/api/top/', 200],
    ['/schema/top', 200],
    ['/schema/top/', 200],
    ['/api/deep/er/and/deeper/leaf', 200],
    ['/api/deep/er/and/deeper/leaf/', 200],
    ['/api/top//', 404],
    ['/api//top', 404],
    ['//api/top', 404],
    ['/api/top/x', 404],
    ['/api/deep/er/and/deeper', 404],
    ['/api/deep/er//and/deeper/leaf', 404],
    // EV-9: the index of the event service.
    ['/api/', 200],
  ])('%s answers %d directly, for every method (DS-4, DS-5, DS-32)', async (path, status) => {
    const headers = await superuserKey();
    expect((await rawStatus(path, headers)).status).toBe(status);
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'POST']) {
      const answer = await rawRequest(shared.service.url, { method, path, headers });
      expect(answer.headers['location']).toBeUndefined();
      if (status === 404) expect([404, 405]).toContain(answer.status);
    }
  });
});

describe('percent-encoding', () => {
  test.each([
    ['/api/%74op/', 'top'],
    ['/%61pi/top/', 'top'],
    ['/api/top%2F', 'top'],
    ['/api%2Ftop', 'top'],
    ['/api/deep%2Fer/and%2Fdeeper%2Fleaf/', 'leaf'],
    ['/api/a%2520b/', 'a%20b'],
    ['/api/a%20b/', 'a b'],
    ['/api/a+b/', 'a+b'],
    ['/api/100%25/', '100%'],
    ['/api/%7Bid%7D/', '{id}'],
    ['/api/{id}/', '{id}'],
    ['/api/*/', '*'],
    ['/api/:id/', ':id'],
    ['/api/%3Fx%3D1/', '?x=1'],
    ['/api/back%5Cslash/', 'back\\slash'],
  ])('%s is decoded once (DS-5): %s', async (path, mark) => {
    const { status, text } = await rawStatus(path, await superuserKey());
    expect({ status, text }).toEqual({
      status: 200,
      text: JSON.stringify([{ _row_id: 1, mark }]),
    });
  });

  test.each([
    '/api/%2574op/',
    '/api/top%00/',
    '/api/top%00.csv/',
    '/api/%00/',
    '/api/./top/',
    '/api/../api/top/',
    '/api/x/../top/',
    '/api/%2e/top/',
    '/api/%2E%2e/api/top/',
    '/api/x/%2e%2e/top/',
    '/api/..%2fapi%2ftop/',
    '/api/top/.',
    '/api/top/%2e',
    '/api/top/..',
    '/api/%',
    '/api/%zz/',
    '/api/%e0%a4%a/',
    '/api/%c0%afetc/',
    '/api/%c1%bf/',
    '/api/%ff/',
    '/api/%ed%a0%80/',
    '/api/%2F%2Ftop/',
    '/api/top;a=b/',
    '/api/TOP/',
    '/API/top/',
    '/Api/top/',
    '/api\\top',
    '/api/deep\\er/and/deeper/leaf/',
  ])('%s means nothing (DS-5, S-P)', async (path) => {
    const { status, text } = await rawStatus(path, await superuserKey());
    expect([400, 404]).toContain(status);
    expect(text).not.toContain('mark');
  });

  test.each([
    '/api/%2e%2e%2f%2e%2e%2fetc/passwd',
    '/%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd',
    '/api/..%5c..%5cetc/passwd',
    '/api/%252e%252e%252fetc/passwd',
    '/schema/....//....//etc/passwd',
    '//etc/passwd',
    '/api//etc/passwd',
    '/api/C:/x',
    '/api/%5c%5chost%5cshare',
    '/.svc/svc.db',
    '/api/.svc/svc.db/',
    '/api/.svc/svc/',
    '/.svc/secret',
    '/api/%2esvc/svc.db/',
  ])('%s reaches nothing outside of what is published (S-P1, S-P3, S-P4)', async (path) => {
    const { status, text } = await rawStatus(path, await superuserKey());
    expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/root:|SQLite|docroot|\/tmp\//);
  });
});

describe('normal forms', () => {
  const composed = 'caf\u00e9 \u00c5';
  const decomposed = 'cafe\u0301 A\u030a';

  test.each([
    ['composed', composed],
    ['decomposed', decomposed],
  ])('a file with a %s name answers to either spelling (DS-5)', async (form, name) => {
    const { service, reader } = shared;
    writeFileSync(join(service.docroot, `${form} ${name}.csv`), marked(form));
    for (const spelling of [composed, decomposed, '\u0063afé \u212b']) {
      const found = await eventually(async () => {
        const answer = await list(reader, `${form} ${spelling}`);
        expect(answer.status).toBe(200);
        return answer;
      });
      expect(found.rows[0]!['mark']).toBe(form);
    }
    const { body } = await get(reader, '/');
    expect((body as { resources: string[] }).resources).toContain(`${form} ${name}.csv`);
  });

  test('a grant names a file in either spelling (DS-5, DS-129)', async () => {
    const { service } = shared;
    writeFileSync(join(service.docroot, 'granted u\u0308.csv'), marked('granted'));
    await service.accounts.grant('nora', 'granted \u00fc', 'read');
    const nora = await service.as('nora');
    await eventually(async () => {
      expect((await list(nora, 'granted u\u0308')).status).toBe(200);
    });
    expect((await list(nora, 'granted \u00fc.csv')).status).toBe(200);
  });

  test('two files whose names are the same but for that: one answers, nothing breaks (DS-5, S-P9)', async () => {
    const { service, reader } = shared;
    writeFileSync(join(service.docroot, 'twins \u00e9.csv'), marked('composed'));
    writeFileSync(join(service.docroot, 'twins e\u0301.csv'), marked('decomposed'));
    await eventually(async () => expect((await list(reader, 'twins \u00e9')).status).toBe(200));
    const marks = await Promise.all(
      ['twins \u00e9', 'twins e\u0301', 'twins \u00e9.csv', 'twins e\u0301.csv'].map(
        async (name) => (await list(reader, name)).rows[0]!['mark'],
      ),
    );
    expect(new Set(marks).size).toBe(1);
    expect((await get(reader, '/')).status).toBe(200);
  });

  test('compatibility forms are other names (DS-5)', async () => {
    const { service, reader } = shared;
    writeFileSync(join(service.docroot, 'of\ufb01ce.csv'), marked('ligature'));
    await eventually(async () => expect((await list(reader, 'of\ufb01ce')).status).toBe(200));
    expect((await list(reader, 'office')).status).toBe(404);
  });
});

describe('odd names', () => {
  test.each(ODD_NAMES)('%j is literal, with and without its extension (DS-31)', async (name) => {
    for (const path of [address(name), address(`${name}.csv`), address(name, {}, 'schema')]) {
      const { status, body } = await get(shared.reader, path);
      expect({ path, status }).toEqual({ path, status: 200 });
      if (path.startsWith('/api')) expect(body).toEqual([{ _row_id: 1, mark: name }]);
      else expect(body).toMatchObject({ name: name.split('/').at(-1)! });
    }
  });

  test('a name is no pattern for others (DS-31)', async () => {
    expect(await markAt('/api/%7Bother%7D/')).toBe(404);
    expect(await markAt('/api/:other/')).toBe(404);
    expect(await markAt('/api/to*/')).toBe(404);
    expect(await markAt('/api/t%3Fp/')).toBe(404);
  });

  test('all of them are listed as they are (DS-182)', async () => {
    const { body } = await get(shared.reader, '/');
    const { resources } = body as { resources: string[] };
    for (const name of ODD_NAMES) expect(resources).toContain(`${name}.csv`);
    const bytes = resources.map((rel) => Buffer.from(rel));
    expect(bytes.toSorted(Buffer.compare)).toEqual(bytes);
    expect(new Set(resources).size).toBe(resources.length);
  });

  test('on the page for people they are text, never markup (S-X6, DS-184)', async () => {
    const { text } = await get(shared.reader, '/', { headers: { Accept: 'text/html' } });
    expect(text).toContain('&lt;script');
    const wrong: string[] = [];
    const links: string[] = [];
    const page = new HTMLRewriter().on('*', {
      element({ tagName, attributes }) {
        const own = new Map(attributes as Iterable<[string, string]>);
        if (tagName === 'script' && !own.get('src')?.startsWith('/_svc/')) wrong.push(tagName);
        for (const name of own.keys()) if (name.startsWith('on')) wrong.push(`${tagName} ${name}`);
        if (tagName === 'a') links.push(own.get('href') ?? '');
      },
    });
    page.transform(text);
    expect(wrong).toEqual([]);
    expect(links).toContain('/ui/%3Cscript%3Ealert(1)%3C/script%3E/');
    expect(links.filter((link) => !/^\/[^/\\]|^#|^\/$/.test(link))).toEqual([]);
  });
});

describe('names with and without extension', () => {
  test.each([
    ['/api/UPPER/', 'UPPER.CSV'],
    ['/api/UPPER.CSV/', 'UPPER.CSV'],
    ['/api/UPPER.csv/', 404],
    ['/api/upper/', 404],
    ['/api/Mixed/', 'Mixed.Csv'],
    ['/api/rep.v2/', 'rep.v2.csv'],
    ['/api/rep.v2.csv/', 'rep.v2.csv'],
    ['/api/rep/', 'rep.csv'],
    ['/api/rep.v2.csv.csv/', 404],
    ['/api/notes.csv/', 'notes.csv'],
    ['/api/notes.tab/', 'notes.tab'],
    ['/api/alone/', 'alone.tab'],
    ['/api/off/', 404],
    ['/api/off.data/', 404],
    ['/api/folder.csv/', 404],
    ['/api/folder/', 404],
    ['/api/folder.csv/inner/', 'inner'],
    ['/api/name/', 'name'],
    ['/api/same/name/', 'same/name'],
  ])('%s is %s (DS-23, DS-25, DS-197)', async (path, mark) => {
    expect(await markAt(path)).toBe(mark);
  });

  test('of files that share a name the first in byte order has it, the others their own form (DS-25)', async () => {
    expect(await markAt('/api/twin/')).toBe('twin.CSV');
    expect(await markAt('/api/twin.CSV/')).toBe('twin.CSV');
    expect(await markAt('/api/twin.csv/')).toBe('twin.csv');
    expect(await markAt('/api/notes/')).toBe('notes.csv');
  });

  test('an extension form means its own file before any other name (DS-25)', async () => {
    expect(await markAt('/api/double.csv/')).toBe('double.csv');
    expect(await markAt('/api/double/')).toBe('double.csv');
    expect(await markAt('/api/double.csv.csv/')).toBe('double.csv.csv');
  });

  test('a name passes on when its holder goes, and comes back with it (DS-25, DS-131)', async () => {
    const { service } = shared;
    service.write('heir.csv', marked('csv'));
    service.write('heir.tab', marked('tab'));
    await eventually(async () => expect(await markAt('/api/heir.tab/')).toBe('tab'));
    expect(await markAt('/api/heir/')).toBe('csv');
    await Bun.file(join(service.docroot, 'heir.csv')).delete();
    await eventually(async () => expect(await markAt('/api/heir/')).toBe('tab'));
    expect(await markAt('/api/heir.csv/')).toBe(404);
    service.write('heir.csv', marked('csv again'));
    await eventually(async () => expect(await markAt('/api/heir/')).toBe('csv again'));
    expect(await markAt('/api/heir.tab/')).toBe('tab');
  });

  test('both forms are one resource with one version (DS-25)', async () => {
    const { etag } = await list(shared.reader, 'rep.v2');
    expect((await list(shared.reader, 'rep.v2.csv')).etag).toBe(etag);
  });
});

describe('names of built-in routes', () => {
  test('the route wins, the file answers to its extension form and under other families (DS-29)', async () => {
    const { body } = await get(shared.reader, '/api/apikeys/');
    expect(body).toBeArray();
    expect(JSON.stringify(body)).not.toContain('mark');
    expect(await markAt('/api/apikeys.csv/')).toBe('apikeys.csv');
    expect((await get(shared.reader, '/schema/apikeys/')).body).toMatchObject({ name: 'apikeys' });
  });

  test('it wins for methods it does not have, too (DS-7, DS-29)', async () => {
    const answer = await shared.writer.fetch('/api/apikeys', { method: 'PATCH' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('Allow')!.split(', ').sort()).toEqual([
      'GET',
      'HEAD',
      'OPTIONS',
      'POST',
    ]);
  });
});

/** A cell as CSV. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
