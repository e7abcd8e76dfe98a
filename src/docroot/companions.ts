/**
 * Where the companion files of a resource stand: a declared schema (DS-70) and reading options (DS-72).
 */
import { stemOf } from '../base/paths.ts';
import { COMPANION_FOLDER } from './document-root.ts';

/** Rels of the places to look at, the first existing one counts. */
export interface CompanionPaths {
  readonly schema: readonly string[];
  readonly options: readonly string[];
}

const SCHEMA_SUFFIX = '.schema.json';
const OPTIONS_SUFFIX = '.options.json';

/**
 * The places for a table's companions. The place without the file's extension is for the one resource that owns that
 * name (`ownsStem`), so that two files never share a companion by accident.
 */
export function companionPaths(
  rel: string,
  sheet: string | null,
  ownsStem: boolean,
): CompanionPaths {
  // A sheet name comes out of a file somebody made; it must not name another folder.
  if (sheet?.includes('/')) return { schema: [], options: [] };
  const suffix = sheet === null ? '' : `.${sheet}`;
  const names = ownsStem ? [rel, stemOf(rel)] : [rel];
  const stems = [...new Set(names)].map((name) => `${COMPANION_FOLDER}/${name}${suffix}`);
  return {
    schema: stems.map((stem) => stem + SCHEMA_SUFFIX),
    options: stems.map((stem) => stem + OPTIONS_SUFFIX),
  };
}

/** Whether a rel could be a companion of some resource. */
export function isCompanion(rel: string): boolean {
  return (
    rel.startsWith(`${COMPANION_FOLDER}/`) &&
    (rel.endsWith(SCHEMA_SUFFIX) || rel.endsWith(OPTIONS_SUFFIX))
  );
}
