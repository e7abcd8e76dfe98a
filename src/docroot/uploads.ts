/**
 * Files that come in over the network, put into the document root whole or not at all (DS-153 to DS-155).
 *
 * The bytes go straight into a hidden temporary file beside their place while they are counted, hashed and looked at; only
 * the replacing happens under the file's lock, so a slow sender keeps nobody waiting. Nothing of a body that is cut off,
 * too large or malformed anywhere, also behind the file, ever gets a name.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { matchesDocument } from '../auth/resource-names.ts';
import { ChangedDuringWrite, replaceFile, writeFailure } from '../base/atomic-file.ts';
import { AppError } from '../base/errors.ts';
import { isAbsence } from '../base/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import { writePieces } from '../base/piece-writer.ts';
import type { ReplacedFiles } from '../base/replaced-files.ts';
import type { KindTable } from './kind-table.ts';
import type { FileLocks, HeldLock } from './locks.ts';
import { targetPath } from './opener.ts';
import type { Registry, Resource } from './registry.ts';
import {
  checkUploadName,
  invalidUploadName,
  notAllowed,
  requireAllowedExtension,
  requireOpenName,
  type UploadNameRules,
} from './upload-name.ts';
import { requireFittingType, SNIFFED_BYTES, sniffType } from './upload-type.ts';

type Chunks = AsyncIterable<Uint8Array>;

/** A field of the form, in the order they were sent; its content is read before the next is asked for, or not at all. */
export interface UploadField {
  readonly name: string;
  /** Null for a plain field. */
  readonly filename: string | null;
  /** Declared media type; `''` for none. */
  readonly type: string;
  readonly content: Chunks;
}

/** The configuration as it is when an upload begins. */
export interface UploadRules extends UploadNameRules {
  readonly maxBytes: number;
  /** False: an existing file is left alone. */
  readonly overwrites: boolean;
  readonly isStrict: boolean;
  /** Counts with `isStrict`; empty: all. */
  readonly allowedTypes: readonly string[];
}

/** One upload. */
export interface UploadOrder {
  /** Null: the body is no form. */
  readonly fields: AsyncIterable<UploadField> | null;
  /** Username, for the lock. */
  readonly owner: string;
  readonly rules: UploadRules;
  /** Told the name once it is known and well formed. */
  readonly onName: (name: string) => void;
  /**
   * Called under the lock before a file that was not there gets its name, with the `ownText` it will have; what it throws
   * abandons the upload. It may turn out an overwrite all the same, when another program is quicker.
   */
  readonly onCreate: (name: string, ownText: string | null) => Promise<void>;
  /** Told at once when the bytes are in their place and stay there, whatever fails from then on. */
  readonly onPlaced: (isNew: boolean) => void;
}

/** A file that is in its place, durable and published. */
export interface StoredUpload {
  readonly name: string;
  readonly size: number;
  readonly sniffed: string;
  /** SHA-256 in lower-case hex. */
  readonly checksum: string;
  readonly isNew: boolean;
  /** The permission text that opens this file and nothing else (DS-156); null when there is none. */
  readonly ownText: string | null;
}

interface UploadsOptions {
  readonly registry: Registry;
  readonly kindOf: KindTable;
  readonly locks: FileLocks;
  readonly replaced: ReplacedFiles;
  /** Folder for content whose name comes after it; outside of what is published. */
  readonly scratch: string;
  /** Reads a dataset once, which notes what is wrong with it. */
  readonly read: (resource: Resource) => Promise<void>;
}

/** A name has 255 bytes; one this long is not cut off but refused. */
const MAX_FIELD_BYTES = 4096;
const READ_BYTES = 1024 * 1024;

