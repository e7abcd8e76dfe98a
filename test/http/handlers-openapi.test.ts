/**
 * The routes of handlers in `/openapi.json`, as far as a caller may use them (DS-190, DS-191).
 */
import { expect, test } from 'bun:test';
import { compileErrors, validate } from '@readme/openapi-parser';
import { startService } from '../support/service.ts';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { hasPythonHandlers, PYTHON, SCRIPT } from './handler-files.ts';

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
}

async function pathsOf(client: Client): Promise<Document['paths']> {
  const document = (await (await client.fetch('/openapi.json')).json()) as Document;
  const outcome = await validate(
    structuredClone(document) as unknown as Parameters<typeof validate>[0],
  );
  if (!outcome.valid) throw new Error(compileErrors(outcome));
  return document.paths;
}

test('readers find the routes they may read, writers all, others none (DS-190)', async () => {
  const languages = hasPythonHandlers() ? ['script', 'python'] : ['script'];
  await using svc = await startService({
    files: { 'script.ts': SCRIPT, 'python.py': PYTHON, 'broken.ts': 'export const router = ;' },
  });
  await svc.accounts.user('stranger', {});
  for (const name of languages) {
    await svc.accounts.grant('reader', name, 'read');
    await svc.accounts.grant('writer', name, 'read', 'write');
  }
  await svc.accounts.user('boss', { superuser: true });
  const boss = await svc.as('boss');
  for (const name of languages) {
    await eventually(async () => {
      expect((await boss.fetch(`/api/${name}/`)).status).toBe(200);
      // The document waits for the routes of a handler a moment only.
      expect((await pathsOf(boss))[`/api/${name}/items`]).toBeDefined();
    }, 20_000);
  }
  const [anonymous, stranger, reader, writer, all] = [
    await pathsOf(svc),
    await pathsOf(await svc.as('stranger')),
    await pathsOf(await svc.as('reader')),
    await pathsOf(await svc.as('writer')),
    await pathsOf(boss),
  ];
  for (const name of languages) {
    const items = `/api/${name}/items`;
    expect(Object.keys(anonymous).filter((path) => path.includes(name))).toEqual([]);
    expect(Object.keys(stranger).filter((path) => path.includes(name))).toEqual([]);
    expect(Object.keys(reader[`/api/${name}/`] ?? {})).toContain('get');
    expect(reader[items]).toBeUndefined();
    for (const paths of [writer, all]) {
      const operation = paths[items]?.['post'];
      expect(operation?.tags).toEqual(['handler']);
      expect(JSON.stringify(operation)).toContain('"count"');
    }
  }
  const ids = Object.values(all).flatMap((item) =>
    Object.values(item).map((one) => one.operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('in read-only mode unsafe routes of handlers are not listed (DS-190)', async () => {
  await using svc = await startService({ files: { 'script.ts': SCRIPT }, args: ['--readonly'] });
  await svc.accounts.user('boss', { superuser: true });
  const boss = await svc.as('boss');
  await eventually(async () => {
    expect((await boss.fetch('/api/script/')).status).toBe(200);
    expect(Object.keys((await pathsOf(boss))['/api/script/'] ?? {})).toContain('get');
  }, 20_000);
  const paths = await pathsOf(boss);
  expect(paths['/api/script/items']).toBeUndefined();
});
