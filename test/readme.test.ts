import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import {
  configurationTable,
  documents,
  errorTable,
  exampleConfig,
  withSection,
  withTables,
} from '../build/readme.ts';
import { root } from '../build/step.ts';
import { errorCatalogue } from '../src/base/errors.ts';
import { parseConfig } from '../src/config/config-file.ts';
import { settingAt, settingKeys } from '../src/config/settings.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');

describe('documentation that follows from the source', () => {
  test.each(documents())(
    'the tables of %s are current; `bun build/readme.ts` makes them so',
    (name) => {
      const text = read(name);
      expect(withTables(text)).toBe(text);
    },
  );

  test.each(['config', 'limits', 'errors', 'spl'])(
    'the table of %s stands in one place',
    (name) => {
      const marker = `<!-- ${name}:begin -->`;
      expect(documents().filter((file) => read(file).includes(marker))).toHaveLength(1);
    },
  );

  test('the configuration table names every setting, the error table every code', () => {
    const rows = configurationTable().trimEnd().split('\n');
    expect(rows).toHaveLength(settingKeys.length + 2);
    for (const code of Object.keys(errorCatalogue))
      expect(errorTable()).toContain(`| \`${code}\` |`);
  });

  test('every package is named with its reason', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const named = [...read('README.md').matchAll(/`([@\w./*-]+)`/g)].map(([, name]) => name!);
    const isNamed = (name: string): boolean =>
      named.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
    const packages = Object.keys({ ...dependencies, ...devDependencies });
    expect(packages.filter((name) => !isNamed(name))).toEqual([]);
  });

  test('a table is only ever put between its markers', () => {
    const text = 'a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n';
    const once = withSection(text, 'x', 'new\n');
    expect(once).toBe('a\n<!-- x:begin -->\n\nnew\n\n<!-- x:end -->\nb\n');
    expect(withSection(once, 'x', 'new\n')).toBe(once);
    expect(() => withSection(text, 'y', '')).toThrow('no markers');
  });
});

describe('systemd/svc.yaml', () => {
  const text = read('systemd/svc.yaml');

  test('is current; `bun build/readme.ts` makes it so', () => {
    expect(text).toBe(exampleConfig());
  });

  test('is a valid configuration as it stands', () => {
    expect(parseConfig(text, 'svc.yaml').findings).toEqual([]);
  });

  test('with every setting uncommented it is still valid and changes nothing but the folders', () => {
    const { values, findings } = parseConfig(text.replace(/^( *)#(?=\w+:)/gm, '$1'), 'svc.yaml');
    expect(findings).toEqual([]);
    for (const key of settingKeys) {
      const setting = settingAt(key);
      if (setting.environmentOnly !== undefined) continue;
      expect(values.has(key)).toBe(true);
      if (key === 'docroot' || key === 'state_dir') continue;
      expect([key, values.get(key)?.value]).toEqual([key, setting.default]);
    }
  });

  test('no line is wider than 120 characters', () => {
    expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
    expect(parseDocument(text).errors).toEqual([]);
  });
});

describe('systemd/svc.service', () => {
  const unit = read('systemd/svc.service');
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  test('starts the server with the example configuration and reloads it with SIGHUP', () => {
    expect(valueOf('Type')).toBe('notify');
    expect(Number(valueOf('WatchdogSec'))).toBeGreaterThanOrEqual(30);
    expect(valueOf('ExecStart')).toBe('/usr/local/bin/svc serve --config /etc/svc/config.yaml');
    expect(valueOf('ExecReload')).toContain('-HUP $MAINPID');
  });

  test('lets running requests finish before the rest is ended (DS-21)', () => {
    expect(Number(valueOf('TimeoutStopSec'))).toBeGreaterThan(10);
    expect(valueOf('KillMode')).toBe('mixed');
  });
});
