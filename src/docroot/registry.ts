/**
 * Everything the document root publishes, by every name (DS-23 to DS-34).
 *
 * The registry follows the files: `rescan` looks at all of them, `refresh` at the paths a watcher named. Both run one
 * after the other, in the order of their calls, and when one resolves the names and the listeners know. Reading a
 * name never touches the disk, so it may lag behind it by the watcher's delay; contents are checked on each read.
 */
import { errnoOf, isOutOfDescriptors, outOfDescriptors } from '../base/errors.ts';
import { isAbsence, sameStamp, type FileStamp } from '../base/file-stamp.ts';
import type { Log } from '../base/log.ts';
import { Mutex } from '../base/semaphore.ts';
import { removeStaleTemporaries } from '../base/temporary-files.ts';
import { TimeSlice } from '../base/time-slice.ts';
import { AwayMounts } from './away-mounts.ts';
import { companionPaths, isCompanion, type CompanionPaths } from './companions.ts';
import { isAtOrBelow, type DocumentRoot } from './document-root.ts';
import type { KindTable } from './kind-table.ts';
import type { Family, Kind, ResourceType } from './kind.ts';
import { Names, stemNameOf, type Area, type SharedName } from './names.ts';
import { scan, type FoundFile, type Scan, type ScanProblem } from './scan.ts';
import { SheetNames } from './sheet-names.ts';

/** Something published: a file or, later, one table in it. A snapshot: a change makes a new object. */
export interface Resource {
  readonly type: ResourceType;
  readonly family: Family;
  /** Path relative to the document root, as on disk. */
  readonly rel: string;
  readonly sheet: string | null;
  /** Unique; the name it is listed under (DS-25). In NFC. */
  readonly canonical: string;
  /** Always denotes this resource. In NFC. */
  readonly extensionForm: string;
  readonly kind: Kind;
  /** Why it cannot be read, or what is wrong with its companions (DS-34, DS-70); null when all is well. */
  readonly problem: string | null;
}

/** What one look at the files changed. `changed` covers content, names and companion files; `removed` the old state. */
export interface RegistryChange {
  readonly added: readonly Resource[];
  readonly changed: readonly Resource[];
  readonly removed: readonly Resource[];
}

/** May return a promise, which the call that found the change waits for; it must not call the registry's updates. */
export type RegistryListener = (change: RegistryChange) => void | Promise<void>;

interface RegistryOptions {
  readonly root: DocumentRoot;
  readonly kindOf: KindTable;
  readonly log: Log;
  /**
   * Names of the tables in a file of a kind with `sheets`, none for a file its kind's `detection` rejects, null for a file
   * that is one resource; asked once for each version of the file. Throws as the kind. Absent: null for all.
   */
  readonly sheetsOf?: (file: FoundFile) => Promise<readonly string[] | null>;
  /** File in which the answers are remembered across restarts; absent: they are asked for at every start. */
  readonly sheetMemory?: string | null;
  /** File in which mounted file systems are remembered across restarts; absent: a restart takes what is not there for gone. */
  readonly mountMemory?: string | null;
  /**
   * Wall clock at which this process started: the first scan deletes temporary files that are older. Null in a process
   * that is not the only one to write (a command beside `serve`): nothing is deleted, it might be in use.
   */
  readonly startedAtMs: number | null;
}

type Token = Pick<Resource, 'type' | 'family' | 'rel' | 'sheet'>;

/** The resources of one document root; empty until the first `rescan`. */
export class Registry {
  readonly root: DocumentRoot;
  readonly #options: RegistryOptions;
  readonly #updates = new Mutex();
  readonly #listeners = new Set<RegistryListener>();
  #files: ReadonlyMap<string, FoundFile> = new Map();
  /** Of files whose content decides what they are; null: none does. */
  readonly #sheets: SheetNames | null;
  readonly #mounts: AwayMounts;
  /** The root itself was not there when it was last looked at. */
  #isRootAway = false;
  #names = new Names<Token>([]);
  #resources = new Map<string, Resource>();
  #sorted: readonly Resource[] | null = null;
  #brokenLinks = new Set<string>();
  #problems: readonly ScanProblem[] = [];
  /** Files and folders of which nothing can be told now. */
  #outOfSight: ReadonlySet<string> = new Set();
  #isFirstScan = true;

