/**
 * `svc licenses`, and what the build refuses to put into the executable.
 */
import { describe, expect, test } from 'bun:test';
import manifest from '../../../package.json' with { type: 'json' };
import { isAllowed } from '../../../build/third-party/licences.ts';
import { packageOf } from '../../../build/third-party/third-party.ts';
import { run } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Listed {
  readonly name: string;
  readonly version: string | null;
  readonly license: string | null;
  readonly part_of: string | null;
  readonly text?: string;
}

describe.skipIf(!process.env['TEST_BINARY'])('svc licenses', () => {
  test('lists every dependency and Bun with version and licence', async () => {
    const { code, out, err } = await run(['licenses']);
    expect([code, err]).toEqual([0, '']);
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(out).toMatch(new RegExp(`^${name} +${version.replaceAll('.', '\\.')} +\\S`, 'm'));
    }
    expect(out).toMatch(new RegExp(`^bun +${Bun.version.replaceAll('.', '\\.')} +MIT$`, 'm'));
    expect(out).toMatch(/^JavaScriptCore .* LGPL-2\.0-or-later +bun$/m);
    expect(out).not.toContain('typescript');
  });

  test('prints the licence of a package and of a part of the runtime in full', async () => {
    const { code, out } = await run(['licenses', 'elysia']);
    expect(code).toBe(0);
    expect(out).toStartWith(`elysia ${manifest.dependencies.elysia}: MIT\n`);
    expect(out).toContain('Permission is hereby granted');
    const sqlite = await run(['licenses', 'sqlite']);
    expect(sqlite.out).toContain('author disclaims copyright');
  });

  test('prints JSON, in which nothing but a part lacks a version or a licence', async () => {
    const { out } = await run(['licenses', '--json']);
    const all = JSON.parse(out) as Listed[];
    const incomplete = all.filter(({ version, license }) => version === null || license === null);
    expect(incomplete.filter(({ part_of }) => part_of === null)).toEqual([]);
    const texts: string[] = [];
    for (const name of ['bun', 'marked']) {
      const [one] = JSON.parse((await run(['licenses', name, '--json'])).out) as Listed[];
      texts.push(one!.text!);
    }
    expect(texts[0]).toContain('LGPL');
    expect(texts[1]!.length).toBeGreaterThan(500);
  });

  test('a name that is not there is a failure with the nearest one', async () => {
    const { code, out, err } = await run(['licenses', 'elysa']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe("elysa: no package in svc; did you mean 'elysia'?\n");
  });
});

describe('what the build refuses', () => {
  /** How collecting a package of these files ends: its licence, or why it is refused. */
  function collected(files: Record<string, string>): string {
    using folder = temporaryFolder(
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [`node_modules/thing/${name}`, text]),
      ),
    );
    try {
      const bundled = { folder: 'node_modules/thing', files: ['index.js'] };
      return packageOf(bundled, new Map(), folder.path).text;
    } catch (error) {
      return String(error);
    }
  }

  const described = (license: unknown): string =>
    JSON.stringify({ name: 'thing', version: '1.0.0', license });

  test('a package without a licence text', () => {
    expect(collected({ 'package.json': described('MIT') })).toContain('no file with its licence');
    expect(collected({ 'package.json': described('MIT'), LICENSE: '\n' })).toContain('no file');
    expect(collected({ 'package.json': described('MIT'), 'LICENSE.md': 'Do.' })).toBe('Do.');
  });

  test('a licence that is not on the list, or is not named', () => {
    for (const license of ['AGPL-3.0-only', 'SEE LICENSE IN LICENSE', '', undefined]) {
      const outcome = collected({ 'package.json': described(license), LICENSE: 'Do.' });
      expect(outcome).toContain('which is not allowed');
    }
  });

  test('notices that a bundler left beside a file belong to the text', () => {
    const files = { 'package.json': described('MIT'), LICENSE: 'A', 'index.js.LICENSE.txt': 'B' };
    expect(collected(files)).toBe('A\n\nB');
  });

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-or-later)', true],
    ['MIT AND GPL-3.0-or-later', false],
    ['(MIT AND (ISC OR MPL-2.0))', true],
    ['Apache-2.0 WITH LLVM-exception', false],
  ])('an expression is met by one alternative and by all parts: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });
});
