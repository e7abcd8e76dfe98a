import { extensionOf } from '../../base/paths.ts';
import type { Kind } from '../kind.ts';

/** Undefined when files of that extension are not published. */
export type KindTable = (rel: string) => Kind | undefined;

/**
 * `overrides` (`plugin_registry`) win over the kinds' own extensions; they may lack the dot and have any case. An
 * unknown type turns the extension off.
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
