/**
 * Settings of events that are wrong: refused before anything starts, with their place (EV-47, DS-196).
 */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/program.ts';

test.each([
  ["regex: '(?<a>x)(?=y)'", 'has a bad pattern'],
  ["regex: '(?<a>x)\\1'", 'has a bad pattern'],
  ["regex: 'no group'", 'the pattern has no named group'],
  ["grok: '%{NOPE:a}'", "there is no grok pattern 'NOPE'"],
  ["regex: '(?<at>.*)'\n      time: {field: at, format: '%Q'}", "'%Q' is no time format"],
])('an extractor with %s is refused with its line', async (extractor, problem) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'));
  const file = join(folder, 'svc.yaml');
  writeFileSync(file, `events:\n  extractors:\n    - sourcetype: app\n      ${extractor}\n`);
  const { code, err } = await run(['serve', folder, '--config', file]);
  rmSync(folder, { recursive: true });
  expect(code).toBe(2);
  expect(err).toMatch(/svc\.yaml:3: events\.extractors/);
  expect(err).toContain(problem);
});
