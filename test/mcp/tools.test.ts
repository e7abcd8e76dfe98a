/**
 * What the tools of MCP do, beside what REST answers to the same (DS-152, DS-179 to DS-181).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { eventually } from '../http/eventually.ts';
import { commands } from '../../src/language/commands/index.ts';
import { found } from '../http/searching.ts';
import { sharedService } from '../http/shared-service.ts';
import { listAudit } from '../support/audit.ts';
import { type Client, startService } from '../support/service.ts';
import { ask, call, failure } from './messages.ts';

const ROWS = Array.from({ length: 30 }, (_, n) => `name${n},${n},${n % 2 === 0}`);
const PEOPLE = `name,age,even\n${ROWS.join('\n')}\n`;

const shared = sharedService({
  files: {
    'people.csv': PEOPLE,
    'stock.csv': 'sku,n\na,1\nb,2\n',
    'empty.csv': 'a,b\n',
    'deep/notes.md': '# Notes\n\nSee [people](../people.csv). <script>alert(1)</script>\n',
    'page.html': '<!doctype html><title>P</title><p>größe</p>',
    'plain.txt': 'Just text, größe.\n',
    'data.json': '{"a": [1, 2]}',
    'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'dot.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 0]),
    'latin.txt': new Uint8Array([0x67, 0x72, 0xf6, 0xdf, 0x65]),
    'song.mp3': 'no sound',
    'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
    'hello.ts': `import { Elysia } from 'elysia';\nexport const router = new Elysia().get('/', () => 'hi');\n`,
    'odd name/50%+{x}.csv': 'n\n1\n',
    'notes.csv': 'n\n1\n',
    'notes.txt': 'the other notes',
    '.svc/hello.txt': 'hidden',
  },
});

beforeAll(async () => {
  const book = new ExcelJS.Workbook();
  book.addWorksheet('Stock').addRows([
    ['part', 'count'],
    ['bolt', 5],
  ]);
  book.addWorksheet('Prices').addRows([
    ['part', 'price'],
    ['bolt', 0.5],
  ]);
  shared.service.write('inv.xlsx', new Uint8Array(await book.xlsx.writeBuffer()));
  await eventually(async () => {
    const { structuredContent } = await call(shared.reader, 'list_resources');
    expect(JSON.stringify(structuredContent)).toContain('inv/Prices');
  });
});

const rest = async (path: string, client: Client = shared.reader) =>
  (await (await client.fetch(path)).json()) as Record<string, unknown>;
const detail = async (path: string) => (await rest(path))['detail'];

describe('the list of tools (DS-179)', () => {
  test('has the five of the contract first, with schemas and annotations', async () => {
    const { tools } = (await ask(shared.service, 'tools/list')) as {
      tools: { name: string; annotations: object; inputSchema: object; outputSchema: object }[];
    };
    expect(tools.map(({ name }) => name)).toEqual([
      'list_resources',
      'get_schema',
      'read_resource',
      'write_resource',
      'search',
      'search_events',
      'run_sql',
      'list_saved_searches',
      'list_findings',
      'update_finding',
      'get_history',
      'restore_version',
    ]);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        description: expect.any(String),
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
        annotations: ['write_resource', 'restore_version'].includes(tool.name)
          ? { readOnlyHint: false, destructiveHint: true, idempotentHint: false }
          : tool.name === 'update_finding'
            ? { readOnlyHint: false, destructiveHint: false, idempotentHint: true }
            : { readOnlyHint: true, idempotentHint: true },
      });
      expect(tool.annotations).toMatchObject({ openWorldHint: false });
    }
  });

  test('tells of the search language what a query needs: every command, and examples that are understood', async () => {
    const { tools } = (await ask(shared.service, 'tools/list')) as {
      tools: { name: string; description: string }[];
    };
    const { description } = tools.find(({ name }) => name === 'search_events')!;
    for (const { name } of commands) expect(description).toMatch(new RegExp(`\\b${name}\\b`));
    const quoted = [...description.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    const examples = quoted.filter((text) => !text.includes('<'));
    expect(examples.length).toBeGreaterThan(3);
    await shared.service.createSuperuser('examples');
    const superuser = await shared.service.as('examples');
    for (const query of examples) {
      const { content, isError } = await call(superuser, 'search_events', { query });
      const text = JSON.stringify(content);
      expect({
        query,
        isUnderstood: isError !== true || text.includes('Unknown dataset'),
        text,
      }).toMatchObject({
        query,
        isUnderstood: true,
      });
    }
  });
});

describe('list_resources', () => {
  test('is what GET / lists, an entry for each sheet, with problems', async () => {
    await shared.reader.fetch('/api/broken/');
    const { structuredContent, content } = await call(shared.reader, 'list_resources');
    const { resources } = structuredContent as {
      resources: { resource: string; type: string; path: string; problem?: string }[];
    };
    const listed = (await rest('/')) as { resources: string[] };
    expect([...new Set(resources.map(({ path }) => path))]).toEqual(listed.resources);
    expect(resources).toContainEqual({ resource: 'inv/Stock', type: 'excel', path: 'inv.xlsx' });
    expect(resources).toContainEqual({ resource: 'inv/Prices', type: 'excel', path: 'inv.xlsx' });
    expect(resources.find(({ resource }) => resource === 'broken')?.problem).toContain('UTF-8');
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  });
});

describe('get_schema', () => {
  test('is what /schema answers; {} for what is no dataset', async () => {
    for (const name of [
      'people',
      'people.csv',
      'inv/Stock',
      'inv.xlsx/Prices',
      'odd name/50%+{x}',
    ]) {
      const path = name.split('/').map(encodeURIComponent).join('/');
      const { structuredContent } = await call(shared.reader, 'get_schema', { resource: name });
      expect(structuredContent).toEqual(await rest(`/schema/${path}/`));
    }
    for (const resource of ['deep/notes', 'plain', 'song', 'hello']) {
      const { structuredContent } = await call(shared.reader, 'get_schema', { resource });
      expect(structuredContent).toEqual({});
    }
  });
});

describe('read_resource', () => {
  const cases: readonly (readonly [given: object, query: Record<string, string>])[] = [
    [{}, {}],
    [{ limit: 3 }, { limit: '3' }],
    [
      { limit: 3, offset: 28 },
      { limit: '3', offset: '28' },
    ],
    [{ offset: 100 }, { offset: '100' }],
    [
      { sort: 'age', order: 'desc', limit: 2 },
      { sort: 'age', order: 'desc', limit: '2' },
    ],
    [{ sort: '-even,name' }, { sort: '-even,name' }],
    [{ filter: { age: { $gte: 27 } } }, { filter: '{"age":{"$gte":27}}' }],
    [
      { filter: { $or: [{ name: 'name1' }, { age: 2 }] } },
      { filter: '{"$or":[{"name":"name1"},{"age":2}]}' },
    ],
    [{ filter: {}, limit: null, sort: null }, {}],
    [{ filter: null }, {}],
  ];
  test.each(cases)('%j gives the rows of REST', async (given, query) => {
    const response = await shared.reader.fetch(`/api/people/?${new URLSearchParams(query)}`);
    const rows = (await response.json()) as object[];
    const total = Number(response.headers.get('X-Total-Count'));
    const { structuredContent, content } = await call(shared.reader, 'read_resource', {
      resource: 'people',
      ...given,
    });
    expect(structuredContent).toEqual({ rows, count: rows.length, total });
    expect(content).toEqual(rows.map((row) => ({ type: 'text', text: JSON.stringify(row) })));
  });

  test('of a dataset without rows is no block at all', async () => {
    const { structuredContent, content } = await call(shared.reader, 'read_resource', {
      resource: 'empty',
    });
    expect([structuredContent, content]).toEqual([{ rows: [], count: 0, total: 0 }, []]);
  });

  test('says what HTTP says about wrong filters, sorts and ranges', async () => {
    const wrong: readonly (readonly [object, string])[] = [
      [{ filter: { nobody: 1 } }, 'filter={"nobody":1}'],
      [{ filter: { age: { $near: 1 } } }, 'filter={"age":{"$near":1}}'],
      [{ filter: { age: { $gt: 'x' } } }, 'filter={"age":{"$gt":"x"}}'],
      [{ filter: { name: { $regex: '(' } } }, 'filter={"name":{"$regex":"("}}'],
      [{ sort: 'nobody' }, 'sort=nobody'],
    ];
    for (const [given, query] of wrong) {
      const text = await failure(shared.reader, 'read_resource', { resource: 'people', ...given });
      expect(text).toBe(
        `Error executing tool read_resource: ${await detail(`/api/people/?${query}`)}`,
      );
    }
    for (const [name, value] of [
      ['limit', 0],
      ['limit', -1],
      ['offset', -1],
    ] as const) {
      const given = { resource: 'people', [name]: value };
      expect(await failure(shared.reader, 'read_resource', given)).toContain(
        `Error executing tool read_resource: Argument '${name}': Input should be greater`,
      );
    }
  });

  test('names the argument that is wrong', async () => {
    const known = 'resource, limit, offset, sort, order, filter';
    const wrong: readonly (readonly [object, string])[] = [
      [{}, "Missing argument 'resource'"],
      [{ resource: 7 }, "Argument 'resource' must be a string"],
      [{ resource: 'x'.repeat(5000) }, "Argument 'resource' must have at most 4096 characters"],
      [{ resource: 'people', limit: '5' }, "Argument 'limit' must be an integer or null"],
      [{ resource: 'people', limit: 1.5 }, "Argument 'limit' must be an integer or null"],
      [{ resource: 'people', offset: null }, "Argument 'offset' must be an integer"],
      [{ resource: 'people', order: 'up' }, "Argument 'order' must be one of asc, desc"],
      [{ resource: 'people', filter: '{}' }, "Argument 'filter' must be an object or null"],
      [{ resource: 'people', format: 'csv' }, `Unknown argument 'format'; known are: ${known}`],
      [
        JSON.parse('{"resource":"people","__proto__":1}') as object,
        `Unknown argument '__proto__'; known are: ${known}`,
      ],
      [
        JSON.parse('{"resource":"people","filter":{"$or":[{"__proto__":{"age":1}}]}}') as object,
        "Argument 'filter' must not have a member '__proto__'",
      ],
    ];
    for (const [given, text] of wrong) {
      expect(await failure(shared.reader, 'read_resource', given)).toBe(
        `Error executing tool read_resource: ${text}`,
      );
    }
  });

  test('gives pages and text files as text', async () => {
    const texts = {
      page: ['<!doctype html><title>P</title><p>größe</p>', 'text/html'],
      plain: ['Just text, größe.\n', 'text/plain'],
      data: ['{"a": [1, 2]}', 'application/json'],
      drawing: ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    };
    for (const [resource, [text, type]] of Object.entries(texts)) {
      const { structuredContent, content } = await call(shared.reader, 'read_resource', {
        resource,
      });
      expect(structuredContent).toEqual({ content: text, mime_type: type });
      expect(content).toEqual([{ type: 'text', text: text! }]);
    }
    const { structuredContent } = await call(shared.reader, 'read_resource', {
      resource: 'deep/notes',
    });
    expect(structuredContent).toEqual({
      content: expect.stringContaining('<h1 id="notes">Notes</h1>'),
      mime_type: 'text/html',
    });
    const html = String(structuredContent?.['content']);
    expect(html).not.toContain('<script');
    expect(html).toContain('href="/ui/people.csv"');
  });

  test('leads to the bytes of everything else, on this server and nowhere in it', async () => {
    const links = {
      dot: ['/dot', 'image/png', 12],
      song: ['/media/song', 'audio/mpeg', 8],
      latin: ['/latin', 'text/plain', 5],
    } as const;
    for (const [resource, [url, type, size]] of Object.entries(links)) {
      const { structuredContent, content } = await call(shared.reader, 'read_resource', {
        resource,
      });
      expect(structuredContent).toEqual({ url, mime_type: type, size });
      expect(content[1]).toMatchObject({
        type: 'resource_link',
        uri: `svc:///${resource}`,
        mimeType: type,
        size,
      });
      expect(JSON.stringify(content)).not.toContain(shared.service.docroot);
      expect((await shared.reader.fetch(url)).status).toBe(200);
    }
  });

  test('of a name that two files share is the dataset; the extension form is its own file (DS-25)', async () => {
    const shownBy = async (resource: string) =>
      Object.keys(
        (await call(shared.reader, 'read_resource', { resource })).structuredContent ?? {},
      );
    expect(await shownBy('notes')).toContain('rows');
    expect(await shownBy('notes.csv')).toContain('rows');
    expect(await shownBy('notes.txt')).toContain('content');
  });

  test('refuses handlers, broken files and names that mean nothing', async () => {
    const refusals = {
      hello: "Resource type 'handler' cannot be read",
      broken: await detail('/api/broken/'),
      nothing: "Unknown resource: 'nothing'",
      '../people.csv': "Unknown resource: '../people.csv'",
      '.svc/hello.txt': "Unknown resource: '.svc/hello.txt'",
      'people\0': "Unknown resource: 'people\0'",
      inv: "Unknown resource: 'inv'",
    };
    for (const [resource, text] of Object.entries(refusals)) {
      expect(await failure(shared.reader, 'read_resource', { resource })).toBe(
        `Error executing tool read_resource: ${text}`,
      );
    }
  });
});

describe('search', () => {
  test('is what /search answers', async () => {
    await eventually(async () => expect(await found(shared.reader, 'name7')).toEqual(['people#8']));
    const given = { q: 'name', limit: 3, offset: 2, resource_type: 'csv,markdown' };
    const { structuredContent, content } = await call(shared.reader, 'search', given);
    expect(structuredContent).toEqual(
      await rest('/search?q=name&limit=3&offset=2&type=csv,markdown'),
    );
    expect(structuredContent).toMatchObject({ count: 3, has_more: true });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
    expect((await call(shared.reader, 'search', { q: '' })).structuredContent).toMatchObject({
      count: 0,
    });
    expect(await failure(shared.reader, 'search', { q: 'x', limit: 101 })).toContain(
      "Argument 'limit'",
    );
    expect(await failure(shared.reader, 'search', {})).toContain("Missing argument 'q'");
  });
});

describe('get_history and restore_version', () => {
  test('tell what was changed, and take it back', async () => {
    const data = { _row_id: 1, age: 77 };
    const writer = shared.writer;
    await call(writer, 'write_resource', { resource: 'people', action: 'update', data });
    const { structuredContent: found } = await call(writer, 'get_history', {
      resource: 'people',
      row: 1,
      column: 'age',
      limit: 1,
    });
    const [change] = (found as { changes: { id: number; rows: unknown[] }[] }).changes;
    expect(change!.rows).toMatchObject([{ _row_id: 1, after: { age: 77 } }]);
    const undo = { resource: 'people', change: change!.id, rows: [1], columns: ['age'] };
    const dry = await call(writer, 'restore_version', { ...undo, dry_run: true });
    expect(dry.structuredContent).toMatchObject({ dry_run: true, count: 1 });
    const done = await call(writer, 'restore_version', undo);
    expect(done.structuredContent).toMatchObject({ success: true, row_ids: [1], skipped: [] });
    expect(await failure(writer, 'restore_version', { resource: 'people' })).toContain('one of');
    expect(await failure(writer, 'restore_version', { ...undo, content: 'then' })).toContain(
      'id of a change',
    );
    expect(await failure(shared.reader, 'get_history', { resource: 'people' })).toContain(
      'Permission denied: write on people',
    );
  });
});

describe('write_resource', () => {
  const write = (action: string, data: unknown, resource = 'people', client = shared.writer) =>
    call(client, 'write_resource', { resource, action, data });
  const refused = (action: unknown, data: unknown, resource = 'people') =>
    failure(shared.writer, 'write_resource', { resource, action, data });

  test('changes rows, which REST and MCP then find by their new words at once (DS-152)', async () => {
    const made = await write('create', [{ name: 'Quetzal', age: 1 }, { name: 'Okapi' }]);
    expect(made.structuredContent).toEqual({ success: true, count: 2, row_ids: [31, 32] });
    expect(made.content).toEqual([
      { type: 'text', text: '{"success":true,"count":2,"row_ids":[31,32]}' },
    ]);
    const hits = async (q: string) => {
      const { structuredContent } = await call(shared.reader, 'search', { q });
      return [await found(shared.reader, q), structuredContent?.['count']];
    };
    expect(await hits('quetzal')).toEqual([['people#31'], 1]);

    await write('update', { _row_id: 31, name: 'Axolotl' });
    expect(await hits('axolotl')).toEqual([['people#31'], 1]);
    expect(await hits('quetzal')).toEqual([[], 0]);

    await write('delete', { _row_id: 31 });
    expect(await hits('axolotl')).toEqual([[], 0]);
    expect(await Bun.file(`${shared.service.docroot}/people.csv`).text()).toBe(
      `${PEOPLE}Okapi,,\n`,
    );
  });

  test('changes many rows together or none, as over HTTP (DS-240)', async () => {
    const change = (given: object, client = shared.writer) =>
      call(client, 'write_resource', { resource: 'stock', ...given });
    const text = () => Bun.file(`${shared.service.docroot}/stock.csv`).text();
    const made = await change({
      action: 'upsert',
      key: ['sku'],
      data: [
        { sku: 'a', n: 5 },
        { sku: 'c', n: 6 },
      ],
    });
    expect(made.structuredContent).toEqual({
      success: true,
      count: 2,
      row_ids: [1, 3],
      created: 1,
      updated: 1,
    });
    const filter = { n: { $gte: 5 } };
    const tried = await change({ action: 'delete', filter, dry_run: true });
    expect(tried.structuredContent).toEqual({
      success: true,
      dry_run: true,
      count: 2,
      row_ids: [1, 3],
    });
    expect(await text()).toBe('sku,n\na,5\nb,2\nc,6\n');
    const operations = [
      {
        action: 'update',
        data: [
          { _row_id: 1, n: 1 },
          { _row_id: 2, n: 1 },
        ],
      },
      { action: 'delete', filter, expected_count: 2 },
    ];
    const gone = { resource: 'stock', action: 'batch', operations: [...operations, operations[0]] };
    expect(await failure(shared.writer, 'write_resource', gone)).toEndWith('Row 1 not found');
    const done = await change({ action: 'batch', operations });
    expect(done.structuredContent).toMatchObject({ count: 4 });
    expect(await text()).toBe('sku,n\nb,1\n');
    await shared.service.accounts.grant('blind', 'stock', 'write');
    const blind = await shared.service.as('blind');
    const looking = { resource: 'stock', action: 'delete', filter: {}, dry_run: true };
    expect(await failure(blind, 'write_resource', looking)).toEndWith(
      "Permission denied: read on 'stock'",
    );
    expect(
      await failure(shared.writer, 'write_resource', { resource: 'stock', action: 'batch' }),
    ).toEndWith("Missing argument 'operations'");
  });

  test('is audited as the same change over HTTP (DS-141)', async () => {
    const entries = async () =>
      (await listAudit(shared.service.accounts.db, { limit: 2, offset: 0 })).entries.map(
        ({ userId, action, resource, details, ipAddress }) => ({
          userId,
          action,
          resource,
          details,
          ipAddress,
        }),
      );
    await write('create', [{ part: 'nut', count: 1 }], 'inv/Stock');
    await shared.writer.fetch('/api/inv/Stock/', {
      method: 'POST',
      body: '{"action":"create","data":[{"part":"cog","count":1}]}',
    });
    await eventually(async () => {
      const [http, mcp] = await entries();
      expect(mcp).toMatchObject({ action: 'create_dataset_rows', resource: 'inv.xlsx/Stock' });
      expect(http).toEqual(mcp!);
    });
  });

  test('says what is wrong in the words of HTTP', async () => {
    const bodies: readonly (readonly [string, string, unknown])[] = [
      ['POST', 'create', {}],
      ['POST', 'create', [{ nobody: 1 }]],
      ['POST', 'create', [{ age: 'x' }]],
      ['PATCH', 'update', [1]],
      ['PATCH', 'update', { name: 'x' }],
      ['PATCH', 'update', { _row_id: 999, name: 'x' }],
      ['DELETE', 'delete', { _row_id: 999 }],
      ['DELETE', 'delete', { _row_id: 1, name: 'x' }],
    ];
    for (const [method, action, data] of bodies) {
      const body = JSON.stringify({ action, data });
      const http = await shared.writer.fetch('/api/people/', { method, body });
      const { detail: text } = (await http.json()) as { detail: string };
      expect(await refused(action, data)).toBe(`Error executing tool write_resource: ${text}`);
    }
    expect(await refused('replace', {})).toContain(
      "Argument 'action' must be one of create, update, delete, upsert, batch",
    );
    expect(await refused('create', 'x')).toContain("Argument 'data' must be an object or an array");
    expect(await refused('create', undefined)).toContain("Missing argument 'data'");
    expect(await refused('create', [], 'nothing')).toContain("Unknown resource: 'nothing'");
    expect(await refused('create', [], 'broken')).toContain("Cannot read 'broken.csv'");
    for (const [name, type] of [
      ['plain', 'file'],
      ['hello', 'handler'],
      ['song', 'media'],
    ]) {
      expect(await refused('create', [], name)).toBe(
        `Error executing tool write_resource: Resource type '${type}' does not support write operations`,
      );
    }
  });

  test('tells rights before existence, and both before read-only mode (DS-181)', async () => {
    await using svc = await startService({
      files: { 'a.csv': 'n\n1\n' },
      config: { readonly: true },
    });
    await svc.createSuperuser('root');
    await svc.accounts.grant('reader', '*', 'read');
    const given = (resource: string) => ({ resource, action: 'create', data: [{ n: 2 }] });
    const [root, reader] = [await svc.as('root'), await svc.as('reader')];
    expect(await failure(reader, 'write_resource', given('a'))).toEndWith(
      "Permission denied: write on 'a'",
    );
    expect(await failure(root, 'write_resource', given('b'))).toEndWith("Unknown resource: 'b'");
    expect(await failure(root, 'write_resource', given('a'))).toEndWith(
      'Server is in read-only mode',
    );
    expect(
      (await call(reader, 'read_resource', { resource: 'a' })).structuredContent,
    ).toMatchObject({ total: 1 });
  });
});

describe('run_sql (DS-218)', () => {
  test('reads datasets with the rights of the caller', async () => {
    const sql = 'select p.name, x.n from people p, x where p.age < :age order by p.age';
    const given = {
      sql,
      params: { age: 2 },
      with: { x: 'from people | stats count as n' },
      offset: 1,
    };
    const { structuredContent } = await call(shared.reader, 'run_sql', given);
    expect(structuredContent).toMatchObject({ rows: [{ name: 'name1' }], meta: { count: 1 } });
    expect(await failure(shared.reader, 'run_sql', { sql: 'select nam from people' })).toStartWith(
      "Error executing tool run_sql: Unknown column 'nam'; did you mean 'name'?",
    );
    expect(await failure(shared.reader, 'run_sql', { sql: 'drop table people' })).toContain(
      'A statement only reads',
    );
  });
});

describe('search_events and list_saved_searches', () => {
  test('query datasets and events with the rights of the caller', async () => {
    const query = 'from people | where age < 2 | sort age | fields name';
    const { structuredContent, content } = await call(shared.reader, 'search_events', { query });
    expect(structuredContent).toMatchObject({
      rows: [{ name: 'name0' }, { name: 'name1' }],
      meta: { count: 2 },
    });
    expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    const cut = await call(shared.reader, 'search_events', { query: 'from people', limit: 3 });
    expect(cut.structuredContent).toMatchObject({ meta: { count: 3, truncated: true } });
    expect(await failure(shared.reader, 'search_events', { query: 'from peeple' })).toStartWith(
      'Error executing tool search_events: Unknown dataset',
    );
    expect(await failure(shared.reader, 'search_events', { query: 'x', limit: 0 })).toContain(
      'limit must be',
    );
  });

  test('list the queries the caller sees', async () => {
    const body = JSON.stringify({ name: 'young', query: 'from people | where age < 2' });
    const headers = { 'Content-Type': 'application/json' };
    expect(
      (await shared.writer.fetch('/api/savedsearches/', { method: 'POST', headers, body })).status,
    ).toBe(201);
    const mine = await call(shared.writer, 'list_saved_searches', { search: 'you' });
    expect(mine.structuredContent).toMatchObject({ saved_searches: [{ name: 'young' }] });
    const others = await call(shared.reader, 'list_saved_searches');
    expect(others.structuredContent).toEqual({ saved_searches: [] });
  });
});

describe('a result that is too large (DS-180)', () => {
  test('is refused with its number of rows, never cut', async () => {
    await using svc = await startService({
      files: { 'people.csv': PEOPLE, 'long.txt': 'x'.repeat(2000), 'long.md': 'word '.repeat(400) },
      config: { limits: { mcp_result_bytes: 1000 } },
    });
    await svc.createSuperuser('root');
    const root = await svc.as('root');
    const read = (given: object) =>
      failure(root, 'read_resource', { resource: 'people', ...given });
    const text = (rows: number) =>
      `Error executing tool read_resource: Result too large: ${rows} rows; use limit, offset or filter`;
    expect(await read({})).toBe(text(30));
    expect(await read({ limit: 25, offset: 2 })).toBe(text(25));
    expect(await read({ limit: 29, offset: 4 })).toBe(text(26));
    // What was done is told, whatever its size; the caller would do it again.
    const data = Array.from({ length: 400 }, () => ({ name: 'x' }));
    const made = await call(root, 'write_resource', { resource: 'people', action: 'create', data });
    expect(made.structuredContent).toMatchObject({ success: true, count: 400 });
    const small = await call(root, 'read_resource', { resource: 'people', limit: 5 });
    expect(small.structuredContent).toMatchObject({ count: 5, total: 430 });
    for (const resource of ['long.txt', 'long.md']) {
      expect(await failure(root, 'read_resource', { resource })).toContain('Result too large');
    }
    expect(await failure(root, 'search_events', { query: 'from people' })).toContain(
      'Result too large',
    );
  });
});
