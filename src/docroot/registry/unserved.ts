/** With the reason, so that nobody looks for them in vain. */
import { extensionOf, sortedByBytes } from '../../base/paths.ts';
import { isAtOrBelow } from '../document-root.ts';
import type { ScanProblem } from './scan.ts';

/** Names kept and told; a folder of a million pictures in an unknown format needs no more. */
const MAX_KEPT = 10_000;

/** Parts that SQLite keeps beside a database while it is written. */
const DATABASE_PART = /-(?:wal|shm|journal)$/;

const SCRIPTS = new Set(['.ts', '.js', '.mjs']);
const ARCHIVES = new Set(['.zip', '.7z', '.rar', '.tar', '.tgz', '.gz', '.bz2', '.xz', '.zst']);

export class UnservedFiles {
  readonly #rels = new Set<string>();
  /** Those of the files, maybe more. */
  readonly #folders = new Set<string>();
  readonly #isSwitchedOff: (extension: string) => boolean;

  /** Extensions that the configuration takes from their kind. */
  constructor(isSwitchedOff: (extension: string) => boolean) {
    this.#isSwitchedOff = isSwitchedOff;
  }

  replace(rels: Iterable<string>): void {
    this.#rels.clear();
    this.#folders.clear();
    this.add(rels);
  }

  /** At most 10,000 are kept. */
  add(rels: Iterable<string>): void {
    for (const rel of rels) {
      if (this.#rels.size >= MAX_KEPT || DATABASE_PART.test(rel)) continue;
      this.#rels.add(rel);
      for (let end = rel.lastIndexOf('/'); end > 0; end = rel.lastIndexOf('/', end - 1)) {
        this.#folders.add(rel.slice(0, end));
      }
    }
  }

  /** The file, or everything below the folder. */
  forget(rel: string): void {
    if (this.#rels.delete(rel) || !this.#folders.delete(rel)) return;
    for (const one of this.#rels) if (isAtOrBelow(one, rel)) this.#rels.delete(one);
  }

  /** By rel; `rejected` are files of a kind that found nothing in them to publish. */
  list(rejected: Iterable<string>): ScanProblem[] {
    const found = [
      ...Array.from(this.#rels, (rel) => ({ rel, text: this.#reasonOf(rel) })),
      ...Array.from(rejected, (rel) => ({ rel, text: rejection(rel) })),
    ];
    return sortedByBytes(found, ({ rel }) => rel);
  }

  #reasonOf(rel: string): string {
    const extension = extensionOf(rel);
    if (extension === '') return 'its name has no extension';
    if (this.#isSwitchedOff(extension)) return `plugin_registry switches ${extension} off`;
    if (ARCHIVES.has(extension)) return `archives (${extension}) are not opened`;
    return `nothing reads ${extension}; plugin_registry may publish it as a file (${extension}: file)`;
  }
}

function rejection(rel: string): string {
  if (SCRIPTS.has(extensionOf(rel))) return 'a script that exports no router';
  return 'there is no table in it';
}