  constructor(options: RegistryOptions) {
    this.root = options.root;
    this.#options = options;
    const { sheetsOf, sheetMemory = null, mountMemory = null, log } = options;
    this.#mounts = new AwayMounts({ memory: mountMemory, now: () => Date.now(), log });
    this.#sheets =
      sheetsOf === undefined
        ? null
        : new SheetNames({
            sheetsOf,
            memory: sheetMemory,
            log,
            onListed: (file, problem) => this.#followSheets(file, problem),
          });
  }

  /** Looks at the whole document root. A root that is gone publishes nothing until it is back. Throws `unavailable` when nothing can be opened; what was known stays. */
  async rescan(): Promise<RegistryChange> {
    return this.#update(async () => {
      const { files, brokenLinks, problems } = await this.#looking(() => this.#scanAll());
      this.#isFirstScan = false;
      this.#brokenLinks = new Set(brokenLinks);
      const next = new Map(files.map((file) => [file.rel, this.#sameOr(file)]));
      this.#keepOutOfSight(next, problems);
      return this.#publish(next, problems, []);
    });
  }

  /** Looks at the given rels (files, folders, companions; existing or not) and at what lies below them. Throws as `rescan` does. */
  async refresh(rels: Iterable<string>): Promise<RegistryChange> {
    const companions = new Set<string>();
    const wanted = new Set<string>();
    for (const rel of rels) {
      if (isCompanion(rel)) companions.add(rel);
      else if (rel !== '' && this.root.mayPublish(rel)) wanted.add(rel);
    }
    return this.#update(async () => {
      const next = new Map(this.#files);
      const problems = new Map(this.#problems.map((problem) => [problem.rel, problem]));
      if (wanted.size > 0) await this.#looking(() => this.#look(wanted, next, problems));
      return this.#publish(next, [...problems.values()], [...companions]);
    });
  }

  /** Resolves when the tables of all files found so far are known. */
  async listed(): Promise<void> {
    await this.#sheets?.settled();
  }

  /** All resources by rel in byte order. */
  list(): readonly Resource[] {
    this.#sorted ??= this.#names.named.map(({ table }) => this.#resourceOf(table));
    return this.#sorted;
  }

  /** The resource of a file, or of one table in it. */
  get(rel: string, sheet: string | null = null): Resource | null {
    return this.#resources.get(keyOf({ rel, sheet })) ?? null;
  }

  /** What a name (decoded, or as segments of `decodePath`) denotes in an area (DS-26, DS-28); null for no resource. */
  lookup(area: Area, name: string | readonly string[]): Resource | null {
    const token = this.#names.find(area, typeof name === 'string' ? name : name.join('/'));
    return token && this.#resourceOf(token);
  }

  /** The handler that takes a path below `/api`, and the rest of the path; for when `lookup` finds nothing (DS-27). */
  lookupHandler(
    segments: readonly string[],
  ): { readonly resource: Resource; readonly rest: readonly string[] } | null {
    const found = this.#names.findHandler(segments);
    return found && { resource: this.#resourceOf(found.table), rest: found.rest };
  }

  /** The stamp the file had when it was last looked at, for what follows changes; a read asks the file itself. */
  stampOf(resource: Pick<Resource, 'rel'>): FileStamp | null {
    return this.#files.get(resource.rel)?.stamp ?? null;
  }

  /** Rels of the companion files that count for a resource. */
  companionsOf(resource: Resource): CompanionPaths {
    const ownsStem = resource.canonical === stemNameOf(resource);
    return companionPaths(resource.rel, resource.sheet, ownsStem);
  }

  /**
   * Notes why a resource cannot be read; null when it can. Kept until the file or a companion changes. Unknown
   * resources are ignored: the file may have vanished while it was read.
   */
  setProblem(resource: Pick<Resource, 'rel' | 'sheet'>, problem: string | null): void {
    const key = keyOf(resource);
    const current = this.#resources.get(key);
    if (current === undefined || current.problem === problem) return;
    this.#resources.set(key, { ...current, problem });
    this.#sorted = null;
    const fields = { resource: current.rel, sheet: current.sheet ?? undefined };
    if (problem === null) this.#options.log.info('resource is readable again', fields);
    else this.#options.log.warning('resource has a problem', { ...fields, problem });
  }

  /** Resources that had to leave their extensionless name to another one (DS-25), by rel. */
  sharedNames(): readonly SharedName<Token>[] {
    return this.#names.shared;
  }

  /** Files and folders that could not be looked at, or that no name can reach. */
  scanProblems(): readonly ScanProblem[] {
    return [
      ...this.#problems,
      ...this.#names.unreachable.map(({ table, holder }) => ({
        rel: table.rel,
        text: `the name differs from '${holder.rel}' in Unicode normalisation only`,
      })),
    ];
  }

  /**
   * Whether a file that is not published may come back as it was: its file system is not mounted, or what was there is out of
   * sight. As of the last look.
   */
  isAway(rel: string): boolean {
    return (
      this.#isRootAway || this.#mounts.isAway(this.root.absolute(rel)) || this.isOutOfSight(rel)
    );
  }

  /** Whether the file is there, but which tables are in it is not known: they are as it was, or none are published. */
  isUnlisted(rel: string): boolean {
    return this.#sheets?.isUnknown(rel) === true;
  }

  /** Whether nothing can be told now of a rel, or of a name in its place. As of the last look. */
  isOutOfSight(rel: string): boolean {
    return isCovered(rel, this.#outOfSight);
  }

  /** Calls `listener` after every update that changed something; answers the way to stop it. */
  onChange(listener: RegistryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #update(work: () => Promise<RegistryChange>): Promise<RegistryChange> {
    const heard: Promise<void>[] = [];
    const change = await this.#updates.run(async () => {
      const made = await work();
      // Called before the next update may start, so that listeners hear of changes in order.
      if (isSome(made))
        for (const listener of this.#listeners) heard.push(this.#tell(listener, made));
      return made;
    });
    await Promise.all(heard);
    return change;
  }

  async #tell(listener: RegistryListener, change: RegistryChange): Promise<void> {
    try {
      await listener(change);
    } catch (error) {
      // One follower's failure must not keep the others, or the names themselves, from being up to date.
      this.#options.log.error('a change of the document root was not followed', { error });
    }
  }

  #looking<T>(look: () => Promise<T>): Promise<T> {
    return this.#mounts.during(() => this.root.realPath, look);
  }

  async #scanAll(): Promise<Scan> {
    const { root, kindOf, startedAtMs } = this.#options;
    try {
      root.refresh();
      this.#isRootAway = false;
    } catch (error) {
      if (isOutOfDescriptors(error)) throw outOfDescriptors(error);
      this.#isRootAway = isAbsence(error);
      const text = `the document root cannot be reached (${errnoOf(error) ?? 'unknown error'})`;
      const problem = { rel: '.', text };
      const problems = [this.#isRootAway ? problem : { ...problem, isOutOfSight: true as const }];
      return { files: [], brokenLinks: [], problems };
    }
    if (!this.#isFirstScan || startedAtMs === null) return scan('', { root, kindOf });
    return scan('', {
      root,
      kindOf,
      onFolder: async (path, names) => {
        const removed = await removeStaleTemporaries(path, names, startedAtMs);
        for (const name of removed) this.#options.log.info('removed a leftover file', { name });
      },
    });
  }

  async #look(
    rels: Set<string>,
    next: Map<string, FoundFile>,
    problems: Map<string, ScanProblem>,
  ): Promise<void> {
    // What a link leads to may have changed under another name.
    for (const file of this.#files.values()) if (file.isSymlink) rels.add(file.rel);
    for (const rel of this.#brokenLinks) rels.add(rel);
    const slice = new TimeSlice();
    let folders: ReadonlySet<string> | null = null;
    for (const rel of rels) {
      if (slice.isOver) await slice.rest();
      const seen = await scan(rel, this.#options);
      if (!next.delete(rel)) {
        folders ??= foldersOf(this.#files.keys());
        if (folders.has(rel)) deleteBelow(rel, next);
      }
      for (const file of seen.files) next.set(file.rel, this.#sameOr(file));
      deleteBelow(rel, this.#brokenLinks);
      for (const link of seen.brokenLinks) this.#brokenLinks.add(link);
      deleteBelow(rel, problems);
      for (const problem of seen.problems) problems.set(problem.rel, problem);
      this.#keepOutOfSight(next, seen.problems);
    }
  }

  /** Adds the known files of which nothing can be told now. */
  #keepOutOfSight(next: Map<string, FoundFile>, problems: readonly ScanProblem[]): void {
    const hidden = outOfSight(problems);
    if (hidden.size === 0) return;
    for (const [rel, file] of this.#files) {
      if (!next.has(rel) && isCovered(rel, hidden)) next.set(rel, file);
    }
  }

  /** The known file when nothing about it changed, so that identity tells changes. */
  #sameOr(file: FoundFile): FoundFile {
    const known = this.#files.get(file.rel);
    const isSame =
      known?.kind === file.kind &&
      known.isSymlink === file.isSymlink &&
      sameStamp(known.stamp, file.stamp);
    return isSame ? known : file;
  }

  #publish(
    files: ReadonlyMap<string, FoundFile>,
    problems: readonly ScanProblem[],
    companions: readonly string[],
  ): RegistryChange {
    const known = this.#files;
    const knownProblems = this.scanProblems();
    this.#files = files;
    this.#problems = problems;
    this.#outOfSight = outOfSight(problems);
    this.#sheets?.follow(files);
    const touched = new Set(companions);
    const change = holdsSameTables(known, files)
      ? this.#followContents(known, touched)
      : this.#followNames(known, touched);
    if (isSome(change)) this.#sorted = null;
    this.#logNew(knownProblems);
    return change;
  }

  async #followSheets(file: FoundFile, problem: string | null): Promise<void> {
    await this.#update(async () => {
      if (this.#files.get(file.rel) !== file) return NO_CHANGE;
      const change = this.#followNames(this.#files, new Set());
      if (isSome(change)) this.#sorted = null;
      // Whoever reads a broken dataset as a whole hears the same and notes it (DS-34); nobody reads a handler.
      if (problem !== null && file.kind.detection)
        this.setProblem({ rel: file.rel, sheet: null }, problem);
      return change;
    });
  }

  *#tokens(): Generator<Token> {
    for (const { rel, kind } of this.#files.values()) {
      const { type, family } = kind;
      const names = this.#sheets?.namesOf(rel) ?? null;
      if (names === null) yield { rel, sheet: null, type, family };
      else for (const sheet of names) yield { rel, sheet, type, family };
    }
  }

  /** The common case: the same files as before, some with other content. */
  #followContents(
    known: ReadonlyMap<string, FoundFile>,
    touched: ReadonlySet<string>,
  ): RegistryChange {
    const changed: Resource[] = [];
    for (const [key, old] of this.#resources) {
      const isSame = known.get(old.rel) === this.#files.get(old.rel);
      if (isSame && !this.#hasCompanion(old, touched)) continue;
      const resource = { ...old, problem: null };
      this.#resources.set(key, resource);
      changed.push(resource);
    }
    return { added: [], changed, removed: [] };
  }

  #followNames(
    known: ReadonlyMap<string, FoundFile>,
    touched: ReadonlySet<string>,
  ): RegistryChange {
    const before = this.#resources;
    const added: Resource[] = [];
    const changed: Resource[] = [];
    this.#names = new Names(this.#tokens());
    this.#resources = new Map();
    for (const { table, canonical, extensionForm } of this.#names.named) {
      const key = keyOf(table);
      const file = this.#files.get(table.rel);
      if (file === undefined) continue;
      const old = before.get(key);
      const isSameFile = old !== undefined && known.get(table.rel) === file;
      if (isSameFile && old.canonical === canonical && !this.#hasCompanion(old, touched)) {
        this.#resources.set(key, old);
        continue;
      }
      // With another name comes another set of companions, but the file's own trouble stays.
      const problem = isSameFile && old.canonical !== canonical ? old.problem : null;
      const resource = { ...table, canonical, extensionForm, kind: file.kind, problem };
      this.#resources.set(key, resource);
      (old === undefined ? added : changed).push(resource);
    }
    const removed = [...before].filter(([key]) => !this.#resources.has(key)).map(([, old]) => old);
    return { added, changed, removed };
  }

  #hasCompanion(resource: Resource, touched: ReadonlySet<string>): boolean {
    if (touched.size === 0) return false;
    const { schema, options } = this.companionsOf(resource);
    return [...schema, ...options].some((rel) => touched.has(rel));
  }

  #logNew(known: readonly ScanProblem[]): void {
    const texts = new Set(known.map(({ rel, text }) => `${rel}\0${text}`));
    const now = this.scanProblems();
    for (const { rel, text, isOutOfSight } of now) {
      if (texts.has(`${rel}\0${text}`)) continue;
      const fields = { file: rel, problem: text };
      if (isOutOfSight) {
        this.#options.log.warning('cannot be looked at; what is known of it is kept', fields);
      } else this.#options.log.warning('file is not published', fields);
    }
    const hidden = outOfSight(now);
    for (const rel of outOfSight(known)) {
      if (!hidden.has(rel)) this.#options.log.info('can be looked at again', { file: rel });
    }
  }

  #resourceOf(token: Token): Resource {
    const resource = this.#resources.get(keyOf(token));
    if (resource === undefined) throw new Error(`no resource for the name of ${token.rel}`);
    return resource;
  }
}

