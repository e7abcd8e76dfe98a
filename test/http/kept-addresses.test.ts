/** An address keeps its file when another one appears that would come first (DS-25, DS-26, DS-131). */
import { expect, test } from 'bun:test';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { get, list } from './listing.ts';

const marked = (mark: string): string => `mark\n${mark}\n`;

test('the file that was there keeps the address, while the server runs and across restarts', async () => {
  await using service = await startService({
    files: { 'b/x.csv': marked('first'), 'page.md': '# old' },
  });
  const at = (rel: string): string => join(service.docroot, rel);
  await service.accounts.grant('reader', '*', 'read');
  const reader = await service.as('reader');
  const markOf = async (name: string) => (await list(reader, name)).rows[0]?.['mark'];
  const pageText = async () => (await get(reader, '/page')).text;
  const stays = async (newcomer: string): Promise<void> => {
    await eventually(async () => expect(await markOf(newcomer)).toBe('later'));
    expect(await markOf('b/x')).toBe('first');
    expect(await markOf('b/x.csv')).toBe('first');
  };
  expect(await markOf('b/x')).toBe('first');

  // Byte order would put each of them first.
  writeFileSync(at('b/x.CSV'), marked('later'));
  writeFileSync(at('page.html'), '<p>new</p>');
  await stays('b/x.CSV');
  await eventually(async () => expect((await get(reader, '/page.html')).text).toContain('new'));
  expect(await pageText()).toContain('old');

  // Written down half a second after the last change.
  await Bun.sleep(1_000);
  await service.restart();
  await stays('b/x.CSV');
  expect((await service.command(['check', service.docroot])).stdout).toContain(
    "b/x.CSV shares the name 'b/x' with b/x.csv",
  );
  expect(await pageText()).toContain('old');

  // What came while no server ran is a newcomer too, a folder that is moved in as well.
  await service.kill();
  mkdirSync(at('staged'));
  writeFileSync(at('b/x.Csv'), marked('later'));
  renameSync(at('staged'), at('a'));
  await service.start();
  await stays('b/x.Csv');

  // Whoever is left takes over, in the order in which they came, until the file is back.
  rmSync(at('b/x.csv'));
  await eventually(async () => expect(await markOf('b/x')).toBe('later'));
  await Bun.sleep(1_000);
  await service.restart();
  writeFileSync(at('b/x.csv'), marked('again'));
  await eventually(async () => expect(await markOf('b/x')).toBe('again'));
}, 60_000);

test('without a memory, and of files that came together, byte order decides', async () => {
  await using service = await startService({
    files: { 'x.csv': marked('second'), 'x.CSV': marked('first') },
  });
  await service.accounts.grant('reader', '*', 'read');
  const reader = await service.as('reader');
  expect((await list(reader, 'x')).rows[0]?.['mark']).toBe('first');
  await service.kill();
  writeFileSync(join(service.docroot, '.svc', 'names.memory'), '{"damaged');
  await service.start();
  expect((await list(reader, 'x')).rows[0]?.['mark']).toBe('first');
}, 60_000);
