/** Paths of the OpenAPI document: written as the contract writes them, and listed for those who can use them (DS-190). */
import { describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'a.csv': 'n\n1\n',
    'song.mp3': 'no song',
    'elastic.md': '# below a built-in address\n',
    'api-token-auth.txt': 'as well',
  },
});

async function pathsFor(client: Client): Promise<string[]> {
  const document = (await (await client.fetch('/openapi.json')).json()) as { paths: object };
  return Object.keys(document.paths);
}

/** Everything the contract writes with a slash at its end. */
const WITH_SLASH = [
  '/api/',
  '/api-token-auth/',
  '/api/events/',
  '/api/events/{id}/',
  '/api/savedsearches/',
  '/api/savedsearches/{id}/',
  '/api/alerts/',
  '/api/alerts/preview/',
  '/api/alerts/{id}/',
  ...['enable', 'disable', 'approve', 'run', 'runs', 'rows'].map(
    (verb) => `/api/alerts/{id}/${verb}/`,
  ),
  '/search2/api/run/',
  '/search2/api/validate/',
  '/search2/api/commands/',
  '/elastic/',
  '/admin/',
];

test('paths end in a slash where the contract writes one, and nowhere else', async () => {
  const paths = await pathsFor(shared.superuser);
  expect(WITH_SLASH.filter((path) => !paths.includes(path))).toEqual([]);
  const others = paths.filter((path) => path.endsWith('/') && !WITH_SLASH.includes(path));
  expect(others).toEqual(['/', '/api/a/', '/api/a/{row_id}/', '/schema/a/', '/ui/a/']);
  for (const path of ['/api/events/tail', '/api/apikeys', '/auth/sessions', '/search']) {
    expect(paths).toContain(path);
  }
});

test('a file below such an address is listed by its extension form (DS-29)', async () => {
  const paths = await pathsFor(shared.superuser);
  expect(paths).toContain('/elastic.md');
  expect(paths).toContain('/api-token-auth.txt');
  expect(paths).not.toContain('/elastic');
  expect(paths).not.toContain('/api-token-auth');
});

describe('the gallery is listed for', () => {
  test('those who can read some media', async () => {
    expect(await pathsFor(shared.reader)).toContain('/ui/media');
    expect(await pathsFor(shared.superuser)).toContain('/ui/media');
  });

  test('nobody else', async () => {
    const { accounts } = shared.service;
    await accounts.grant('clerk', 'a', 'read');
    expect(await pathsFor(await shared.service.as('clerk'))).not.toContain('/ui/media');
    expect(await pathsFor(shared.service)).not.toContain('/ui/media');
  });
});
