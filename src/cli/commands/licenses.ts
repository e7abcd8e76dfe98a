/**
 * `svc licenses`: third-party packages in the executable, or the licence texts of the named one.
 */
import { thirdParty } from '../third-party.ts';
import { AppError } from '../../base/errors.ts';
import { suggestion } from '../../config/nearest-name.ts';
import type { Invocation } from '../command.ts';
import type { ThirdParty } from '../third-party.ts';
import { textTable } from '../printer.ts';

export async function licenses({ positionals: [name], options }: Invocation): Promise<string> {
  const all = thirdParty();
  const asked = name === undefined ? all : all.filter((one) => one.name === name);
  if (asked.length === 0) throw noSuchPackage(name!, all);
  if (options['json'] === true) {
    return `${JSON.stringify(asked.map((one) => shown(one, name !== undefined)))}\n`;
  }
  return name === undefined ? list(all) : asked.map((one) => inFull(one, all)).join('\n');
}

function noSuchPackage(name: string, all: readonly ThirdParty[]): AppError {
  const names = all.map((one) => one.name);
  return new AppError('not-found', `${name}: no package in svc${suggestion(name, names)}`);
}

function shown({ name, version, license, purl, partOf, text }: ThirdParty, withText: boolean) {
  return { name, version, license, purl, part_of: partOf, ...(withText ? { text } : {}) };
}

function list(all: readonly ThirdParty[]): string {
  const rows = all.map(({ name, version, license, partOf }) => [
    name,
    version ?? '',
    license ?? `see ${partOf}`,
    partOf ?? '',
  ]);
  return textTable(['package', 'version', 'licence', 'part of'], rows);
}

/** A part without a text of its own has that of the package that contains it. */
function inFull(one: ThirdParty, all: readonly ThirdParty[]): string {
  const { name, version, license, partOf } = one;
  const head = `${version === null ? name : `${name} ${version}`}: `;
  if (license !== null) return `${head}${license}\n\n${one.text.trim()}\n`;
  const whole = all.find((other) => other.name === partOf && other.partOf === null);
  return `${head}part of ${partOf}, whose texts follow\n\n${whole?.text.trim() ?? ''}\n`;
}
