/**
 * The protocol's own conformance suite against the executable, in both eras (DS-175). The scenarios that are left out call tools, prompts
 * and subscriptions that only its reference server has.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sharedService } from '../http/shared-service.ts';

const SUITE = resolve(
  import.meta.dir,
  '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'server-sse-polling',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'resources-list',
    'prompts-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'sep-2164-resource-not-found',
    'caching',
    'http-header-validation',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

/** Each needs a diagnostic tool of the reference server. */
const NOT_TESTABLE = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
];

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const shared = sharedService({ files: { 'a.csv': 'n\n1\n', 'notes.md': '# Notes\n' } });
const home = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const results = new Map<string, Map<string, readonly Check[]>>();
beforeAll(async () => {
  const versions = Object.keys(SCENARIOS);
  const found = await Promise.all(versions.map((version) => checksOf(version)));
  for (const [index, version] of versions.entries()) results.set(version, found[index]!);
}, 60_000);

test.each(
  Object.entries(SCENARIOS).flatMap(([version, names]) =>
    names.map((name) => [version, name] as const),
  ),
)('%s: %s', (version, name) => {
  const checks = results.get(version)?.get(name);
  expect(checks).toBeDefined();
  const failed = checks!.filter(({ status }) => status === 'FAILURE');
  const wrong = failed.filter(
    ({ id, errorMessage }) =>
      !NOT_TESTABLE.includes(id) || errorMessage?.startsWith('Not testable') !== true,
  );
  expect(wrong).toEqual([]);
});

/** The checks by scenario. */
async function checksOf(version: string): Promise<Map<string, readonly Check[]>> {
  const folder = join(home, version);
  const child = Bun.spawn(
    [
      ...[process.execPath, SUITE, 'server', '--url', `${shared.service.url}/mcp`],
      ...['--suite', 'all', '--spec-version', version, '--output-dir', folder],
    ],
    {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, BUN_BE_BUN: '1' },
      cwd: home,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    },
  );
  // Its exit code counts the scenarios of the reference server too.
  await child.exited;
  const scenarios = new Map<string, readonly Check[]>();
  for (const entry of readdirSync(folder)) {
    const name = /^server-(.+)-\d{4}-\d\d-\d\dT.*$/.exec(entry)?.[1];
    if (name === undefined) continue;
    const text = readFileSync(join(folder, entry, 'checks.json'), 'utf8');
    scenarios.set(name, JSON.parse(text) as Check[]);
  }
  return scenarios;
}
