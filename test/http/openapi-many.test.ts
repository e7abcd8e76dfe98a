/**
 * The OpenAPI document of more files than fit into one piece: whole, with its entity tag, compressed or not (DS-19, DS-190).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const FILES = 300;
const PLAIN = { 'Accept-Encoding': 'identity' };
let svc: Service;
let reader: Client;
beforeAll(async () => {
  const names = Array.from({ length: FILES }, (_, n) => `f${n}.csv`);
  svc = await startService({
    files: Object.fromEntries(names.map((name) => [name, 'n,m\n1,x\n'])),
  });
  await svc.accounts.grant('reader', '*', 'read');
  reader = await svc.as('reader');
});
afterAll(() => svc?.[Symbol.asyncDispose]());

async function paths(response: Response): Promise<string[]> {
  return Object.keys(((await response.json()) as { paths: object }).paths);
}

test('lists every file once, the same each time', async () => {
  // Files are read for it little by little.
  const { whole, etag } = await eventually(async () => {
    const whole = await reader.fetch('/openapi.json', { headers: PLAIN });
    const etag = whole.headers.get('etag')!;
    const again = await reader.fetch('/openapi.json', { headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    return { whole, etag };
  });
  const listed = await paths(whole);
  for (let n = 0; n < FILES; n++)
    expect(listed.filter((path) => path === `/api/f${n}/`)).toHaveLength(1);
  expect(new Set(listed).size).toBe(listed.length);
  const packed = await reader.fetch('/openapi.json', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(await paths(packed)).toEqual(listed);
  const head = await reader.fetch('/openapi.json', { method: 'HEAD', headers: PLAIN });
  expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
});
