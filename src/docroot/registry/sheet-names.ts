/**
 * Names of the tables in files that may hold several, read once for each version of a file. Kept across restarts by
 * the file's stamp; they may be lost at any time.
 */
import { AppError } from '../../base/errors.ts';
import { type FileStamp, isRacy, sameStamp } from '../../base/files/file-stamp.ts';
import { MemoryFile } from '../../base/files/memory-file.ts';
import type { Log } from '../../base/log.ts';
import { isStopping } from '../../processes/child-supply.ts';
import { Semaphore } from '../../base/scheduling/semaphore.ts';
import { version } from '../../base/version.ts';
import type { SheetName } from '../kind.ts';
import type { FoundFile } from './scan.ts';

/** Files opened at the same time; the workers have other things to do. */
const AT_ONCE = 2;
/** Pauses before a file is tried again; the last one repeats. */
const RETRY_MS = [500, 2_000, 10_000, 30_000];
/** Results within this time are saved together. */
const SAVE_AFTER_MS = 500;

interface SheetNamesOptions {
  /**
   * None: it is not published; null: it is one resource. Throws as the kind: `unreadable-file` and similar are final
   * for this version of the file.
   */
  readonly sheetsOf: (file: FoundFile) => Promise<readonly SheetName[] | null>;
  readonly publishesHidden: boolean;
  /** Resolves when all listeners are done. */
  readonly onListed: (file: FoundFile, problem: string | null) => Promise<void>;
  readonly memory: string | null;
  readonly log: Log;
}

interface Listed {
  readonly file: FoundFile;
  readonly names: readonly SheetName[] | null;
  /** False before the file was opened, and when it could not be read. */
  readonly isKnown: boolean;
}

interface SavedNames {
  readonly stamp: FileStamp;
  readonly names: readonly SheetName[] | null;
}

interface Saved {
  /** Of svc: another one may read other tables in a file. */
  readonly version: string;
  readonly files: readonly (readonly [rel: string, SavedNames])[];
}

export class SheetNames {
  readonly #options: SheetNamesOptions;
  readonly #memory: MemoryFile<Saved> | null;
  readonly #lists = new Map<string, Listed>();
  readonly #slots = new Semaphore(AT_ONCE);
  readonly #listings = new Map<string, Promise<void>>();
  #saved: Map<string, SavedNames> | null = null;
  #saving: Timer | null = null;

  constructor(options: SheetNamesOptions) {
    this.#options = options;
    const { memory, log } = options;
    this.#memory = memory === null ? null : new MemoryFile(memory, log);
  }

  /** Null: the file is one resource. Empty until the names are known; a changed file keeps its old ones meanwhile. */
  namesOf(rel: string): readonly string[] | null {
    const names = this.#lists.get(rel)?.names ?? null;
    if (names === null) return null;
    const { publishesHidden } = this.#options;
    return names.flatMap((name) =>
      typeof name === 'string' ? name : publishesHidden ? name.hidden : [],
    );
  }

  /** Those that are not published. */
  *hidden(): Generator<{ readonly rel: string; readonly sheet: string }> {
    if (this.#options.publishesHidden) return;
    for (const [rel, { names }] of this.#lists) {
      for (const name of names ?? []) {
        if (typeof name !== 'string') yield { rel, sheet: name.hidden };
      }
    }
  }

  /** Files in which their kind found nothing to publish. */
  *rejected(): Generator<FoundFile> {
    for (const { file, names, isKnown } of this.#lists.values()) {
      if (isKnown && names?.length === 0) yield file;
    }
  }

  /** It was not opened yet, or cannot be read. */
  isUnknown(rel: string): boolean {
    return this.#lists.get(rel)?.isKnown === false;
  }

  follow(files: ReadonlyMap<string, FoundFile>): void {
    for (const rel of this.#lists.keys()) if (!files.has(rel)) this.#lists.delete(rel);
    for (const file of files.values()) {
      if (!needsOpening(file)) continue;
      const known = this.#lists.get(file.rel);
      if (known?.file === file) continue;
      const saved = this.#savedNamesOf(file);
      const names = (saved ?? known ?? { names: [] }).names;
      this.#lists.set(file.rel, { file, names, isKnown: saved !== null });
      if (saved === null) this.#start(file, 0);
    }
  }

  /** A file whose companions changed is looked into again. */
  lookAgain(rel: string): void {
    const known = this.#lists.get(rel);
    if (known === undefined || known.file.kind.otherwise === undefined) return;
    this.#saved?.delete(rel);
    this.#start(known.file, 0);
  }

  async settled(rel?: string): Promise<void> {
    if (rel !== undefined) await this.#listings.get(rel);
    else while (this.#listings.size > 0) await Promise.all(this.#listings.values());
  }

  #start(file: FoundFile, attempt: number): void {
    const listing = this.#list(file, attempt).finally(() => {
      if (this.#listings.get(file.rel) === listing) this.#listings.delete(file.rel);
    });
    this.#listings.set(file.rel, listing);
  }

  async #list(file: FoundFile, attempt: number): Promise<void> {
    let names: readonly SheetName[] | null = null;
    let problem: string | null = null;
    try {
      names = await this.#slots.run(() =>
        this.#isCurrent(file) ? this.#options.sheetsOf(file) : null,
      );
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) {
        return this.#tryLater(file, attempt, error);
      }
      problem = error.message;
    }
    if (!this.#isCurrent(file)) return;
    this.#lists.set(file.rel, { file, names, isKnown: problem === null });
    this.#saveLater();
    await this.#options.onListed(file, problem);
  }

  #tryLater(file: FoundFile, attempt: number, error: unknown): void {
    if (isStopping(error)) return;
    this.#options.log.warning('the tables of a file could not be listed', {
      file: file.rel,
      error,
    });
    const pause = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)];
    setTimeout(() => {
      if (this.#isCurrent(file)) this.#start(file, attempt + 1);
    }, pause).unref();
  }

  #isCurrent(file: FoundFile): boolean {
    return this.#lists.get(file.rel)?.file === file;
  }

  #savedNamesOf({ rel, stamp }: FoundFile): SavedNames | null {
    this.#saved ??= this.#load();
    const known = this.#saved.get(rel);
    return known !== undefined && sameStamp(known.stamp, stamp) ? known : null;
  }

  #load(): Map<string, SavedNames> {
    const files = this.#memory?.load((saved) => saved.version === version && new Map(saved.files));
    return files || new Map();
  }

  #saveLater(): void {
    const memory = this.#memory;
    if (memory === null) return;
    this.#saving ??= setTimeout(() => this.#save(memory), SAVE_AFTER_MS);
    this.#saving.unref();
  }

  #save(memory: MemoryFile<Saved>): void {
    this.#saving = null;
    const files = [...this.#lists.values()].flatMap(({ file: { rel, stamp }, names, isKnown }) =>
      // So recent a stamp may hide a later change.
      !isKnown || isRacy(stamp, Date.now()) ? [] : [[rel, { stamp, names }] as const],
    );
    this.#saved = new Map(files);
    memory.save({ version, files });
  }
}

function needsOpening({ rel, kind }: FoundFile): boolean {
  return kind.dataset?.sheets !== undefined || kind.detection?.needsContent(rel) === true;
}
