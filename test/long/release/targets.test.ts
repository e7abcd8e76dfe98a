/**
 * What a release says of its executables and its version.
 */
import { describe, expect, test } from 'bun:test';
import { debianVersion } from '../../../build/release/identity.ts';
import { executableKind, executableName, targets } from '../../../build/release/targets.ts';
import { tryToRun } from '../../../build/release/trial.ts';
import { run } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const binary = process.env['TEST_BINARY'] ?? '';

describe('executables', () => {
  test('have names that say version and system, each once', () => {
    const names = targets.map((target) => executableName(target, '1.2.3'));
    expect(names).toContain('svc-1.2.3-linux-arm64-musl');
    expect(names).toContain('svc-1.2.3-windows-x64.exe');
    expect(new Set(names).size).toBe(targets.length);
  });

  test.skipIf(binary === '' || process.platform !== 'linux')(
    'are known by their first bytes and tried',
    async () => {
      const kind = executableKind(binary);
      expect(targets.map((target) => target.kind)).toContain(kind);
      const version = (await run(['--version'])).out.trim();
      expect(tryToRun(binary, version)).toBe('runs here');
      expect(() => tryToRun(binary, 'svc 0.0.0')).toThrow('says it is svc');
    },
  );

  test('of other systems are known too, and anything else is not', () => {
    const mach = Buffer.alloc(64);
    mach.writeUInt32LE(0xfeedfacf);
    mach.writeUInt32LE(0x0100000c, 4);
    const pe = Buffer.alloc(256);
    pe.write('MZ');
    pe.writeUInt32LE(0x80, 0x3c);
    pe.write('PE\0\0', 0x80);
    pe.writeUInt16LE(0x8664, 0x84);
    using folder = temporaryFolder();
    expect(executableKind(folder.write('mach', mach))).toBe('Mach-O arm64');
    expect(executableKind(folder.write('pe', pe))).toBe('PE x86-64');
    expect(executableKind(folder.write('script', '#!/bin/sh\n'))).toBe('unknown');
    expect(executableKind(folder.write('cut', pe.subarray(0, 16)))).toBe('unknown');
    expect(tryToRun(folder.at('pe'), 'svc 1.2.3')).toBe('not run: another system');
  });
});

describe('the version of the Debian package', () => {
  const commit = { version: '1.2.3', commit: 'c0ffee'.padEnd(40, '0'), isTagged: false };
  const at = (time: string): string => debianVersion({ ...commit, committed: new Date(time) });

  test('is that of the tag, and before it one below by the time of the commit', () => {
    expect(at('2026-01-02T03:04:05+01:00')).toBe('1.2.3~20260102020405.c0ffee000000');
    expect(debianVersion({ ...commit, committed: new Date(), isTagged: true })).toBe('1.2.3');
  });

  test.skipIf(Bun.which('dpkg') === null)('rises as Debian compares', () => {
    const rising = ['1.2.2', at('2026-01-02T03:04:05Z'), at('2026-01-02T03:04:06Z'), '1.2.3'];
    for (const [index, version] of rising.slice(1).entries()) {
      const compared = Bun.spawnSync(['dpkg', '--compare-versions', rising[index]!, 'lt', version]);
      expect([rising[index], version, compared.exitCode]).toEqual([rising[index], version, 0]);
    }
  });
});
