/**
 * `/openapi.json` over HTTP (DS-190 to DS-192): per caller, valid by two independent readers, good enough to generate a
 * client from that talks to the server.
 */
import manifest from '../../package.json' with { type: 'json' };
import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compileErrors, validate } from '@readme/openapi-parser';
import { createConfig, lintDocument, Source, BaseResolver } from '@redocly/openapi-core';
import createClient from 'openapi-fetch';
import openapiTypescript, { astToString } from 'openapi-typescript';
import type { Client } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { sharedService } from './shared-service.ts';

const files = {
  'shop/products.csv': 'id,name,price,active\n1,cup,2.5,true\n2,jug,9,false\n',
  'shop/orders.csv': 'id,total\n1,10\n',
  'health.csv': 'a\n1\n',
  'a {b}/c d é.csv': 'x\n1\n',
  'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
};

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly responses: Record<string, { content?: Record<string, { schema?: object }> }>;
  readonly requestBody?: { content: Record<string, { schema: object }> };
}

interface Document {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, object>>;
}

async function documentOf(client: Client): Promise<Document> {
  const response = await client.fetch('/openapi.json');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as Document;
}

function operationsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

async function requireValid(document: object): Promise<void> {
  const copy = structuredClone(document);
  const outcome = await validate(copy as Parameters<typeof validate>[0]);
  if (!outcome.valid) throw new Error(compileErrors(outcome));
  const source = new Source('/openapi.json', JSON.stringify(document));
  const problems = await lintDocument({
    document: { source, parsed: structuredClone(document) },
    externalRefResolver: new BaseResolver(),
    config: await createConfig({
      rules: {
        struct: 'error',
        'no-unresolved-refs': 'error',
        'path-parameters-defined': 'error',
        'no-identical-paths': 'error',
        'operation-operationId-unique': 'error',
        'operation-summary': 'error',
        'no-invalid-schema-examples': 'error',
        'spec-components-invalid-map-name': 'error',
      },
    }),
  });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
}

/** The document waits a moment only for the columns of files that were never read. */
async function readAll(client: Client): Promise<void> {
  for (const name of ['shop/products', 'shop/orders']) {
    expect((await client.fetch(`/api/${name}/`)).status).toBe(200);
  }
}

const BLANK = { type: 'string', enum: [''] };

