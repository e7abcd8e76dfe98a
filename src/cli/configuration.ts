/** Configuration of every command with a `[root]`. Flags follow from the settings table. */
import { Option } from 'commander';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Parser } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { createLog } from '../base/log.ts';
import type { Log } from '../base/log.ts';
import { flagOf, settingAt, settingKeys } from '../config/settings.ts';
import type { Config, SettingKey } from '../config/settings.ts';
import type { Invocation, Outside } from './command.ts';

type Audience = 'common' | 'serve';

export function describeConfiguration(parser: Parser, audience: Audience = 'common'): void {
  parser.argument(
    '[root]',
    'Folder to publish; else SVC_DOCROOT, the configuration file, or here.',
  );
  parser.option('--config <file>', 'Configuration file.');
  for (const key of flaggedSettings(audience)) parser.addOption(optionOf(key));
}

/** Warnings go to standard error. Throws as `loadConfig`. */
export async function loadInvocation(invocation: Invocation): Promise<LoadedConfig> {
  const { positionals, options, outside } = invocation;
  const { loadConfig } = await import('../config/load.ts');
  const flags: Partial<Record<SettingKey, string | true>> = {};
  for (const key of flaggedSettings('serve')) {
    const given = options[optionOf(key).attributeName()];
    if (typeof given === 'string' || given === true) flags[key] = given;
  }
  const loaded = await loadConfig({
    flags,
    configFlag: options['config'] as string | undefined,
    docrootArgument: positionals[0],
    env: outside.env,
    cwd: outside.cwd,
  });
  for (const warning of loaded.warnings) outside.err(`${warning}\n`);
  await tellOfNewState(loaded, invocation);
  return loaded;
}

/**
 * A command run in the wrong folder creates a new set of accounts there and seems to succeed: when
 * no folder was named and a state was created, its end says where.
 */
async function tellOfNewState(
  { config, sources }: LoadedConfig,
  { outside, atEnd }: Invocation,
): Promise<void> {
  if (sources.docroot !== 'default' || sources.state_dir !== 'default') return;
  const { DATABASE_FILE } = await import('../store/state-files.ts');
  const database = join(config.state_dir, DATABASE_FILE);
  if (existsSync(database)) return;
  atEnd(() => {
    if (!existsSync(database)) return;
    outside.err(
      `Made new state in ${config.state_dir}, because no folder was named and there was none here; ` +
        `if you meant another folder, name it: svc <command> <folder>\n`,
    );
  });
}

/** For commands that end by themselves: warnings and errors as text. */
export function commandLog(config: Config, outside: Outside): Log {
  return createLog({
    level: config.debug ? 'debug' : 'warning',
    format: 'text',
    write: (line) => outside.err(line),
  });
}

function flaggedSettings(audience: Audience): SettingKey[] {
  return settingKeys.filter((key) => {
    const { flag } = settingAt(key);
    return flag === 'common' || (flag === 'serve' && audience === 'serve');
  });
}

function optionOf(key: SettingKey): Option {
  const { type, summary } = settingAt(key);
  const value = type === 'boolean' ? '' : ` <${type === 'path' ? 'path' : key.split('_').pop()}>`;
  return new Option(flagOf(key) + value, summary.replaceAll('`', ''));
}
