/**
 * One upload on its way in: its fields in whatever order they come, then its place (DS-153).
 *
 * The bytes go straight into a hidden temporary file beside their place; only the replacing happens under the file's lock, so a
 * slow sender keeps nobody waiting.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { ChangedDuringWrite, replaceFile, writeFailure } from '../base/atomic-file.ts';
import { AppError } from '../base/errors.ts';
import { isAbsence } from '../base/file-stamp.ts';
import type { HeldLock } from './locks.ts';
import { targetPath } from './opener.ts';
import type { Registry } from './registry.ts';
import { type Chunks, StagedContent, UploadContent } from './upload-content.ts';
import {
  checkUploadName,
  invalidUploadName,
  notAllowed,
  requireAllowedExtension,
  requireOpenName,
} from './upload-name.ts';
import { requireFittingType } from './upload-type.ts';
import type { StoredUpload, UploadField, UploadOrder, UploadsOptions } from './uploads.ts';

/** A name has 255 bytes; one this long is not cut off but refused. */
const MAX_FIELD_BYTES = 4096;

interface ReceptionOrder extends Omit<UploadOrder, 'onCreate'> {
  readonly onCreate: (name: string) => Promise<void>;
}

/** One upload on its way in. */
export class Reception {
  readonly #options: UploadsOptions;
  readonly #order: ReceptionOrder;
  readonly #fields: AsyncIterator<UploadField>;
  readonly #content: UploadContent;
  #name: string | null = null;
  #hasFile = false;
  #declared = '';

  constructor(options: UploadsOptions, order: ReceptionOrder, fields: AsyncIterator<UploadField>) {
    this.#options = options;
    this.#order = order;
    this.#fields = fields;
    this.#content = new UploadContent(order.rules.maxBytes);
  }

  /** See `Uploads.store`. */
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
