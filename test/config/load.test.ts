import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../src/base/errors.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ConfigInput, LoadedConfig } from '../../src/config/load.ts';

let dir = '';

beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'svc-config-')));
  await mkdir(join(dir, 'data', '.svc'), { recursive: true });
  await mkdir(join(dir, 'other'));
  await mkdir(join(dir, 'empty'));
});

afterAll(() => rm(dir, { recursive: true }));

function load(input: Partial<ConfigInput>): Promise<LoadedConfig> {
  return loadConfig({ env: {}, cwd: dir, systemFile: join(dir, 'none.yaml'), ...input });
}

async function findings(input: Partial<ConfigInput>): Promise<string[]> {
  try {
    await load(input);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('usage');
    return (error as AppError).message.split('\n');
  }
}

/** Loads a file with this text, named by --config. */
async function withFile<T>(text: string | Uint8Array, use: (input: Partial<ConfigInput>) => T) {
  await writeFile(join(dir, 'svc.yaml'), text);
  return use({ configFlag: 'svc.yaml', docrootArgument: 'data' });
}

describe('without any configuration', () => {
  test('the working directory is served with the defaults, and nothing is written', async () => {
    const loaded = await load({ cwd: join(dir, 'empty') });
    expect(loaded.config.docroot).toBe(join(dir, 'empty'));
    expect(loaded.config.state_dir).toBe(join(dir, 'empty', '.svc'));
    expect(loaded.file).toBeNull();
    expect(loaded.warnings).toEqual([]);
    expect(new Set(Object.values(loaded.sources))).toEqual(new Set(['default']));
    expect(await readdir(join(dir, 'empty'))).toEqual([]);
  });
});

describe('which file is read (DS-194)', () => {
  const files = { flag: 'a.yaml', variable: 'b.yaml', folder: 'data/.svc/config.yaml' };

  beforeAll(async () => {
    await writeFile(join(dir, files.flag), 'port: 1');
    await writeFile(join(dir, files.variable), 'port: 2');
    await writeFile(join(dir, files.folder), 'port: 3');
    await writeFile(join(dir, 'system.yaml'), 'port: 4');
  });
  afterAll(() => rm(join(dir, files.folder)));

  const systemFile = () => join(dir, 'system.yaml');
  const env = { SVC_CONFIG: files.variable };

  test('the one named by --config comes first', async () => {
    const loaded = await load({ configFlag: files.flag, env, docrootArgument: 'data' });
    expect(loaded.config.port).toBe(1);
    expect(loaded.sources.port).toBe('a.yaml:1');
    expect(loaded.file).toBe(join(dir, files.flag));
  });

  test('then the one named by SVC_CONFIG', async () => {
    expect((await load({ env, docrootArgument: 'data' })).config.port).toBe(2);
  });

  test('then the one in the document root', async () => {
    const loaded = await load({ docrootArgument: 'data', systemFile: systemFile() });
    expect(loaded.config.port).toBe(3);
    expect((await load({ env: { SVC_DOCROOT: 'data' } })).config.port).toBe(3);
    expect((await load({ cwd: join(dir, 'data') })).config.port).toBe(3);
  });

  test('then the one of the system', async () => {
    const loaded = await load({ docrootArgument: 'other', systemFile: systemFile() });
    expect(loaded.config.port).toBe(4);
    expect(loaded.candidates).toEqual([join(dir, 'other/.svc/config.yaml'), systemFile()]);
  });

  test('an explicitly named file must exist', async () => {
    expect(await findings({ configFlag: 'gone.yaml' })).toEqual([
      '--config: gone.yaml does not exist',
    ]);
    expect(await findings({ env: { SVC_CONFIG: 'gone.yaml' } })).toEqual([
      'SVC_CONFIG: gone.yaml does not exist',
    ]);
  });

  test('a folder, too much text and bytes that are no text are refused', async () => {
    expect(await findings({ configFlag: 'data' })).toEqual([
      '--config: data is a folder, not a file',
    ]);
    const big = `# ${'x'.repeat(2 ** 20)}`;
    expect(await withFile(big, findings)).toEqual(['--config: svc.yaml is larger than 1 MiB']);
    expect(await withFile(new Uint8Array([0xff, 0xfe]), findings)).toEqual([
      '--config: svc.yaml is not UTF-8 text',
    ]);
  });
});

