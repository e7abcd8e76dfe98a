/**
 * Bodies made to take the server away from everybody else: numbers of millions of digits, millions of empty objects, many large
 * bodies at once (DS-1, DS-10, DS-18). Whoever sends them, the server stays within its memory and others are answered.
 */
import { expect, test } from 'bun:test';
import type { Attack } from './body-attack.ts';
import { attackWith } from './body-attack.ts';
import { bystanderOf } from './bystander.ts';
import { residentWithChildren } from './process-memory.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

/** 256 MiB, and what the runtime has not given back of an attack before; it took gigabytes. */
const MOST_GROWTH = 320 * 1024 * 1024;
/** A digit too many held the loop for seconds on a machine of its own. */
const MOST_MS = 400;

const shared = sharedService({ files: { 'small.csv': 'a,b\n1,2\n', 'rows.csv': 'a,b\n1,2\n' } });

const DIGITS = { start: '[', piece: '1', end: ']' };
const EMPTIES = { start: '[', piece: '{},', end: '{}]' };
const ROWS = { start: '{"action":"create","data":[', piece: '{},', end: '{}]}' };
const MCP = { method: 'POST', path: '/mcp' };

type Case = Omit<Attack, 'url' | 'headers'> & { path: string; who: string; answers: number[] };

const cases: Case[] = [
  { ...MCP, who: '', times: 4, ...DIGITS, bytes: 4_000_000, answers: [413] },
  { ...MCP, who: '', times: 64, ...DIGITS, bytes: 60_000, answers: [400] },
  { ...MCP, who: '', times: 64, ...EMPTIES, bytes: 60_000, answers: [400] },
  { ...MCP, who: '', times: 40, ...EMPTIES, bytes: 4_000_000, answers: [413] },
  { ...MCP, who: 'nobody', times: 64, ...DIGITS, bytes: 4_000_000, answers: [400, 429] },
  { ...MCP, who: 'nobody', times: 64, ...EMPTIES, bytes: 290_000, answers: [400, 429] },
  { ...MCP, who: 'nobody', times: 64, ...EMPTIES, bytes: 4_000_000, answers: [400, 429] },
  {
    method: 'POST',
    path: '/auth/login',
    who: '',
    times: 8,
    ...DIGITS,
    bytes: 1_000_000,
    answers: [413],
  },
  {
    method: 'PUT',
    path: '/auth/password',
    who: 'nobody',
    times: 1,
    ...DIGITS,
    bytes: 31_000_000,
    answers: [413],
  },
  {
    method: 'PUT',
    path: '/auth/password',
    who: 'nobody',
    times: 64,
    ...DIGITS,
    bytes: 1_000_000,
    answers: [422, 429],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: '',
    times: 64,
    ...ROWS,
    bytes: 31_000_000,
    answers: [401],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: 'nobody',
    times: 8,
    ...ROWS,
    bytes: 31_000_000,
    answers: [403],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: 'root',
    times: 1,
    ...ROWS,
    bytes: 31_000_000,
    answers: [422],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: 'root',
    times: 4,
    ...ROWS,
    bytes: 1_000_000,
    answers: [422, 429],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: 'root',
    times: 1,
    ...ROWS,
    bytes: 140_000,
    answers: [200],
  },
  {
    method: 'POST',
    path: '/api/rows',
    who: 'root',
    times: 32,
    ...ROWS,
    bytes: 31_000_000,
    answers: [422, 429],
  },
];

test('bodies made to hurt take neither the memory nor the time of others', async () => {
  const { service } = shared;
  const bystander = await service.as('root');
  const keys = new Map<string, string>();
  for (const who of ['root', 'nobody']) keys.set(who, await service.accounts.apiKey(who));
  const small = '/api/small?limit=5';
  await (await bystander.fetch('/api/rows')).text();
  const before = residentWithChildren(service.pid);
  for (const { who, path, answers, ...attack } of cases) {
    const key = keys.get(who);
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(key !== undefined && { 'X-API-Key': key }),
    };
    const url = service.url + path;
    const seen = await bystanderOf(service, bystander, small, before, () =>
      attackWith({ url, headers, ...attack }),
    );
    const statuses = Object.keys(seen.result).map(Number);
    const what = { path, who, times: attack.times, bytes: attack.bytes };
    expect({ ...what, unexpected: statuses.filter((status) => !answers.includes(status)) }).toEqual(
      {
        ...what,
        unexpected: [],
      },
    );
    expect({ ...what, grownTooMuch: Math.max(0, seen.growth - MOST_GROWTH) }).toEqual({
      ...what,
      grownTooMuch: 0,
    });
    const most = onSharedCores(MOST_MS);
    expect({ ...what, tooSlow: seen.p99 > most ? seen.p99 : 0 }).toEqual({ ...what, tooSlow: 0 });
  }
});
