/**
 * Which kind a file is, by its extension (DS-23) and the configured overrides (DS-197).
 */
import { extensionOf } from '../base/paths.ts';
import type { Kind } from './kind.ts';

/** The kind of a rel; undefined when such files are not published. */
export type KindTable = (rel: string) => Kind | undefined;

/**
 * The kinds by their own extensions, with `overrides` (`plugin_registry`: extension to type, or `none`) on top.
 * Override extensions may come without their dot and in any case; a type that no kind has switches the extension off.
 */
export function createKindTable(
  kinds: readonly Kind[],
  overrides: Readonly<Record<string, string>> = {},
): KindTable {
  const byExtension = new Map<string, Kind>();
  for (const kind of kinds) {
    for (const extension of kind.extensions) byExtension.set(extension, kind);
  }
  for (const [name, type] of Object.entries(overrides)) {
    const extension = `.${name.replace(/^\./, '').toLowerCase()}`;
    const kind = kinds.find((candidate) => candidate.type === type);
    if (kind === undefined) byExtension.delete(extension);
    else byExtension.set(extension, kind);
  }
  return (rel) => byExtension.get(extensionOf(rel));
}