describe('which value wins (DS-194)', () => {
  const env = { SVC_PORT: '3001', SVC_HOST: '::1' };
  const flags = { host: 'localhost' };

  test('defaults < file < environment < flags, each with its source', async () => {
    const text = '# comment\nport: 3000\nhost: 0.0.0.0\nlogging:\n  level: debug\n';
    const { config, sources } = await withFile(text, (input) => load({ ...input, env, flags }));
    expect([config.logging.level, config.port, config.host]).toEqual(['debug', 3001, 'localhost']);
    expect(sources['logging.level']).toBe('svc.yaml:5');
    expect(sources.port).toBe('env SVC_PORT');
    expect(sources.host).toBe('flag --host');
    expect(sources.docroot).toBe('argument');
    expect(sources.readonly).toBe('default');
  });

  test('a switch given as a flag is on', async () => {
    const { config, sources } = await load({ flags: { readonly: true } });
    expect([config.readonly, sources.readonly]).toEqual([true, 'flag --readonly']);
  });

  test('a wrong value is reported even where a better one wins', async () => {
    expect(await withFile('host: a b', (input) => findings({ ...input, flags }))).toHaveLength(1);
  });
});

describe('the document root (DS-194)', () => {
  test('an argument wins over the variable, the variable over the file', async () => {
    const env = { SVC_DOCROOT: 'other' };
    const text = `docroot: ${join(dir, 'empty')}\n`;
    const from = (input: Partial<ConfigInput>) =>
      withFile(text, (file) => load({ ...file, ...input }));
    expect((await from({ env })).config.docroot).toBe(join(dir, 'data'));
    const noArgument = { docrootArgument: undefined };
    expect((await from({ ...noArgument, env })).config.docroot).toBe(join(dir, 'other'));
    expect((await from(noArgument)).config.docroot).toBe(join(dir, 'empty'));
  });

  test('a path in the file starts from the folder of the file, others from the working directory', async () => {
    await writeFile(join(dir, 'other', 'paths.yaml'), 'docroot: ../data\ntls_cert: c.pem\n');
    const { config } = await load({
      configFlag: 'other/paths.yaml',
      env: { SVC_TLS_KEY: 'k.pem' },
      flags: { state_dir: 'state' },
    });
    expect(config.docroot).toBe(join(dir, 'data'));
    expect(config.tls_cert).toBe(join(dir, 'other', 'c.pem'));
    expect(config.tls_key).toBe(join(dir, 'k.pem'));
    expect(config.state_dir).toBe(join(dir, 'state'));
  });

  test('symbolic links on the way are resolved, also to a state directory that does not exist yet', async () => {
    await symlink(join(dir, 'data'), join(dir, 'link'));
    const { config } = await load({
      docrootArgument: 'link',
      flags: { state_dir: 'link/new/state' },
    });
    expect(config.docroot).toBe(join(dir, 'data'));
    expect(config.state_dir).toBe(join(dir, 'data', 'new', 'state'));
  });

  test('what is no directory is refused where it was named', async () => {
    await writeFile(join(dir, 'file'), '');
    expect(await findings({ docrootArgument: 'file' })).toEqual(['root: file is not a directory']);
    expect(await findings({ docrootArgument: 'gone' })).toEqual(['root: gone does not exist']);
    expect(await findings({ env: { SVC_DOCROOT: 'gone' } })).toEqual([
      'SVC_DOCROOT: gone does not exist',
    ]);
    const named = await withFile('\ndocroot: gone', (input) =>
      findings({ ...input, docrootArgument: undefined }),
    );
    expect(named).toEqual(['svc.yaml:2: gone does not exist']);
  });

  test('the state directory must leave something to publish', async () => {
    for (const state_dir of ['data', '.', '/']) {
      expect(await findings({ docrootArgument: 'data', flags: { state_dir } })).toEqual([
        '--state-dir: must not be or contain the document root',
      ]);
    }
    expect(await findings({ docrootArgument: 'data', flags: { state_dir: 'data-2' } })).toEqual([]);
  });
});

