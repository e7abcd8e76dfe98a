/**
 * The part every command with a `[root]` shares: its configuration flags, and the configuration they lead to.
 *
 * Flags follow from the settings table; a command never names one twice.
 */
import { Option } from 'commander';
import type { Command as Parser } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { createLog } from '../base/log.ts';
import type { Log } from '../base/log.ts';
import { flagOf, settingAt, settingKeys } from '../config/schema.ts';
import type { Config, SettingKey } from '../config/schema.ts';
import type { Invocation, Outside } from './command.ts';

type Audience = 'common' | 'serve';

/** Declares `[root]`, `--config` and the flags of settings: the common ones, or those of `serve` too. */
export function describeConfiguration(parser: Parser, audience: Audience = 'common'): void {
  parser.argument(
    '[root]',
    'Folder to publish; else SVC_DOCROOT, the configuration file, or here.',
  );
  parser.option('--config <file>', 'Configuration file.');
  for (const key of flaggedSettings(audience)) parser.addOption(optionOf(key));
}

/** The configuration an invocation leads to; warnings go to standard error. Throws as `loadConfig`. */
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
  return loaded;
}

/** The log of a command that ends by itself: only what needs attention, as text for a person. */
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
