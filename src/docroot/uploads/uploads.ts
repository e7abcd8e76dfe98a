/**
 * Files uploaded over the network, put into the document root whole or not at all.
 *
 * A body that is cut off, too large or malformed anywhere, also after the file, never gets a name. A stored file
 * answers under its name before the sender gets a response.
 */
import { matchesDocument } from '../../accounts/rights/resource-names.ts';
import { AppError } from '../../base/errors.ts';
import { invalidUploadName } from './upload-name.ts';
import {
  Reception,
  type UploadOrder,
  type StoredUpload,
  type UploadsOptions,
} from './upload-reception.ts';

export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the file is in the document root, answers under its name and has been read once, so that listings
   * show what is wrong with it. Throws `bad-request`, `conflict`, `too-large`, `locked`, `not-writable`, `no-space`;
   * the document root is then unchanged.
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