describe('findings (DS-196)', () => {
  test('all are reported together, each where it stands', async () => {
    const text = ['port: high', 'hots: x', 'upload:', '  enabled: 1', 'port: 2', 'tls_cert: c'];
    const found = await withFile(text.join('\n'), (input) =>
      findings({
        ...input,
        docrootArgument: 'gone',
        env: { SVC_LOCKS_TTL_SECONDS: '0', SVC_PROT: '1' },
        flags: { host: 'a b' },
      }),
    );
    expect(found).toEqual([
      'svc.yaml:1: port must be a whole number from 0 to 65535, not "high"',
      "svc.yaml:2: unknown key 'hots'; did you mean 'host'?",
      'svc.yaml:4: upload.enabled must be true or false, not 1',
      "svc.yaml:5: duplicate key 'port', first on line 1",
      'SVC_LOCKS_TTL_SECONDS: must be a whole number from 1 to 86400, not "0"',
      '--host: must be an IP address or a host name without scheme or port, not "a b"',
      'root: gone does not exist',
      'svc.yaml:6: tls_cert needs tls_key as well',
      "SVC_PROT: unknown variable, ignored; did you mean 'SVC_PORT'?",
    ]);
  });

  test.each([
    [
      'max_size_bytes: 1',
      "svc.yaml:1: unknown key 'max_size_bytes'; did you mean 'upload.max_size_bytes'?",
    ],
    ['uplaod:\n  enabled: true', "svc.yaml:1: unknown key 'uplaod'; did you mean 'upload'?"],
    [
      'upload.enabled: true',
      "svc.yaml:1: unknown key 'upload.enabled'; nest it instead of using dots",
    ],
    ['upload: true', 'svc.yaml:1: upload must hold nested keys'],
    ['host:', 'svc.yaml:1: host must be text, not empty'],
    ['host: 1', 'svc.yaml:1: host must be text, not 1'],
    ['host: [a]', 'svc.yaml:1: host must be text, not a list'],
    ['- a', 'svc.yaml:1: must hold `key: value` pairs'],
    ['just text', 'svc.yaml:1: must hold `key: value` pairs'],
    ['__proto__:\n  x: 1', "svc.yaml:1: unknown key '__proto__'"],
    ['constructor: 1', "svc.yaml:1: unknown key 'constructor'"],
    ['upload:\n  hasOwnProperty: 1', "svc.yaml:2: unknown key 'upload.hasOwnProperty'"],
    ['? [a]\n: 1', 'svc.yaml:1: keys must be plain names'],
    ['1: 2', 'svc.yaml:1: keys must be plain names'],
    ['a: 1\n---\nb: 2', 'svc.yaml:2: holds more than one document'],
    ['host: *x', "svc.yaml:1: alias '*x' has no anchor"],
    [
      'allowed_hosts:\n  - a\n  - b:1',
      'svc.yaml:3: allowed_hosts item must be a host name without scheme, port or path, or *.domain, not "b:1"',
    ],
    ['allowed_hosts: [a, [b]]', 'svc.yaml:1: allowed_hosts must hold texts, not a list'],
    [
      'plugin_registry:\n  .log: file\n  .csv: handler',
      "svc.yaml:3: plugin_registry cannot make '.csv' a handler; only .ts .js .mjs .py can be one",
    ],
    ['plugin_registry:\n  a: file\n  a: csv', "svc.yaml:3: duplicate key 'plugin_registry.a'"],
    [
      'oidc:\n  client_secret: x',
      'svc.yaml:2: oidc.client_secret is never read from the file; set SVC_OIDC_CLIENT_SECRET or SVC_OIDC_CLIENT_SECRET_FILE',
    ],
    ['event_log: {}', "svc.yaml:1: unknown key 'event_log'"],
  ])('%j', async (text, finding) => {
    expect((await withFile(text, findings))[0]).toBe(finding);
  });

  test('broken YAML and foreign tags are named with their line', async () => {
    expect((await withFile('host: a\n\tport: 1', findings))[0]).toStartWith('svc.yaml:2: ');
    expect((await withFile('\nhost: !!js/function x', findings))[0]).toStartWith('svc.yaml:2: ');
  });

  test('a file that is empty, only comments, or has only commented keys in a section is fine', async () => {
    for (const text of [
      '',
      '# nothing\n',
      'upload:\n  # enabled: true\n',
      '\uFEFFport: 1',
      'port: 1\r\n',
    ]) {
      expect(await withFile(text, findings)).toEqual([]);
    }
  });

  test('aliases are followed where they give plain values', async () => {
    const text =
      'host: &here 127.0.0.1\nallowed_hosts: [*here, *here]\nlogging: &l {level: debug}\n';
    const { config } = await withFile(text, load);
    expect(config.allowed_hosts).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  test.each([
    ['nested lists', `${bomb()}allowed_hosts: *i\n`],
    ['a circle', 'allowed_hosts: &a [*a]'],
    ['too many', `host: &h a\nallowed_hosts: [${'*h,'.repeat(101)}]`],
  ])('aliases that would unfold are refused: %s', async (_, text) => {
    expect((await withFile(text, findings)).length).toBeGreaterThan(0);
  });

  test.each([
    ['brackets', '['.repeat(100_000)],
    ['maps', '{a: '.repeat(50_000)],
  ])('deep nesting is refused with few findings: %s', async (_, text) => {
    const found = await withFile(text, findings);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(12);
  });
});

function bomb(): string {
  const names = [...'abcdefghi'];
  const lines = names.map((name, index) => {
    const items = index === 0 ? Array(9).fill('x') : Array(9).fill(`*${names[index - 1]}`);
    return `${name}: &${name} [${items.join(', ')}]\n`;
  });
  return lines.join('');
}

describe('the environment (DS-119, DS-195)', () => {
  test('lists, maps, byte sizes and booleans are read', async () => {
    const { config } = await load({
      env: {
        SVC_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
        SVC_PLUGIN_REGISTRY: 'log=file,.csv=none',
        SVC_LIMITS_MAX_BODY_BYTES: '1MiB',
        SVC_MCP_ENABLED: 'off',
      },
    });
    expect(config.trusted_proxies).toEqual(['10.0.0.0/8', '::1']);
    expect(config.plugin_registry).toEqual({ '.log': 'file', '.csv': 'none' });
    expect(config.limits.max_body_bytes).toBe(1_048_576);
    expect(config.mcp_enabled).toBe(false);
  });

  test('unknown SVC_ names are warned about, other names are none of our business', async () => {
    const { warnings } = await load({ env: { SVC_UPLOADS_ENABLED: '1', SVC_X: '', HOME: '/' } });
    expect(warnings).toEqual([
      "SVC_UPLOADS_ENABLED: unknown variable, ignored; did you mean 'SVC_UPLOAD_ENABLED'?",
      'SVC_X: unknown variable, ignored',
    ]);
  });

  test('the client secret comes from a variable or the file a variable names', async () => {
    const direct = await load({ env: { SVC_OIDC_CLIENT_SECRET: 's1' } });
    expect(direct.config.oidc.client_secret).toBe('s1');
    await writeFile(join(dir, 'secret'), 's2\n');
    const { config, sources } = await load({ env: { SVC_OIDC_CLIENT_SECRET_FILE: 'secret' } });
    expect(config.oidc.client_secret).toBe('s2');
    expect(sources['oidc.client_secret']).toBe('env SVC_OIDC_CLIENT_SECRET_FILE');
  });

  test.each([
    [{ SVC_OIDC_CLIENT_SECRET: 'a', SVC_OIDC_CLIENT_SECRET_FILE: 'b' }, 'must not be set together'],
    [{ SVC_OIDC_CLIENT_SECRET_FILE: 'gone' }, 'gone does not exist'],
    [{ SVC_OIDC_CLIENT_SECRET_FILE: 'blank' }, 'blank is empty'],
  ])('%j is refused', async (env, problem) => {
    await writeFile(join(dir, 'blank'), '\n');
    const found = await findings({ env });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`SVC_OIDC_CLIENT_SECRET_FILE: ${problem}`);
  });
});

describe('values that follow from others', () => {
  test('the OIDC address follows public_url, the audience follows it', async () => {
    const { oidc } = (await load({ env: { SVC_PUBLIC_URL: 'https://a.example/' } })).config;
    expect([oidc.public_url, oidc.audience]).toEqual(['https://a.example', 'https://a.example']);
    const env = { SVC_PUBLIC_URL: 'https://a.example', SVC_OIDC_PUBLIC_URL: 'https://b.example' };
    expect((await load({ env })).config.oidc.audience).toBe('https://b.example');
  });

  test('an issuer without a client id is warned about', async () => {
    const { warnings } = await load({ env: { SVC_OIDC_ISSUER: 'https://id.example' } });
    expect(warnings).toEqual(['SVC_OIDC_ISSUER: OIDC stays off without oidc.client_id']);
  });
});
