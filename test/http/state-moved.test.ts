/**
 * A state folder that goes away under a running server (DS-187): what the server writes from then on no other process would
 * find, and what `svc admin` writes into a new one the server would not.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { renameSync, rmSync } from 'node:fs';
import { type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

let service: Service;
let aside = '';
beforeAll(async () => {
  service = await startService({ files: { 'a.csv': 'n\n1\n' } });
  aside = `${service.stateDir}-aside`;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(aside, { recursive: true, force: true });
});

async function health(): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${service.url}/health`);
  return [answer.status, ((await answer.json()) as { status: unknown }).status];
}
const becomes = (...expected: readonly [number, string]) =>
  eventually(async () => expect(await health()).toEqual(expected));
const told = (text: string) =>
  service
    .stderr()
    .split('\n')
    .filter((line) => line.includes(text)).length;
const GONE = 'is gone while the server has it open';

test('a state folder that is moved away degrades the health, and is well again when it is back', async () => {
  await becomes(200, 'ok');
  renameSync(service.stateDir, aside);
  await becomes(503, 'degraded');
  await becomes(503, 'degraded');
  await eventually(() => expect(told(GONE)).toBe(1));
  renameSync(aside, service.stateDir);
  await becomes(200, 'ok');
});

test('one that a command made in its place needs a restart, and is well after it', async () => {
  renameSync(service.stateDir, aside);
  const made = await service.command(['admin', 'list-users', service.docroot]);
  expect(made.exitCode).toBe(0);
  await becomes(503, 'degraded');
  const another = 'is another file than the one the server has open: restart the server';
  await eventually(() => expect(told(another)).toBe(1));
  await service.restart();
  await becomes(200, 'ok');
});

test('the log tells it also where nobody asks for the health', async () => {
  rmSync(aside, { recursive: true, force: true });
  const before = told(GONE);
  renameSync(service.stateDir, aside);
  await eventually(() => expect(told(GONE)).toBe(before + 1), 30_000);
  renameSync(aside, service.stateDir);
});
