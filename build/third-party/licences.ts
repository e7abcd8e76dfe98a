/**
 * Which licences may be in the executable, and where the text of a package's licence is found.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import parse from 'spdx-expression-parse';
import type { Info } from 'spdx-expression-parse';

/** Licences that ask for no more than their text, which `svc licenses` prints. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);
const TEXT_FILES = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Whether the expression can be met by allowed licences alone; an expression that is none throws. */
export function isAllowed(expression: string): boolean {
  const meets = (term: Info): boolean => {
    if (!('conjunction' in term)) return ALLOWED.has(term.license) && term.exception === undefined;
    return term.conjunction === 'and'
      ? meets(term.left) && meets(term.right)
      : meets(term.left) || meets(term.right);
  };
  return meets(parse(expression));
}

/**
 * The texts of a package folder: its licence files and notices, and those beside the given files of it, which bundlers
 * write as `<file>.LICENSE.txt`. Throws when the folder has none.
 */
export function licenseText(folder: string, files: readonly string[]): string {
  const own = readdirSync(folder)
    .filter((name) => TEXT_FILES.test(name))
    .sort();
  const textsOf = (names: readonly string[]): string[] =>
    names.map((name) => readFileSync(join(folder, name), 'utf8').trim());
  if (textsOf(own).join('') === '') throw new Error('has no file with its licence');
  const beside = files.map((file) => `${file}.LICENSE.txt`);
  return textsOf([...own, ...beside.filter((file) => existsSync(join(folder, file)))]).join('\n\n');
}
