import { expect, test } from 'bun:test';
import { configFrom, defaultConfig, valueAt } from '../../src/config/settings.ts';
import type { Config, SettingKey } from '../../src/config/settings.ts';
import { resolveReload } from '../../src/config/load.ts';

const running = defaultConfig('/data', '/data/.svc');

function changed(changes: Partial<Record<SettingKey, unknown>>): Config {
  return configFrom((key) => (key in changes ? changes[key] : valueAt(running, key)));
}

test('nothing changed, nothing to do', () => {
  expect(resolveReload(running, changed({ plugin_registry: {} }))).toEqual({
    config: running,
    applied: [],
    restart: [],
  });
});

test('live settings are taken over, the others keep their running value and are named (DS-199)', () => {
  const fresh = changed({
    port: 9000,
    readonly: true,
    'logging.level': 'debug',
    'upload.allowed_extensions': ['.csv'],
    'oidc.scopes': 'openid',
  });
  const { config, applied, restart } = resolveReload(running, fresh);
  expect(applied).toEqual(['readonly', 'logging.level', 'upload.allowed_extensions']);
  expect(restart).toEqual(['port', 'oidc.scopes']);
  expect([config.port, config.readonly, config.upload.allowed_extensions]).toEqual([
    8000,
    true,
    ['.csv'],
  ]);
});

test('other TLS files are taken over, but turning TLS on or off waits for a restart', () => {
  const on = changed({ tls_cert: '/a', tls_key: '/b' });
  expect(resolveReload(running, on)).toMatchObject({
    applied: [],
    restart: ['tls_cert', 'tls_key'],
  });
  const renewed = changed({ tls_cert: '/c', tls_key: '/b' });
  const reloaded = resolveReload(on, renewed);
  expect([reloaded.applied, reloaded.config.tls_cert]).toEqual([['tls_cert'], '/c']);
});
