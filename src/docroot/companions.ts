import { COMPANION_SUFFIX, stemOf } from '../base/paths.ts';
import { COMPANION_FOLDER } from './document-root.ts';

/** Rels in order of precedence. */
export interface CompanionPaths {
  readonly schema: readonly string[];
  readonly options: readonly string[];
}

const SCHEMA_SUFFIX = '.schema.json';
const OPTIONS_SUFFIX = '.options.json';

/**
 * A companion named without the file's extension belongs to the one resource that owns that name (`ownsStem`), so
 * that two files never share one by accident.
 */
export function companionPaths(
  rel: string,
  sheet: string | null,
  ownsStem: boolean,
): CompanionPaths {
  // A sheet name comes from the file's content and must not name another folder.
  if (sheet?.includes('/')) return { schema: [], options: [] };
  const suffix = sheet === null ? '' : `.${sheet}`;
  const names = ownsStem ? [rel, stemOf(rel)] : [rel];
  const stems = [...new Set(names)].map((name) => `${COMPANION_FOLDER}/${name}${suffix}`);
  return {
    schema: stems.map((stem) => stem + SCHEMA_SUFFIX),
    options: stems.map((stem) => stem + OPTIONS_SUFFIX),
  };
}

export function isCompanion(rel: string): boolean {
  return rel.startsWith(`${COMPANION_FOLDER}/`) && COMPANION_SUFFIX.test(rel);
}
