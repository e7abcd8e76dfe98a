/**
 * The unit as systemd itself reads it: without a complaint, and as closed as the guide says. Skipped where systemd's
 * tools are not installed.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../build/step.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The version the guide's score is of; others count a little differently. */
const SCORED_BY = 252;

const analyze = Bun.which('systemd-analyze');

function run(...args: string[]): { code: number; text: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([analyze!, '--no-pager', ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return { code: exitCode, text: stdout.toString() + stderr.toString() };
}

/** The unit with an executable that exists here. */
function unitIn(folder: string): string {
  const path = join(folder, 'svc.service');
  const unit = readFileSync(join(root, 'systemd', 'svc.service'), 'utf8');
  writeFileSync(path, unit.replace('/usr/local/bin/svc', process.execPath));
  return path;
}

describe.skipIf(analyze === null)('systemd/svc.service', () => {
  test('is accepted by systemd-analyze verify without a word', () => {
    using folder = temporaryFolder();
    expect(run('verify', unitIn(folder.path))).toEqual({ code: 0, text: '' });
  });

  test('is as closed as the guide says', () => {
    using folder = temporaryFolder();
    const { text } = run('security', '--offline=true', unitIn(folder.path));
    const score = /Overall exposure level for svc\.service: (\d+\.\d+)/.exec(text)?.[1];
    const chapter = readFileSync(join(root, 'docs/install.md'), 'utf8');
    const stated = /an exposure of\s+(\d+\.\d+)/.exec(chapter)?.[1];
    const version = Number(/^systemd (\d+)/.exec(run('--version').text)?.[1]);
    expect(stated).toBeDefined();
    if (version === SCORED_BY) expect(score).toBe(stated);
    else expect(Number(score)).toBeLessThan(3);
  });
});