/** The way in for files. */
export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the file stands in the document root, answers under its name and has been read once, so that listings
   * tell what is wrong with it. Throws `bad-request` and `conflict` as DS-153 has it, `too-large`, `locked`,
   * `not-writable`, `no-space`; the document root is then as it was.
   */
  async store(order: UploadOrder): Promise<StoredUpload> {
    if (order.fields === null) throw invalidUploadName();
    const fields = order.fields[Symbol.asyncIterator]();
    try {
      const onCreate = (name: string): Promise<void> => order.onCreate(name, this.#ownTextOf(name));
      const stored = await new Reception(this.#options, { ...order, onCreate }, fields).run();
      await this.#publish(stored.name);
      return { ...stored, ownText: this.#ownTextOf(stored.name) };
    } finally {
      await fields.return?.(undefined);
    }
  }

  async #publish(name: string): Promise<void> {
    const { registry, read } = this.#options;
    await registry.refresh([name]);
    await registry.listed();
    const own = registry.list().filter(({ rel }) => rel === name);
    for (const resource of own) {
      try {
        await read(resource);
      } catch (error) {
        // It is stored all the same; the listing has the reason (DS-155).
        if (!(error instanceof AppError)) throw error;
      }
    }
  }

  #ownTextOf(name: string): string | null {
    const { registry, kindOf } = this.#options;
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
}

interface ReceptionOrder extends Omit<UploadOrder, 'onCreate'> {
  readonly onCreate: (name: string) => Promise<void>;
}

/** One upload on its way in. */
class Reception {
  readonly #options: UploadsOptions;
  readonly #order: ReceptionOrder;
  readonly #fields: AsyncIterator<UploadField>;
  readonly #content: Content;
  #name: string | null = null;
  #hasFile = false;
  #declared = '';

  constructor(options: UploadsOptions, order: ReceptionOrder, fields: AsyncIterator<UploadField>) {
    this.#options = options;
    this.#order = order;
    this.#fields = fields;
    this.#content = new Content(order.rules.maxBytes);
  }

  async run(): Promise<Omit<StoredUpload, 'ownText'>> {
    const file = await this.#untilFile();
    if (file !== null && this.#name !== null) {
      return this.#place(this.#name, this.#direct(file.content));
    }
    await using staged = file === null ? null : await this.#stage(file.content);
    await this.#rest();
    if (this.#name === null) throw invalidUploadName();
    if (staged === null) throw new AppError('bad-request', 'Missing file payload');
    return await this.#place(this.#name, staged.chunks());
  }

  /** The file's field; null when the form ends without a file. */
  async #untilFile(): Promise<UploadField | null> {
    for (;;) {
      const { value, done } = await this.#fields.next();
      if (done === true) return null;
      if (value.name === 'filename') await this.#takeName(value.content);
      if (value.name !== 'file' || !(await isChosen(value))) continue;
      this.#hasFile = true;
      this.#declared = value.type;
      return value;
    }
  }

  /** The fields behind the file: a body that is broken there is broken altogether. */
  async #rest(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#fields.next();
      if (done === true) return;
      if (value.name === 'filename') await this.#takeName(value.content);
      if (value.name === 'file' && this.#hasFile) {
        throw new AppError('bad-request', 'Only one file can be uploaded at a time');
      }
    }
  }

  async #takeName(content: Chunks): Promise<void> {
    const name = checkUploadName(await shortText(content));
    if (this.#name !== null && this.#name !== name) throw invalidUploadName();
    this.#name = name;
    this.#order.onName(name);
  }

  async *#direct(content: Chunks): AsyncGenerator<Uint8Array> {
    yield* this.#content.pass(content);
    await this.#rest();
  }

  /** Keeps the content until its name is known. */
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

  async #place(name: string, pieces: Chunks): Promise<Omit<StoredUpload, 'ownText'>> {
    const { locks, replaced } = this.#options;
    const { rules, owner, onCreate } = this.#order;
    const { rel, path, isTaken } = await this.#locate(name);
    const held: HeldLock[] = [];
    try {
      // Known before the lock to spare the sending; what counts is found under it.
      if (isTaken && !rules.overwrites) throw existsAlready();
      const { overwritten } = await replaceFile({
        path,
        rel,
        base: rules.overwrites ? 'any' : null,
        pieces,
        replaced,
        beforeCommit: async () => {
          held.push(await locks.acquire({ resource: rel, owner, reason: 'upload' }));
          const isNew = !isThere(path);
          if (!rules.overwrites && !isNew) throw existsAlready();
          if (rules.isStrict) {
            const types = { sniffed: this.#content.sniffed(name), declared: this.#declared };
            requireFittingType(name, types, rules.allowedTypes);
          }
          if (isNew) await onCreate(name);
        },
      });
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
      for (const lock of held) await lock.release();
    }
  }

  /** Where the file goes, after rows 7 to 9 of DS-153. */
  async #locate(name: string): Promise<{ rel: string; path: string; isTaken: boolean }> {
    const { root } = this.#options.registry;
    const { rules } = this.#order;
    const rel = await this.#spellingOnDisk(name);
    const path = root.absolute(rel);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const real = found?.isSymbolicLink() ? requireInside(root, path) : path;
    const isOther =
      found !== undefined && !(lstatSync(real, { throwIfNoEntry: false })?.isFile() ?? false);
    if (isOther || !root.mayPublish(rel)) throw notAllowed();
    // A link must not lend its harmless name to what it leads to.
    for (const each of new Set([name, basename(real).normalize('NFC')])) {
      requireOpenName(each);
      requireAllowedExtension(each, rules);
    }
    return { rel, path: targetPath(root, rel), isTaken: found !== undefined };
  }

  /** Names that differ in Unicode normalisation only are one name (DS-5): the file that has it keeps its spelling. */
  async #spellingOnDisk(name: string): Promise<string> {
    const { root } = this.#options.registry;
    if (!/[^\x20-\x7e]/.test(name) || isThere(root.absolute(name))) return name;
    const names = await readdir(root.realPath);
    return names.find((one) => one.normalize('NFC') === name) ?? name;
  }
}