/** Files and folders of which nothing can be told. */
function outOfSight(problems: readonly ScanProblem[]): ReadonlySet<string> {
  return new Set(problems.flatMap(({ rel, isOutOfSight }) => (isOutOfSight ? [rel] : [])));
}

/** Whether the rel or a folder it lies in is one of these. */
function isCovered(rel: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  if (folders.has('.') || folders.has(rel)) return true;
  for (let end = rel.lastIndexOf('/'); end > 0; end = rel.lastIndexOf('/', end - 1)) {
    if (folders.has(rel.slice(0, end))) return true;
  }
  return false;
}

const NO_CHANGE: RegistryChange = { added: [], changed: [], removed: [] };
function keyOf({ rel, sheet }: Pick<Resource, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}\0${sheet}`;
}

function holdsSameTables(
  a: ReadonlyMap<string, FoundFile>,
  b: ReadonlyMap<string, FoundFile>,
): boolean {
  if (a.size !== b.size) return false;
  for (const [rel, { kind }] of a) if (b.get(rel)?.kind !== kind) return false;
  return true;
}

/** Every folder that holds one of the files, at any depth. */
function foldersOf(rels: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const rel of rels) {
    for (let end = rel.lastIndexOf('/'); end > 0; end = rel.lastIndexOf('/', end - 1)) {
      const folder = rel.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

function deleteBelow(folder: string, rels: Map<string, unknown> | Set<string>): void {
  for (const rel of rels.keys()) if (isAtOrBelow(rel, folder)) rels.delete(rel);
}

function isSome({ added, changed, removed }: RegistryChange): boolean {
  return added.length + changed.length + removed.length > 0;
}
