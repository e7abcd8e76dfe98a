import { expect, test } from 'bun:test';
import {
  defaultConfig,
  settingAt,
  settingKeys,
  valueAt,
  variableOf,
} from '../../src/config/settings.ts';
import type { Config } from '../../src/config/settings.ts';
import { formatBytes } from '../../src/config/setting.ts';

test('every default is a value its own setting accepts', () => {
  for (const key of settingKeys) {
    const setting = settingAt(key);
    if (setting.defaultText !== undefined) continue;
    const { default: value } = setting;
    const isMap = setting.type === 'map';
    const raw = isMap ? new Map(Object.entries(value as object)) : value;
    expect([key, setting.parseRaw(raw as never)]).toEqual([key, { ok: true, value }]);
  }
});

test('no two settings share a variable', () => {
  const variables = settingKeys.map(variableOf);
  expect(new Set(variables).size).toBe(variables.length);
  expect(variables).toContain('SVC_UPLOAD_MAX_SIZE_BYTES');
});

test('no setting is also a section', () => {
  for (const key of settingKeys) {
    expect(settingKeys.filter((other) => other.startsWith(`${key}.`))).toEqual([]);
  }
});

test('a key that stands in for another comes after it', () => {
  for (const [index, key] of settingKeys.entries()) {
    const { sameAs } = settingAt(key);
    if (sameAs !== undefined) expect(settingKeys.slice(0, index) as string[]).toContain(sameAs);
  }
});

test('every summary is one sentence', () => {
  for (const key of settingKeys) expect(settingAt(key).summary).toMatch(/^[A-Z`].*[^.]\.$/);
});

test('the settings that a reload applies are those of DS-199', () => {
  const live = settingKeys.filter((key) => settingAt(key).live === true);
  const sections = [
    'logging.',
    'upload.',
    'files.',
    'webdav.',
    'limits.',
    'locks.',
    'history.',
    'sharing.',
  ];
  sections.push('deliveries.', 'findings.', 'alerts.', 'second_factor.');
  // EV-107.
  sections.push('events.throttle.', 'events.limits.', 'events.retention.', 'events.extractors');
  sections.push('events.search.', 'events.seal_after_minutes');
  expect(live).toEqual(
    settingKeys.filter(
      (key) =>
        sections.some((section) => key.startsWith(section)) ||
        ['readonly', 'tls_cert', 'tls_key'].includes(key),
    ),
  );
});

test('the defaults are those of DS-196', () => {
  const config: Config = defaultConfig('/data', '/data/.svc');
  // The types follow from the table: these would not compile if they did not.
  const level: 'debug' | 'info' | 'warning' | 'error' = config.logging.level;
  const certificate: string | null = config.tls_cert;
  const kinds: Readonly<Record<string, string>> = config.plugin_registry;
  expect([level, certificate, kinds]).toEqual(['info', null, {}]);
  expect(config.docroot).toBe('/data');
  expect(config.port).toBe(8000);
  expect(config.upload.max_size_bytes).toBe(10_485_760);
  expect(config.limits.max_body_bytes).toBe(33_554_432);
  expect(config.limits.max_workbook_bytes).toBe(1_073_741_824);
  expect(formatBytes(config.limits.mcp_result_bytes)).toBe('4MiB');
  expect(config.oidc.superuser_roles).toEqual(['svc-admin']);
  expect(valueAt(config, 'locks.ttl_seconds')).toBe(300);
});
