/**
 * What others wrote and is inside the executable, with its licences. `build/third-party/` finds it out from the bundle and
 * the build embeds it as one file, so the list cannot differ from what is there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';

/** Name of the embedded file. */
export const THIRD_PARTY_FILE = 'third-party.json';

/** One package, or a part that came inside of one. */
export interface ThirdParty {
  readonly name: string;
  /** Null where the package that brought it does not say. */
  readonly version: string | null;
  /** SPDX expression; null for a part under the licence texts of the package that brought it. */
  readonly license: string | null;
  /** Licence and notices in full; empty when `license` is null. */
  readonly text: string;
  /** Package URL; null for what is in no registry. */
  readonly purl: string | null;
  /** Checksum of the published archive as hexadecimal digits; null where there is none. */
  readonly sha512: string | null;
  /** Name of the package that brought it. */
  readonly partOf: string | null;
  /** Names of the packages here that it uses. */
  readonly uses: readonly string[];
  /** Patch that was applied, as its path in the source; null for none. */
  readonly patch: string | null;
}

/** Everything by others in this executable, parts after their package. Throws `not-found` when run from source. */
export function thirdParty(): readonly ThirdParty[] {
  const path = join(import.meta.dir, THIRD_PARTY_FILE);
  if (!existsSync(path)) {
    throw new AppError('not-found', 'Licences are collected by the build; run the executable.');
  }
  return JSON.parse(readFileSync(path, 'utf8')) as ThirdParty[];
}
