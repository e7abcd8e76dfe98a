/**
 * Files uploaded over the network, put into the document root whole or not at all.
 *
 * A body that is cut off, too large or malformed anywhere never gets a name. A stored file answers under its name
 * before the sender gets a response. Only the rename happens under the file's lock, so a slow sender blocks nobody.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { ChangedDuringWrite, replaceFile, writeFailure } from '../../base/files/atomic-file.ts';
import { type FileStamp, isAbsence } from '../../base/files/file-stamp.ts';
import type { ReplacedFiles } from '../../base/files/replaced-files.ts';
import { matchesDocument } from '../../accounts/rights/resource-names.ts';
import type { FileVersions, KeptVersion } from '../file-versions.ts';
import type { FileLocks, HeldLock } from '../locks.ts';
import { isPlainRel } from '../document-root.ts';
import { targetPath } from '../opener.ts';
import type { KindTable } from '../registry/kind-table.ts';
import type { Registry, Resource } from '../registry/registry.ts';
import { type Chunks, requireFittingType, StagedContent, UploadContent } from './upload-content.ts';
import {
  checkUploadName,
  invalidUploadName,
  notAllowed,
  requireAllowedExtension,
  requireOpenName,
  type UploadNameRules,
} from './upload-name.ts';

/** In the order they were sent; the content is read before the next field is requested, or not at all. */
export interface UploadField {
  readonly name: string;
  /** Null for a plain field. */
  readonly filename: string | null;
  /** Declared media type; `''` for none. */
  readonly type: string;
  readonly content: Chunks;
}

export interface UploadRules extends UploadNameRules {
  readonly maxBytes: number;
  /** False: an existing file is left alone. */
  readonly overwrites: boolean;
  readonly isStrict: boolean;
  /** Applies with `isStrict`; empty: all. */
  readonly allowedTypes: readonly string[];
}

export interface UploadOrder {
  /** Relative to the document root; `''` is the root itself. */
  readonly folder: string;
  /** What the new content replaces; absent: whatever the rules allow. */
  readonly base?: FileStamp | null;
  /** Takes the lock, where the sender does not hold it already. */
  readonly acquire?: (rel: string) => Promise<HeldLock>;
  /** Null: the body is no form. */
  readonly fields: AsyncIterable<UploadField> | null;
  readonly owner: string;
  readonly userId: number;
  readonly rules: UploadRules;
  /** Called once the name is known and well formed, with its folder. */
  readonly onName: (rel: string) => void;
  /**
   * Under the lock before a new file gets its name, with the `ownText` it will have; throwing abandons the upload. It
   * may still become an overwrite, when another program is quicker.
   */
  readonly onCreate: (name: string, ownText: string | null) => Promise<void>;
  /** Under the lock right before the file gets its name; throwing abandons the upload. */
  readonly onNaming: () => Promise<void>;
  /** Called at once when the bytes are in their place; they stay there whatever fails later. */
  readonly onPlaced: (isNew: boolean) => void;
}

interface StoredUpload {
  readonly name: string;
  readonly size: number;
  readonly sniffed: string;
  /** SHA-256 in lower-case hex. */
  readonly checksum: string;
  readonly isNew: boolean;
  /** The permission text that covers this file and nothing else; null when there is none. */
  readonly ownText: string | null;
}

interface UploadsOptions {
  readonly registry: Registry;
  readonly kindOf: KindTable;
  readonly locks: FileLocks;
  readonly replaced: ReplacedFiles;
  /** Keeps what is overwritten. */
  readonly versions: FileVersions;
  /** Folder for content that arrives before its name; outside of what is published. */
  readonly scratch: string;
  /** Reads a dataset once, which notes what is wrong with it. */
  readonly read: (resource: Resource) => Promise<void>;
}

