/**
 * What was uploaded is found the moment its upload is answered (DS-155, DS-177).
 */
import { beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { found, searched } from './searching.ts';
import { sharedService } from './shared-service.ts';
import { upload } from './upload-form.ts';

const shared = sharedService({
  files: { 'old.csv': 'n\n1\n' },
  config: { upload: { enabled: true, collision_policy: 'overwrite' } },
});

let uploader: Client;
beforeAll(async () => {
  await shared.service.accounts.grant('uploader', '', 'write');
  uploader = await shared.service.as('uploader');
});

test('a row of a table and a section of a document are found right after the 201, by their uploader', async () => {
  expect((await upload(uploader, 'birds.csv', 'bird,place\nkittiwake,cliff\n')).status).toBe(201);
  const [row] = (await searched(uploader, 'kittiwake')).results;
  expect(row).toMatchObject({ resource: 'birds', row_id: 1 });
  const text = '# Birds\n\n## Nests\n\nA nest of the guillemot is bare rock.\n';
  expect((await upload(uploader, 'nests.md', text)).status).toBe(201);
  const [section] = (await searched(uploader, 'guillemot')).results;
  expect(section).toMatchObject({ resource: 'nests', ui_url: expect.stringContaining('#nests') });
});

test('nobody else finds it, and the one who reads everything does', async () => {
  await shared.service.accounts.user('stranger');
  const stranger = await shared.service.as('stranger');
  for (const word of ['kittiwake', 'guillemot']) {
    expect((await searched(stranger, word)).results).toEqual([]);
    expect((await searched(shared.reader, word)).count).toBe(1);
  }
});

test('of a file that was uploaded again, only what it holds now is found', async () => {
  expect((await upload(uploader, 'birds.csv', 'bird,place\nrazorbill,ledge\n')).status).toBe(201);
  expect(await found(uploader, 'kittiwake')).toEqual([]);
  expect(await found(uploader, 'razorbill')).toHaveLength(1);
});
