/**
 * Third-party code in the executable. `build/third-party/` derives the list from the bundle and the
 * build embeds it, so it cannot differ from the content.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';

export const THIRD_PARTY_FILE = 'third-party.json';

export interface ThirdParty {
  readonly name: string;
  /** Null where the containing package does not say. */
  readonly version: string | null;
  /** SPDX expression; null for a part under its package's licence texts. */
  readonly license: string | null;
  /** Empty when `license` is null. */
  readonly text: string;
  /** Package URL; null for what is in no registry. */
  readonly purl: string | null;
  /** Of the published archive, in hexadecimal; null where there is none. */
  readonly sha512: string | null;
  /** The package that contains this part. */
  readonly partOf: string | null;
  readonly uses: readonly string[];
  /** Path of the applied patch in the source; null for none. */
  readonly patch: string | null;
}

/** Parts come after their package. Throws `not-found` when run from source. */
export function thirdParty(): readonly ThirdParty[] {
  const path = join(import.meta.dir, THIRD_PARTY_FILE);
  if (!existsSync(path)) {
    throw new AppError('not-found', 'Licences are collected by the build; run the executable.');
  }
  return JSON.parse(readFileSync(path, 'utf8')) as ThirdParty[];
}
