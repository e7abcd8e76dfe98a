/**
 * The handlers of examples/docroot do what its README says, on the data beside them.
 */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { hasPythonHandlers } from './handler-files.ts';

const EXAMPLES = resolve(import.meta.dir, '../../examples/docroot');
const FILES = [
  'climate/monthly.ts',
  'climate/seattle-weather.csv',
  'transport/nearest.py',
  'transport/airports.csv',
];

test('the example handlers read the example datasets', async () => {
  const files = Object.fromEntries(FILES.map((rel) => [rel, readFileSync(`${EXAMPLES}/${rel}`)]));
  await using svc = await startService({ files });
  await svc.accounts.grant('reader', '*', 'read');
  const reader = await svc.as('reader');
  const months = await eventually(async () => {
    const response = await reader.fetch('/api/climate/monthly/?year=2013');
    expect(response.status).toBe(200);
    return (await response.json()) as object[];
  }, 20_000);
  expect(months).toHaveLength(12);
  expect(months[0]).toEqual({ month: '2013-01', days: 31, rain_mm: 105.7, warmest_c: 11.7 });
  expect((await reader.fetch('/api/climate/monthly?year=1900')).status).toBe(404);
  expect((await reader.fetch('/api/climate/monthly?year=x')).status).toBe(422);
  expect(await (await reader.fetch('/api/climate/monthly/me')).text()).toBe('You are reader\n');
  if (!hasPythonHandlers()) return;
  const nearest = await eventually(async () => {
    const path = '/api/transport/nearest/?latitude=47.45&longitude=-122.31&limit=2';
    const response = await reader.fetch(path);
    expect(response.status).toBe(200);
    return (await response.json()) as { iata: string }[];
  }, 20_000);
  expect(nearest.map(({ iata }) => iata)).toContain('SEA');
  expect((await reader.fetch('/api/transport/nearest/?latitude=99')).status).toBe(422);
});
