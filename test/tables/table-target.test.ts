import { expect, setSystemTime, test } from 'bun:test';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { companionFingerprint } from '../../src/tables/copy/table-target.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('companions come and go beside a folder that was quiet for long, a link without its target among them', () => {
  using folder = temporaryFolder();
  const at = (name: string) => join(folder.path, '.svc', name);
  const target = { companions: { schema: [at('a.schema'), at('b.schema')], options: [at('a.o')] } };
  const known: string[] = [];
  const look = (): string => {
    let found = '';
    // Later, the folder counts as quiet.
    for (let time = 0; time < 4; time++) {
      found = companionFingerprint(target);
      expect(companionFingerprint({ companions: { ...target.companions } })).toBe(found);
      setSystemTime(Date.now() + 10_000);
    }
    return found;
  };
  const steps: readonly [() => void, number][] = [
    [() => {}, 0],
    [() => mkdirSync(at('')), 0],
    [() => writeFileSync(at('a.schema'), 'one'), 1],
    [() => writeFileSync(at('b.schema'), 'one'), 2],
    [() => rmSync(at('b.schema')), 1],
    [() => rmSync(at('a.schema')), 0],
    [() => symlinkSync(join(folder.path, 'elsewhere'), at('a.o')), 0],
    [() => writeFileSync(join(folder.path, 'elsewhere'), 'two'), 1],
    [() => rmSync(at(''), { recursive: true }), 0],
    [() => mkdirSync(at('')), 0],
    [() => writeFileSync(at('a.o'), 'three'), 1],
  ];
  try {
    for (const [step, count] of steps) {
      step();
      const found = look();
      expect(found.split('|').filter((part) => part !== '-').length).toBe(count);
      known.push(found);
    }
  } finally {
    setSystemTime();
  }
  expect(new Set(known).size).toBe(5);
});

test('a companion whose name would be too long for a file is not there, however quiet the folder', () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, '.svc'));
  const schema = [join(folder.path, '.svc', `${'x'.repeat(250)}.schema.json`)];
  try {
    for (let time = 0; time < 3; time++) {
      expect(companionFingerprint({ companions: { schema, options: [] } })).toBe('-');
      setSystemTime(Date.now() + 10_000);
    }
  } finally {
    setSystemTime();
  }
});