describe('for each caller', () => {
  const shared = sharedService({ files }, /broken\.csv/);
  beforeAll(() => readAll(shared.reader));

  test('DS-190 it is OpenAPI 3.1.0 of version 0.3.0, and valid for everybody', async () => {
    const { service } = shared;
    await service.accounts.grant('clerk', 'shop/products', 'read', 'write');
    const clients = [service, await service.as('nobody'), await service.as('clerk')];
    for (const client of [...clients, shared.superuser]) {
      const document = await documentOf(client);
      expect(document.openapi).toBe('3.1.0');
      expect(document.info).toEqual({ title: 'svc', version: '0.3.0' });
      expect(manifest.version).toBe('0.3.0');
      await requireValid(document);
    }
  });

  test('DS-190 an anonymous caller sees what needs no identity', async () => {
    const operations = operationsOf(await documentOf(shared.service));
    expect(operations).toContain('GET /');
    expect(operations).toContain('GET /health');
    expect(operations).toContain('POST /auth/login');
    expect(operations.filter((one) => /api\/|schema|admin|metrics|sessions/.test(one))).toEqual([]);
    const { paths } = await documentOf(shared.service);
    expect(paths['/health']?.['get']?.security).toEqual([]);
  });

  test('DS-190 a user without rights sees no file, a reader no way to write', async () => {
    const { service } = shared;
    const nobody = operationsOf(await documentOf(await service.as('nobody')));
    expect(nobody).toContain('GET /api/apikeys');
    expect(nobody.filter((one) => /products|orders|admin/.test(one))).toEqual([]);
    await service.accounts.grant('auditor', 'shop/products', 'read');
    const reader = operationsOf(await documentOf(await service.as('auditor')));
    expect(reader.filter((one) => one.includes('products'))).toEqual([
      'GET /api/shop/products/',
      'GET /api/shop/products/{row_id}/',
      'GET /schema/shop/products/',
      'GET /ui/shop/products/',
    ]);
    expect(reader.filter((one) => one.includes('orders'))).toEqual([]);
  });

  test('DS-190 a writer without the right to read is told how to write', async () => {
    const { service } = shared;
    await service.accounts.grant('scribe', 'shop/orders', 'write');
    const operations = operationsOf(await documentOf(await service.as('scribe')));
    expect(operations.filter((one) => one.includes('orders')).sort()).toEqual([
      'DELETE /api/shop/orders/',
      'DELETE /api/shop/orders/{row_id}/',
      'PATCH /api/shop/orders/',
      'PATCH /api/shop/orders/{row_id}/',
      'POST /api/shop/orders/',
    ]);
  });

  test('DS-191 the rows have their columns, with real values as examples', async () => {
    const { paths } = await documentOf(shared.superuser);
    const { get, post } = paths['/api/shop/products/']!;
    expect(get!.tags).toEqual(['csv']);
    expect(Object.keys(get!.responses).sort()).toEqual(
      ['200', '304', '401', '403', '404', '405', '410', '422'].sort(),
    );
    expect(get!.responses['200']!.content!['application/json']!.schema).toMatchObject({
      items: {
        properties: {
          _row_id: { type: 'integer' },
          id: { oneOf: [{ type: 'integer' }, BLANK], examples: [1] },
          name: { type: 'string', examples: ['cup'] },
          price: { oneOf: [{ type: 'number' }, BLANK], examples: [2.5] },
          active: { oneOf: [{ type: 'boolean' }, BLANK], examples: [true] },
        },
      },
    });
    expect(Object.keys(post!.responses)).toEqual(
      expect.arrayContaining(['401', '403', '404', '405', '409', '412', '422']),
    );
    expect(get!.security).toEqual([
      { cookie: [] },
      { apiKey: [] },
      { bearer: [] },
      { basic: [] },
      { tokenAuth: [] },
    ]);
  });

  test('DS-29 a name that a built-in route takes is listed by its extension form', async () => {
    const operations = operationsOf(await documentOf(shared.superuser));
    expect(operations).toContain('GET /health');
    expect(operations).toContain('GET /api/health/');
    expect(operations.filter((one) => one.startsWith('GET /api/a%20%7Bb%7D/'))).toEqual([
      'GET /api/a%20%7Bb%7D/c%20d%20%C3%A9/',
      'GET /api/a%20%7Bb%7D/c%20d%20%C3%A9/{row_id}/',
    ]);
  });

  test('DS-190 it is cached by its ETag until something changes', async () => {
    const { superuser, service } = shared;
    const first = await superuser.fetch('/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    const again = await superuser.fetch('/openapi.json', { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    service.write('shop/new.csv', 'a\n1\n');
    for (;;) {
      const changed = await superuser.fetch('/openapi.json', {
        headers: { 'If-None-Match': etag },
      });
      if (changed.status === 200) {
        expect(await changed.text()).toContain('/api/shop/new/');
        break;
      }
      await Bun.sleep(50);
    }
  });

  test('DS-191 only models that something refers to are there', async () => {
    const { components, paths } = await documentOf(shared.service);
    const text = JSON.stringify([paths, components]);
    const unreferred = Object.keys(components['schemas']!).filter(
      (name) => !text.includes(`#/components/schemas/${name}"`),
    );
    expect(unreferred).toEqual([]);
  });
});

test('DS-190 in read-only mode nobody is offered a way to change a file', async () => {
  await using service = await startService({ files, config: { readonly: true } });
  await service.accounts.user('root', { superuser: true });
  const operations = operationsOf(await documentOf(await service.as('root')));
  const writing = operations.filter((one) => /^(?:POST|PATCH|DELETE) \/api\/shop/.test(one));
  expect(writing).toEqual([]);
  expect(operations).toContain('GET /api/shop/products/');
});

test('a client generated from the document compiles and talks to the server', async () => {
  await using service = await startService({ files });
  await service.accounts.user('root', { superuser: true });
  const key = await service.accounts.apiKey('root');
  const root = await service.as('root');
  await readAll(root);
  const document = await documentOf(root);
  const types = astToString(await openapiTypescript(structuredClone(document) as never));
  const parent = resolve(import.meta.dir, '../../build/out');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'client-'));
  try {
    writeFileSync(join(folder, 'api.ts'), types);
    writeFileSync(join(folder, 'use.ts'), CLIENT_PROGRAM);
    writeFileSync(join(folder, 'tsconfig.json'), CLIENT_TSCONFIG);
    const compile = [process.execPath, 'check', '--no-script', '-p', folder];
    const compiled = Bun.spawnSync(compile, { stdout: 'pipe', stderr: 'pipe' });
    expect(compiled.stdout.toString()).toBe('');
    expect(compiled.exitCode).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const client = createClient<never>({ baseUrl: service.url, headers: { 'X-API-Key': key } });
  const call = client as unknown as Record<
    string,
    (path: string, options: object) => Promise<{ data: unknown }>
  >;
  const added = await call['POST']!('/api/shop/products/', {
    body: { action: 'create', data: [{ id: 3, name: 'pot', price: 4 }] },
  });
  expect(added.data).toEqual({ success: true, count: 1, row_ids: [3] });
  const found = await call['GET']!('/api/shop/products/', {
    params: { query: { filter: '{"price":{"$gt":3}}', sort: 'price' } },
  });
  expect((found.data as { name: string }[]).map(({ name }) => name)).toEqual(['pot', 'jug']);
});

const CLIENT_PROGRAM = `import createClient from 'openapi-fetch';
import type { paths } from './api';

const client = createClient<paths, 'application/json'>({ baseUrl: 'http://localhost' });
const rows = await client.GET('/api/shop/products/', { params: { query: { limit: 5, order: 'desc' } } });
export const names: (string | undefined)[] | undefined = rows.data?.map(({ name }) => name);
const changed = await client.PATCH('/api/shop/products/', {
  body: { action: 'update', data: { _row_id: 1, price: 3 } },
});
export const ids: number[] | undefined = changed.data?.row_ids;
// @ts-expect-error a column the dataset does not have
await client.POST('/api/shop/products/', { body: { action: 'create', data: [{ colour: 'red' }] } });
`;

const CLIENT_TSCONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ESNext',
    module: 'ESNext',
    moduleResolution: 'Bundler',
    skipLibCheck: true,
    lib: ['ESNext', 'DOM'],
    types: [],
  },
  files: ['api.ts', 'use.ts'],
});
