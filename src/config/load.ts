/**
 * Defaults < file < environment < flags. Never writes. All findings are collected before anything is refused, so one
 * run shows everything to mend.
 */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { AppError, errnoOf } from '../base/errors.ts';
import { parseConfig, readConfigFile } from './config-file.ts';
import { suggestion } from './nearest-name.ts';
import {
  configFrom,
  flagOf,
  settingAt,
  settingKeys,
  variableOf,
  valueAt,
  type Config,
  type SettingKey,
} from './settings.ts';
import { objectionsTo } from './setting.ts';

const SYSTEM_FILE = '/etc/svc/config.yaml';
const CONFIG_VARIABLE = 'SVC_CONFIG';
const DOCROOT_VARIABLE = 'SVC_DOCROOT';
const SECRET_VARIABLE = 'SVC_OIDC_CLIENT_SECRET';
const SECRET_FILE_VARIABLE = 'SVC_OIDC_CLIENT_SECRET_FILE';
const KNOWN_VARIABLES = [CONFIG_VARIABLE, SECRET_FILE_VARIABLE, ...settingKeys.map(variableOf)];

export interface ConfigInput {
  /** `true` for a switch. */
  readonly flags?: Readonly<Partial<Record<SettingKey, string | true>>>;
  readonly configFlag?: string;
  readonly docrootArgument?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base of relative paths. */
  readonly cwd: string;
  /** Default `/etc/svc/config.yaml`. */
  readonly systemFile?: string;
}

/** `config.docroot` is an existing folder. */
export interface LoadedConfig {
  readonly config: Config;
  /** For each key `default`, `<file>:<line>`, `env <NAME>`, `flag --x` or `argument`. */
  readonly sources: Readonly<Record<SettingKey, string>>;
  readonly warnings: readonly string[];
  readonly file: string | null;
  /** The first existing one wins. */
  readonly candidates: readonly string[];
}

/** `place` is the prefix of findings, `source` is shown beside the value. */
interface Assignment {
  readonly value: unknown;
  readonly place: string;
  readonly source: string;
  readonly base: string;
}

interface Draft {
  readonly assigned: Map<SettingKey, Assignment>;
  readonly findings: string[];
  readonly warnings: string[];
}

/**
 * Throws `usage` whose message has one finding per line: `<file>:<line>: …`, `<NAME>: …` for a variable, `--x: …` for
 * a flag, `root: …` for the argument.
 */
export async function loadConfig(input: ConfigInput): Promise<LoadedConfig> {
  const draft: Draft = { assigned: new Map(), findings: [], warnings: [] };
  const candidates = candidateFiles(input);
  const file = await takeFile(draft, candidates, input.cwd);
  await takeEnvironment(draft, input);
  takeFlags(draft, input);
  const docroot = await resolveDocroot(draft, input);
  const config = await complete(draft, docroot);
  checkTogether(draft, config);
  if (draft.findings.length > 0)
    throw new AppError('usage', [...draft.findings, ...draft.warnings].join('\n'));
  return {
    config,
    sources: Object.fromEntries(
      settingKeys.map((key) => [key, draft.assigned.get(key)?.source ?? 'default']),
    ) as Record<SettingKey, string>,
    warnings: draft.warnings,
    file,
    candidates: candidates.map((candidate) => resolve(input.cwd, candidate.path)),
  };
}

interface Candidate {
  /** As the user would write it. */
  readonly path: string;
  /** A file named by a flag or variable must exist. */
  readonly namedBy: string | null;
}

function candidateFiles(input: ConfigInput): Candidate[] {
  if (input.configFlag !== undefined) return [{ path: input.configFlag, namedBy: '--config' }];
  const named = input.env[CONFIG_VARIABLE];
  if (named) return [{ path: named, namedBy: CONFIG_VARIABLE }];
  const docroot = input.docrootArgument ?? (input.env[DOCROOT_VARIABLE] || '.');
  return [
    { path: join(docroot, '.svc', 'config.yaml'), namedBy: null },
    { path: input.systemFile ?? SYSTEM_FILE, namedBy: null },
  ];
}

