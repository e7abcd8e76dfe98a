/**
 * Files that come in over the network, put into the document root whole or not at all (DS-153 to DS-155).
 *
 * Nothing of a body that is cut off, too large or malformed anywhere, also behind the file, ever gets a name. What is stored
 * answers under its name before the sender is told.
 */
import { matchesDocument } from '../auth/resource-names.ts';
import { AppError } from '../base/errors.ts';
import type { ReplacedFiles } from '../base/replaced-files.ts';
import type { KindTable } from './kind-table.ts';
import type { FileLocks } from './locks.ts';
import type { Registry, Resource } from './registry.ts';
import type { Chunks } from './upload-content.ts';
import { invalidUploadName, type UploadNameRules } from './upload-name.ts';
import { Reception } from './upload-reception.ts';

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

/** What uploads need. */
export interface UploadsOptions {
  readonly registry: Registry;
  readonly kindOf: KindTable;
  readonly locks: FileLocks;
  readonly replaced: ReplacedFiles;
  /** Folder for content whose name comes after it; outside of what is published. */
  readonly scratch: string;
  /** Reads a dataset once, which notes what is wrong with it. */
  readonly read: (resource: Resource) => Promise<void>;
}

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
    try {
      await registry.refresh([name]);
    } catch (error) {
      // It is stored all the same; whoever watches the folder finds it when something can be opened again.
      if (!(error instanceof AppError)) throw error;
      return;
    }
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