/** Content on its way through: counted, hashed, looked at. */
class Content {
  readonly #maxBytes: number;
  readonly #hash = new Bun.CryptoHasher('sha256');
  #head: Buffer = Buffer.alloc(0);
  #hasNul = false;
  #checksum: string | null = null;
  size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  async *pass(chunks: Chunks): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.size += chunk.byteLength;
      if (this.size > this.#maxBytes) throw uploadTooLarge();
      this.#hash.update(chunk);
      if (this.#head.length < SNIFFED_BYTES) {
        const missing = SNIFFED_BYTES - this.#head.length;
        this.#head = Buffer.concat([this.#head, chunk.subarray(0, missing)]);
      }
      this.#hasNul ||= chunk.includes(0);
      yield chunk;
    }
  }

  get checksum(): string {
    return (this.#checksum ??= this.#hash.digest('hex'));
  }

  sniffed(name: string): string {
    return sniffType(name, { head: this.#head, hasNul: this.#hasNul });
  }
}

/** Content in a file that has no name any more, so that nothing is left of it whatever happens. */
class StagedContent implements AsyncDisposable {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<StagedContent> {
    const path = join(folder, `upload-${shortId()}`);
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new StagedContent(handle);
  }

  async fill(chunks: Chunks): Promise<void> {
    const files = {
      source: null,
      sourceSize: 0,
      target: this.#handle,
      onSourceCut: () => new Error('there is no source'),
    };
    this.#size = (await writePieces(chunks, files)).size;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#size;) {
      const { bytesRead, buffer } = await this.#handle.read(
        new Uint8Array(Math.min(READ_BYTES, this.#size - at)),
        { position: at },
      );
      if (bytesRead === 0) throw new Error('the staged content was cut');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** The refusal of what is longer than an upload may be. */
export function uploadTooLarge(): AppError {
  return new AppError('too-large', 'Upload exceeds the configured size limit');
}

function existsAlready(): AppError {
  return new AppError('conflict', 'Target file already exists and overwrite is disabled');
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What a link leads to. Throws `bad-request` when that is outside or hidden. */
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

/** False for the empty field without a file name that a browser sends when no file was chosen. */
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