export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** False: a file of that name would be stored and shown to nobody. */
  serves(rel: string): boolean {
    return this.#options.kindOf(rel) !== undefined;
  }

  /**
   * Resolves when the file answers under its name and has been read once, so that listings show what is wrong with
   * it. Throws `bad-request`, `conflict`, `too-large`, `locked`, `not-writable`, `no-space`; the document root is
   * then unchanged.
   */
  async store(order: UploadOrder): Promise<StoredUpload> {
    if (order.fields === null) throw invalidUploadName();
    const fields = order.fields[Symbol.asyncIterator]();
    try {
      const stored = await new Reception(this.#options, order, fields).run();
      await this.#publish(stored.name);
      return { ...stored, ownText: ownTextOf(stored.name, this.#options) };
    } finally {
      await fields.return?.(undefined);
    }
  }

  async #publish(name: string): Promise<void> {
    const { registry, read } = this.#options;
    try {
      await registry.refresh([name]);
    } catch (error) {
      // Stored all the same; the watcher finds it when descriptors are free again.
      if (!(error instanceof AppError)) throw error;
      return;
    }
    await registry.listed(name);
    const own = registry.list().filter(({ rel }) => rel === name);
    for (const resource of own) {
      try {
        await read(resource);
      } catch (error) {
        // Stored all the same; the listing has the reason.
        if (!(error instanceof AppError)) throw error;
      }
    }
  }
}

function ownTextOf(
  name: string,
  { registry, kindOf }: Pick<UploadsOptions, 'registry' | 'kindOf'>,
): string | null {
  const kind = kindOf(name);
  // A name that is not published may be the extensionless name of another file.
  if (kind === undefined) return null;
  const text = kind.dataset?.sheets ? `${name}/*` : name;
  const opensOther = registry
    .list()
    .some(
      ({ rel, canonical, extensionForm }) =>
        rel.normalize('NFC') !== name &&
        (matchesDocument(text, canonical, false) || matchesDocument(text, extensionForm, true)),
    );
  return opensOther ? null : text;
}

/** A name has at most 255 bytes; a value this long is refused, not cut. */
const MAX_FIELD_BYTES = 4096;

type Placed = Omit<StoredUpload, 'ownText'>;

/** One upload. */
class Reception {
  readonly #options: UploadsOptions;
  readonly #order: UploadOrder;
  readonly #fields: AsyncIterator<UploadField>;
  readonly #content: UploadContent;
  #name: string | null = null;
  #hasFile = false;
  #declared = '';

  constructor(options: UploadsOptions, order: UploadOrder, fields: AsyncIterator<UploadField>) {
    this.#options = options;
    this.#order = order;
    this.#fields = fields;
    this.#content = new UploadContent(order.rules.maxBytes);
  }

  async run(): Promise<Placed> {
    const file = await this.#untilFile();
    if (file !== null && this.#name !== null) {
      return this.#place(this.#name, this.#direct(file.content));
    }
    await using staged = file === null ? null : await this.#stage(file.content);
    // A body that is malformed after the file is refused as a whole.
    await this.#untilFile();
    if (this.#name === null) throw invalidUploadName();
    if (staged === null) throw new AppError('bad-request', 'Missing file payload');
    return await this.#place(this.#name, staged.chunks());
  }

  /** Null when the form ends without one more file. */
  async #untilFile(): Promise<UploadField | null> {
    for (;;) {
      const { value, done } = await this.#fields.next();
      if (done === true) return null;
      if (value.name === 'filename') await this.#takeName(value.content);
      if (value.name !== 'file') continue;
      if (this.#hasFile) {
        throw new AppError('bad-request', 'Only one file can be uploaded at a time');
      }
      if (!(await isChosen(value))) continue;
      this.#hasFile = true;
      this.#declared = value.type;
      return value;
    }
  }

  async #takeName(content: Chunks): Promise<void> {
    const name = checkUploadName(await shortText(content));
    if (this.#name !== null && this.#name !== name) throw invalidUploadName();
    this.#name = name;
    this.#order.onName(relIn(this.#order.folder, name));
  }

  async *#direct(content: Chunks): AsyncGenerator<Uint8Array> {
    yield* this.#content.pass(content);
    await this.#untilFile();
  }

  async #stage(content: Chunks): Promise<StagedContent> {
    const staged = await StagedContent.open(this.#options.scratch);
    try {
      await staged.fill(this.#content.pass(content));
      return staged;
    } catch (error) {
      await staged[Symbol.asyncDispose]();
      throw writeFailure(error, 'upload');
    }
  }

  async #place(name: string, pieces: Chunks): Promise<Placed> {
    const { locks, replaced, versions } = this.#options;
    const { rules, owner, userId, base, acquire, onCreate, onNaming } = this.#order;
    const { rel, path, isTaken } = await this.#locate(name);
    const take = acquire ?? ((resource) => locks.acquire({ resource, owner, reason: 'upload' }));
    const held: HeldLock[] = [];
    let kept = null as KeptVersion | null;
    let isMade = false;
    try {
      // Spares the transfer; the check under the lock counts.
      if (isTaken && !rules.overwrites) throw existsAlready();
      const { overwritten } = await replaceFile({
        path,
        rel,
        base: base !== undefined ? base : rules.overwrites ? 'any' : null,
        pieces,
        replaced,
        beforeCommit: async () => {
          held.push(await take(rel));
          const isNew = !isThere(path);
          if (!rules.overwrites && !isNew) throw existsAlready();
          if (rules.isStrict) {
            const types = { sniffed: this.#content.sniffed(name), declared: this.#declared };
            requireFittingType(name, types, rules.allowedTypes);
          }
          if (isNew) await onCreate(rel, ownTextOf(rel, this.#options));
          await onNaming();
          if (isNew) return undefined;
          const nextHash = this.#content.checksum;
          const author = { userId, username: owner, action: 'upload', nextHash };
          kept = await versions.keep(rel, author);
          return kept.stamp;
        },
      });
      isMade = true;
      this.#order.onPlaced(!overwritten);
      const { size, checksum } = this.#content;
      return {
        name: rel,
        size,
        checksum,
        sniffed: this.#content.sniffed(name),
        isNew: !overwritten,
      };
    } catch (error) {
      throw error instanceof ChangedDuringWrite && !rules.overwrites ? existsAlready() : error;
    } finally {
      await kept?.close(isMade);
      for (const lock of held) await lock.release();
    }
  }

  async #locate(name: string): Promise<{ rel: string; path: string; isTaken: boolean }> {
    const { root } = this.#options.registry;
    const { rules } = this.#order;
    const rel = relIn(this.#order.folder, await this.#spellingOnDisk(name));
    if (!isPlainRel(rel)) throw notAllowed();
    const path = root.absolute(rel);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const real = found?.isSymbolicLink() ? requireInside(root, path) : path;
    const isOther =
      found !== undefined && !(lstatSync(real, { throwIfNoEntry: false })?.isFile() ?? false);
    if (isOther || !root.mayPublish(rel)) throw notAllowed();
    // A link must not lend its harmless name to its target.
    for (const each of new Set([name, basename(real).normalize('NFC')])) {
      requireOpenName(each);
      requireAllowedExtension(each, rules);
    }
    return { rel, path: targetPath(root, rel), isTaken: found !== undefined };
  }

  /** An existing file keeps its spelling: names that differ only in Unicode normalisation are one name. */
  async #spellingOnDisk(name: string): Promise<string> {
    const { root } = this.#options.registry;
    const { folder } = this.#order;
    if (!/[^\x20-\x7e]/.test(name) || isThere(root.absolute(relIn(folder, name)))) return name;
    const names = await readdir(folder === '' ? root.realPath : root.absolute(folder));
    return names.find((one) => one.normalize('NFC') === name) ?? name;
  }
}

function relIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function existsAlready(): AppError {
  return new AppError('conflict', 'Target file already exists and overwrite is disabled');
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Throws `bad-request` when the target of a link is outside or hidden. */
function requireInside(root: Registry['root'], path: string): string {
  try {
    const real = realpathSync(path);
    const rel = root.relOf(real);
    if (rel !== null && root.mayPublish(rel)) return real;
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
  throw new AppError('bad-request', 'Filename must stay at the document root');
}

/** A browser sends an empty field without a file name when no file was chosen. */
async function isChosen({ filename, content }: UploadField): Promise<boolean> {
  if (filename !== '') return true;
  for await (const chunk of content) {
    if (chunk.byteLength > 0) throw new AppError('bad-request', 'Missing file payload');
  }
  return false;
}

async function shortText(content: Chunks): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > MAX_FIELD_BYTES) throw invalidUploadName();
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
