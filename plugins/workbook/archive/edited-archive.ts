/** A workbook between the old file and the new one: the old archive, some of whose parts are replaced. */
import type { Archive, ArchiveEntry } from './archive.ts';
import { rewrittenArchive } from './archive-edit.ts';
import { expand, inflatedChunks, STORED } from './expansion.ts';
import { pack, type PackedPart } from './part-writer.ts';
import type { Piece } from '../../../src/base/files/piece-writer.ts';
import { partText } from '../xlsx/package.ts';

export class EditedArchive {
  readonly #archive: Archive;
  readonly #parts = new Map<ArchiveEntry, PackedPart>();
  /** One character per byte. */
  readonly #texts = new Map<ArchiveEntry, string>();
  readonly #removed = new Set<ArchiveEntry>();

  constructor(archive: Archive) {
    this.#archive = archive;
  }

  replace(entry: ArchiveEntry, part: PackedPart): void {
    this.#parts.set(entry, part);
  }

  replaceText(entry: ArchiveEntry, text: string): void {
    this.#texts.set(entry, text);
  }

  remove(entry: ArchiveEntry): void {
    this.#removed.add(entry);
  }

  async textOf(entry: ArchiveEntry): Promise<string> {
    return this.#texts.get(entry) ?? partText(this.#archive, entry);
  }

  /** As `expand`, of the part as it is now. */
  expand(entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
    const part = this.#parts.get(entry);
    if (part === undefined) return expand(this.#archive, entry);
    return part.method === STORED ? chunksOf(part) : inflatedChunks(part.chunks);
  }

  async pieces(): Promise<readonly Piece[]> {
    const replaced = new Map(this.#parts);
    for (const [entry, text] of this.#texts) {
      replaced.set(entry, await pack(Buffer.from(text, 'latin1'), entry.method));
    }
    return rewrittenArchive(this.#archive, { replaced, removed: this.#removed });
  }
}

async function* chunksOf({ chunks }: PackedPart): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
