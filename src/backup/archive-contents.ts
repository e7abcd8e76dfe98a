/**
 * Adds the contents of a backup. A file that another program changes in place while it is read is read again; svc
 * itself replaces files, so an open one does not change.
 */
import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import { AppError } from '../base/errors.ts';
import { unlessGone } from '../base/files/file-stamp.ts';
import type { DocumentRoot } from '../docroot/document-root.ts';
import { CHECKSUMS, MANIFEST, type Manifest } from './archive-format.ts';
import {
  type ArchiveFile,
  listDocroot,
  snapshotState,
  snapshotTables,
  tablesWithOwnIds,
} from './backup-contents.ts';

const MAX_READS = 5;
/** In ms; the copy of a large table follows its file within some. */
const FOLLOWED_MS = 20;

interface ContentsOptions {
  readonly root: DocumentRoot;
  readonly stateDir: string;
  readonly withDocroot: boolean;
}

export interface Backup {
  readonly files: number;
  /** Before compression. */
  readonly bytes: number;
}

type FileVersion = Pick<Stats, 'ino' | 'size' | 'mtimeMs'>;

export class ArchiveContents {
  readonly #archive: Pack;
  readonly #options: ContentsOptions;
  readonly #folder: string;
  readonly #sums = new Map<string, string>();
  /** By entry; null for a link. */
  readonly #added = new Map<string, FileVersion | null>();
  #bytes = 0;

  constructor(archive: Pack, options: ContentsOptions, folder: string) {
    this.#archive = archive;
    this.#options = options;
    this.#folder = folder;
  }

  /** Call once. Throws `conflict` for a file that keeps changing. */
  async add(manifest: Manifest): Promise<Backup> {
    const { root, stateDir, withDocroot } = this.#options;
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await addText(this.#archive, MANIFEST, text, this.#sums);
    for (const file of await listDocroot(root, withDocroot)) await this.#addFile(file);
    if (withDocroot) {
      const tables = await tablesWithOwnIds(stateDir);
      for (const [rel, names] of tables) await this.#addTables(rel, names);
    }
    // Files before the state: a row change in between is then in the audit but not in the file, never the reverse.
    for (const file of await snapshotState(stateDir, this.#folder)) await this.#addFile(file);
    const lines = [...this.#sums].map(([name, sum]) => `${sum}  ${name}\n`);
    await addText(this.#archive, CHECKSUMS, lines.join(''), new Map());
    this.#archive.finalize();
    return { files: this.#added.size, bytes: this.#bytes };
  }

  /** Left out when deleted meanwhile. */
  async #addFile(file: ArchiveFile): Promise<void> {
    const name = nameOf(file);
    if (file.link !== null) {
      this.#archive.entry({ name, type: 'symlink', linkname: file.link });
      this.#added.set(name, null);
      return;
    }
    await using handle = await unlessGone(open(file.path, 'r'));
    if (handle === null) return;
    // The same handle each time: it still reads a replaced or deleted file completely.
    for (let read = 1; read <= MAX_READS; read++) if (await this.#addOpen(file, handle)) return;
    throw new AppError('conflict', `'${file.rel}' changes faster than it can be read`);
  }

  /** False when the file changed meanwhile. */
  async #addOpen(file: ArchiveFile, handle: FileHandle): Promise<boolean> {
    const name = nameOf(file);
    const before = await handle.stat();
    const hash = createHash('sha256');
    const entry = this.#archive.entry({
      name,
      size: before.size,
      mode: file.part === 'state' ? 0o600 : before.mode & 0o777,
      mtime: before.mtime,
    });
    await pipeline(exactly(file.path, handle.fd, before.size, hash), entry);
    this.#sums.set(name, hash.digest('hex'));
    if (!isSameVersion(await handle.stat(), before)) return false;
    this.#added.set(name, before);
    this.#bytes += before.size;
    return true;
  }

  /**
   * Adds snapshots of a file's tables, and before them the file again when it was replaced meanwhile. Snapshots that
   * match no version of the file are left out: a restore would ignore them.
   */
  async #addTables(rel: string, names: readonly string[]): Promise<void> {
    const { root, stateDir } = this.#options;
    const file: ArchiveFile = { part: 'docroot', rel, path: root.absolute(rel), link: null };
    for (let read = 1; read <= MAX_READS; read++) {
      await using handle = await unlessGone(open(file.path, 'r'));
      if (handle === null) return;
      const copies = await snapshotTables(stateDir, this.#folder, names, handle);
      if (copies !== null && (await this.#isAdded(file, handle))) {
        for (const copy of copies) await this.#addFile(copy);
        return;
      }
      // Changed in place: an entry mixed of two versions must not be the last one.
      if (copies !== null) await this.#addFile(file);
      await Bun.sleep(read * FOLLOWED_MS);
    }
  }

  async #isAdded(file: ArchiveFile, handle: FileHandle): Promise<boolean> {
    const added = this.#added.get(nameOf(file));
    if (added === null) return true;
    const isSame = added !== undefined && isSameVersion(await handle.stat(), added);
    return isSame || this.#addOpen(file, handle);
  }
}

function nameOf({ part, rel }: ArchiveFile): string {
  return `${part}/${rel}`;
}

function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs;
}

async function addText(
  archive: Pack,
  name: string,
  text: string,
  sums: Map<string, string>,
): Promise<void> {
  const bytes = Buffer.from(text);
  sums.set(name, createHash('sha256').update(bytes).digest('hex'));
  const entry = archive.entry({ name, size: bytes.length, mode: 0o600 });
  await pipeline(Readable.from([bytes]), entry);
}

/** `size` bytes of an open file, even when it was truncated since. */
async function* exactly(
  path: string,
  fd: number,
  size: number,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  let left = size;
  if (left > 0) {
    const stream = createReadStream(path, { fd, autoClose: false, start: 0, end: size - 1 });
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      left -= chunk.length;
      yield chunk;
    }
  }
  // Truncated meanwhile: the entry has announced its size, so it is padded and the file read again.
  while (left > 0) {
    const filler = new Uint8Array(Math.min(left, 65_536));
    left -= filler.length;
    yield filler;
  }
}