async function takeFile(
  draft: Draft,
  candidates: readonly Candidate[],
  cwd: string,
): Promise<string | null> {
  for (const { path: name, namedBy } of candidates) {
    const path = resolve(cwd, name);
    const content = await readConfigFile(path);
    if (content === null && namedBy === null) continue;
    if (content === null) draft.findings.push(`${namedBy}: ${name} does not exist`);
    else if ('problem' in content) {
      const named = namedBy === null ? `${name}:` : `${namedBy}: ${name}`;
      draft.findings.push(`${named} ${content.problem}`);
    } else {
      const { values, findings } = parseConfig(content.text, name);
      draft.findings.push(...findings);
      for (const [key, { value, line }] of values) {
        const place = `${name}:${line}`;
        draft.assigned.set(key, { value, place, source: place, base: dirname(path) });
      }
    }
    return path;
  }
  return null;
}

async function takeEnvironment(draft: Draft, input: ConfigInput): Promise<void> {
  const { env, cwd } = input;
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith('SVC_') || KNOWN_VARIABLES.includes(name)) continue;
    draft.warnings.push(`${name}: unknown variable, ignored${suggestion(name, KNOWN_VARIABLES)}`);
  }
  for (const key of settingKeys) {
    const name = variableOf(key);
    const text = env[name];
    if (text === undefined || (text === '' && name === DOCROOT_VARIABLE)) continue;
    assignText(draft, key, text, { place: name, source: `env ${name}`, base: cwd });
  }
  if (env[SECRET_FILE_VARIABLE]) await takeSecretFile(draft, env[SECRET_FILE_VARIABLE], input);
}

async function takeSecretFile(
  draft: Draft,
  name: string,
  { env, cwd }: ConfigInput,
): Promise<void> {
  if (env[SECRET_VARIABLE]) {
    draft.findings.push(
      `${SECRET_FILE_VARIABLE}: must not be set together with ${SECRET_VARIABLE}`,
    );
    return;
  }
  const content = await readConfigFile(resolve(cwd, name));
  const problem =
    content === null ? 'does not exist' : 'problem' in content ? content.problem : null;
  if (content === null || 'problem' in content) {
    draft.findings.push(`${SECRET_FILE_VARIABLE}: ${name} ${problem}`);
    return;
  }
  const secret = content.text.trimEnd();
  if (secret === '') draft.findings.push(`${SECRET_FILE_VARIABLE}: ${name} is empty`);
  const source = `env ${SECRET_FILE_VARIABLE}`;
  draft.assigned.set('oidc.client_secret', {
    value: secret,
    place: SECRET_FILE_VARIABLE,
    source,
    base: cwd,
  });
}

function takeFlags(draft: Draft, { flags = {}, cwd }: ConfigInput): void {
  for (const key of settingKeys) {
    const given = flags[key];
    if (given === undefined) continue;
    const flag = flagOf(key);
    const text = given === true ? 'true' : given;
    assignText(draft, key, text, { place: flag, source: `flag ${flag}`, base: cwd });
  }
}

function assignText(
  draft: Draft,
  key: SettingKey,
  text: string,
  origin: Omit<Assignment, 'value'>,
): void {
  const parsed = settingAt(key).parseText(text);
  if (parsed.ok) draft.assigned.set(key, { ...origin, value: parsed.value });
  else
    draft.findings.push(
      ...objectionsTo(parsed).map(({ problem }) => `${origin.place}: ${problem}`),
    );
}

/** Argument, else variable, else file, else the working directory. */
async function resolveDocroot(draft: Draft, input: ConfigInput): Promise<string> {
  if (input.docrootArgument !== undefined) {
    draft.assigned.set('docroot', {
      value: input.docrootArgument,
      place: 'root',
      source: 'argument',
      base: input.cwd,
    });
  }
  const assigned = draft.assigned.get('docroot');
  const name = String(assigned?.value ?? '.');
  const path = resolve(assigned?.base ?? input.cwd, name);
  const place = assigned?.place ?? 'docroot';
  // An unset shell variable must not publish the working directory.
  if (name === '') draft.findings.push(`${place}: must not be empty`);
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path);
    draft.findings.push(`${place}: ${name} is not a directory`);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    const reason = errno === 'ENOENT' ? 'does not exist' : `cannot be opened (${errno})`;
    draft.findings.push(`${place}: ${name} ${reason}`);
  }
  return path;
}

