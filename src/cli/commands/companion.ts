/** `svc companion`: how a dataset is read, without a shell in the folder of its companions. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Audit } from '../../accounts/audit/audit.ts';
import { type App, openApp } from '../../app.ts';
import { AppError } from '../../base/errors.ts';
import { isAbsence } from '../../base/files/file-stamp.ts';
import { jsonText, parseJson } from '../../base/json/json.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import {
  type CompanionChange,
  type CompanionObject,
  type Companions,
  readCompanions,
  writeCompanions,
} from '../../operations/files/companions.ts';
import { loadAdmin, rootAndNames } from '../administration.ts';
import type { Invocation } from '../command.ts';
import { commandLog } from '../configuration.ts';

export const showCompanions = (invocation: Invocation): Promise<string> =>
  onDataset(invocation, readCompanions);

export const setCompanions = (invocation: Invocation): Promise<string> =>
  onDataset(invocation, async (app, resource) => {
    const present = await readCompanions(app, resource);
    return write(app, resource, changeOf(invocation, present));
  });

export const removeCompanions = (invocation: Invocation): Promise<string> =>
  onDataset(invocation, (app, resource) => write(app, resource, { options: null, schema: null }));

async function onDataset(
  invocation: Invocation,
  work: (app: App, resource: Resource) => Promise<Companions>,
): Promise<string> {
  const { root, names } = rootAndNames(invocation);
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) {
    throw new AppError('usage', 'one dataset is needed, as `svc list-endpoints` names it');
  }
  const config = await loadAdmin({ ...invocation, positionals: root });
  const log = commandLog(config, invocation.outside);
  const app = await openApp(config, log, { exclusive: false, readsAhead: false });
  try {
    await app.registry.listed();
    const resource = app.registry.lookup('dataset', name);
    if (resource?.kind.dataset === undefined) {
      throw new AppError('not-found', `There is no dataset '${name}'`);
    }
    const audit = new Audit({ db: app.db, clock: app.clock, log, isCommandLine: true });
    const { version: _version, ...shown } = await work(
      Object.create(app, { audit: { value: audit } }) as App,
      resource,
    );
    return `${jsonText(shown, 2)}\n`;
  } finally {
    await app.close();
  }
}

function write(app: App, resource: Resource, change: CompanionChange): Promise<Companions> {
  const actor = { user: null, origin: { clientAddress: null }, name: 'operator' };
  return writeCompanions(app, actor, resource, change, null);
}

/** Flags add to the options that are there; `--options` replaces them. */
function changeOf({ options, outside }: Invocation, present: Companions): CompanionChange {
  const object = (flag: string): CompanionObject | null | undefined => {
    const given = options[flag];
    return typeof given === 'string' ? objectFrom(`--${flag}`, given, outside.cwd) : undefined;
  };
  const single = Object.entries({
    encoding: options['encoding'],
    delimiter: options['delimiter'] === 'tab' ? '\t' : options['delimiter'],
    header_row: numberIn(options['headerRow']),
    range: options['range'],
  }).filter(([, value]) => value !== undefined);
  const whole = object('options');
  const schema = object('schema');
  if (whole === undefined && schema === undefined && single.length === 0) {
    throw new AppError('usage', 'nothing to set: give --options, --schema, or one of the options');
  }
  const base = whole === undefined ? present.options : whole;
  return {
    ...((whole !== undefined || single.length > 0) && {
      options: single.length === 0 ? base : { ...base, ...Object.fromEntries(single) },
    }),
    ...(schema !== undefined && { schema }),
  };
}

/** What is no number is refused as an option. */
function numberIn(given: unknown): unknown {
  return typeof given === 'string' && /^[0-9]{1,9}$/.test(given) ? Number(given) : given;
}

/** JSON, or the file that holds it. */
function objectFrom(flag: string, given: string, cwd: string): CompanionObject | null {
  try {
    const text = /^\s*(?:\{|null\b)/.test(given)
      ? given
      : readFileSync(resolve(cwd, given), 'utf8');
    const value = parseJson(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) {
      return value as CompanionObject | null;
    }
  } catch (error) {
    if (isAbsence(error)) throw new AppError('usage', `${flag}: there is no file '${given}'`);
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AppError('usage', `${flag}: is a JSON object, null, or a file with one`);
}
