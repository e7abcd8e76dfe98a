/** Example values in the OpenAPI document and on its pages come from the rows, so only those who may read these get them (DS-128). */
import { beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { update } from './changes.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({ files: { 'pay.csv': 'who,salary\nconfidential-name,98765\n' } });

async function documented(client: Client, methods = ['post', 'patch']): Promise<string> {
  const document = await (await client.fetch('/openapi.json')).text();
  const pages = await Promise.all(
    methods.map(async (method) => {
      const page = await client.fetch(`/docs?method=${method}&path=/api/pay/`);
      expect(page.status).toBe(200);
      return page.text();
    }),
  );
  return document + pages.join('');
}

beforeAll(async () => {
  // Both wait a moment only for the columns of a file that was never read.
  expect((await shared.reader.fetch('/api/pay/')).status).toBe(200);
});

test('a reader finds a value of each column', async () => {
  const text = await documented(shared.reader, ['get']);
  expect(text).toContain('confidential-name');
  expect(text).toContain('98765');
});

test('who may only write finds the columns and no value (DS-128, DS-190)', async () => {
  const { accounts } = shared.service;
  await accounts.grant('clerk', 'pay', 'write');
  await accounts.user('boss', { superuser: true });
  const scoped = { 'X-API-Key': await accounts.apiKey('boss', ['write']) };
  for (const client of [await shared.service.as('clerk'), shared.service.withHeaders(scoped)]) {
    expect((await client.fetch('/api/pay/')).status).toBe(403);
    const text = await documented(client);
    expect(text).toContain('salary');
    expect(text).not.toContain('confidential-name');
    expect(text).not.toContain('98765');
  }
});

test('a value that was changed is not shown any more', async () => {
  const { writer } = shared;
  expect((await update(writer, 'pay', { _row_id: 1, who: 'another-name' })).status).toBe(200);
  const text = await documented(writer);
  expect(text).toContain('another-name');
  expect(text).not.toContain('confidential-name');
});