async function complete(draft: Draft, docroot: string): Promise<Config> {
  const values = new Map<SettingKey, unknown>();
  for (const key of settingKeys) values.set(key, valueOf(draft, key, values));
  values.set('docroot', docroot);
  const stateDir = draft.assigned.has('state_dir')
    ? values.get('state_dir')
    : join(docroot, '.svc');
  values.set('state_dir', await withoutLinks(stateDir as string));
  return configFrom((key) => values.get(key));
}

function valueOf(draft: Draft, key: SettingKey, earlier: Map<SettingKey, unknown>): unknown {
  const setting = settingAt(key);
  const assigned = draft.assigned.get(key);
  const value = assigned?.value ?? setting.default;
  if (setting.type === 'path' && assigned !== undefined && typeof value === 'string') {
    return resolve(assigned.base, value);
  }
  return value === '' && setting.sameAs !== undefined
    ? earlier.get(setting.sameAs as SettingKey)
    : value;
}

/** The path may not exist yet: resolves its nearest existing ancestor. */
async function withoutLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) === undefined) throw error;
    return parent === path ? path : join(await withoutLinks(parent), basename(path));
  }
}

function checkTogether(draft: Draft, config: Config): void {
  const halves = [
    ['tls_cert', 'tls_key'],
    ['tls_key', 'tls_cert'],
  ] as const;
  for (const [given, missing] of halves) {
    if (config[given] === null || config[missing] !== null) continue;
    const place = draft.assigned.get(given)!.place;
    draft.findings.push(`${place}: ${given} needs ${missing} as well`);
  }
  if (config.cors.credentials && config.cors.origins.includes('*')) {
    const place = draft.assigned.get('cors.credentials')!.place;
    draft.findings.push(`${place}: cors.credentials needs origins by name, not *`);
  }
  const wayDown = relative(config.state_dir, config.docroot);
  if (wayDown !== '..' && !wayDown.startsWith('../')) {
    const place = draft.assigned.get('state_dir')?.place ?? 'state_dir';
    draft.findings.push(`${place}: must not be or contain the document root`);
  }
  const { host, from, username, password, security } = config.deliveries.smtp;
  const mail = (text: string): void => {
    draft.findings.push(`${draft.assigned.get('deliveries.smtp.host')!.place}: ${text}`);
  };
  if (host !== '' && from === '') mail('deliveries.smtp.host needs deliveries.smtp.from as well');
  if (host !== '' && (username === '') !== (password === ''))
    mail('deliveries.smtp.username and deliveries.smtp.password belong together');
  if (host !== '' && username !== '' && security === 'none')
    mail(
      'deliveries.smtp.security: none would send the password in the clear; use starttls or tls',
    );
  if (config.oidc.issuer !== '' && config.oidc.client_id === '') {
    draft.warnings.push(
      `${draft.assigned.get('oidc.issuer')!.place}: OIDC stays off without oidc.client_id`,
    );
  } else if (config.oidc.issuer !== '' && config.oidc.public_url === '') {
    draft.warnings.push(
      `${draft.assigned.get('oidc.issuer')!.place}: signing in through OIDC needs public_url`,
    );
  }
}

interface Reload {
  readonly config: Config;
  readonly applied: readonly SettingKey[];
  readonly restart: readonly SettingKey[];
}

/**
 * Settings marked `live` apply at once, the others keep their running value, so the result is always a configuration the
 * server could have started with. Turning TLS on or off always needs a restart.
 */
export function resolveReload(running: Config, loaded: Config): Reload {
  const changed = settingKeys.filter(
    (key) => !Bun.deepEquals(valueAt(running, key), valueAt(loaded, key)),
  );
  const switchesTls = (running.tls_cert === null) !== (loaded.tls_cert === null);
  const appliesLive = (key: SettingKey): boolean =>
    settingAt(key).live === true && !(switchesTls && (key === 'tls_cert' || key === 'tls_key'));
  const applied = changed.filter(appliesLive);
  return {
    config: configFrom((key) => valueAt(applied.includes(key) ? loaded : running, key)),
    applied,
    restart: changed.filter((key) => !appliesLive(key)),
  };
}
