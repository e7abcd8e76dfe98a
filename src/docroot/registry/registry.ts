/**
 * Everything the document root publishes, by every name.
 *
 * `rescan` looks at all files, `refresh` at the paths a watcher named. Updates run in the order of their calls; when
 * one resolves, names and listeners are up to date. Looking up a name never touches the disk, so it may lag by the
 * watcher's delay.
 */
import { errnoOf, isOutOfDescriptors, outOfDescriptors } from '../../base/errors.ts';
import { isAbsence, sameStamp, type FileStamp } from '../../base/files/file-stamp.ts';
import type { Log } from '../../base/log.ts';
import { Mutex } from '../../base/scheduling/semaphore.ts';
import { removeStaleTemporaries } from '../../base/files/temporary-files.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { Arrivals } from './arrivals.ts';
import { UnmountedFolders } from './unmounted.ts';
import { companionPaths, isCompanion, type CompanionPaths } from '../companions.ts';
import { COMPANION_FOLDER, isAtOrBelow, type DocumentRoot } from '../document-root.ts';
import type { KindTable } from './kind-table.ts';
import type { Family, Kind, SheetName } from '../kind.ts';
import type { FixedView } from '../../tables/read/fixed-view.ts';
import { COMPANION_SUFFIX, stemOf } from '../../base/paths.ts';
import { Names, stemNameOf, type Area, type SharedName, type Table } from './names.ts';
import { UnservedFiles } from './unserved.ts';
import { scan, type FoundFile, type Scan, type ScanProblem } from './scan.ts';
import { SheetNames } from './sheet-names.ts';

/** Immutable. */
export interface Resource extends Table {
  /** Unique and in NFC; the name it is listed under. */
  readonly canonical: string;
  /** In NFC; always denotes this resource. */
  readonly extensionForm: string;
  readonly kind: Kind;
  /** Why it cannot be read, or what is wrong with its companions; null when all is well. */
  readonly problem: string | null;
  /** Only this of it may be read: by whoever has a link. */
  readonly view?: FixedView;
}

/** `changed` covers content, names and companion files; `removed` holds the old state. */
export interface RegistryChange {
  readonly added: readonly Resource[];
  readonly changed: readonly Resource[];
  readonly removed: readonly Resource[];
}

/** The update waits for a returned promise, which must not call the registry's updates. */
export type RegistryListener = (change: RegistryChange) => void | Promise<void>;

interface RegistryOptions {
  readonly root: DocumentRoot;
  readonly kindOf: KindTable;
  readonly log: Log;
  /**
   * None for a file its kind's `detection` rejects, null for a file that is one resource; once for each version.
   * Throws as the kind.
   */
  readonly sheetsOf?: (file: FoundFile) => Promise<readonly SheetName[] | null>;
  readonly publishesHiddenSheets?: boolean;
  /** Extensions that the configuration takes from their kind. */
  readonly isSwitchedOff?: (extension: string) => boolean;
  /** Keeps the answers across restarts. */
  readonly sheetMemory?: string | null;
  /** Keeps across restarts which file had a shared name; only the server writes it. */
  readonly arrivalMemory?: { readonly path: string; readonly isWritten: boolean } | null;
  /** Keeps mount points across restarts; absent: after a restart missing files count as gone. */
  readonly mountMemory?: string | null;
  /** Epoch ms: the first scan deletes older temporary files. Null in a process beside `serve`: none is deleted. */
  readonly startedAtMs: number | null;
}

/** Before what was listed is followed: half of the time goes to other work. */
const MAX_PAUSE_MS = 100;

type Token = Pick<Resource, 'type' | 'family' | 'alsoIn' | 'rel' | 'sheet' | 'kind'>;

export class Registry {
  readonly root: DocumentRoot;
  readonly #options: RegistryOptions;
  readonly #updates = new Mutex();
  readonly #listeners = new Set<RegistryListener>();
  #files: ReadonlyMap<string, FoundFile> = new Map();
  /** Null: no file's content decides which resources it is. */
  readonly #sheets: SheetNames | null;
  readonly #arrivals: Arrivals;
  /** Whether the tables of all files were listed once: from then on a new one came later. */
  #isComplete = false;
  readonly #mounts: UnmountedFolders;
  #isRootAway = false;
  #names = new Names<Token>([]);
  #resources = new Map<string, Resource>();
  #sorted: readonly Resource[] | null = null;
  #brokenLinks = new Set<string>();
  readonly #unserved: UnservedFiles;
  #problems: readonly ScanProblem[] = [];
  #outOfSight: ReadonlySet<string> = new Set();
  #isFirstScan = true;
  /** Not followed yet. */
  readonly #listed: { readonly file: FoundFile; readonly problem: string | null }[] = [];
  /** How long making all names took last time. */
  #namingMs = 0;

  constructor(options: RegistryOptions) {
    this.root = options.root;
    this.#options = options;
    const { sheetsOf, sheetMemory = null, mountMemory = null, log } = options;
    this.#arrivals = new Arrivals({
      memory: options.arrivalMemory ?? null,
      now: () => Date.now(),
      log,
    });
    this.#unserved = new UnservedFiles(options.isSwitchedOff ?? (() => false));
    this.#mounts = new UnmountedFolders({ memory: mountMemory, now: () => Date.now(), log });
    this.#sheets =
      sheetsOf === undefined
        ? null
        : new SheetNames({
            sheetsOf,
            publishesHidden: options.publishesHiddenSheets === true,
            memory: sheetMemory,
            log,
            onListed: (file, problem) => this.#followSheets(file, problem),
          });
  }

  /**
   * A root that is gone publishes nothing until it is back. Throws `unavailable` when nothing can be opened; what was
   * known stays.
   */
  async rescan(): Promise<RegistryChange> {
    return this.#update(async () => {
      const seen = await this.#withMounts(() => this.#scanAll());
      const { files, brokenLinks, problems } = seen;
      this.#unserved.replace(seen.unserved);
      if (this.#isFirstScan) void this.#awaitFirstListing();
      this.#isFirstScan = false;
      this.#brokenLinks = new Set(brokenLinks);
      const next = new Map(files.map((file) => [file.rel, this.#sameOr(file)]));
      this.#keepOutOfSight(next, problems);
      return this.#publish(next, problems, []);
    });
  }

  /** Existing or not, and everything below. Throws as `rescan`. */
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
      if (wanted.size > 0) await this.#withMounts(() => this.#scanPaths(wanted, next, problems));
      return this.#publish(next, [...problems.values()], [...companions]);
    });
  }

  /** Resolves when the tables of a file, or of all files found so far, are known. */
  async listed(rel?: string): Promise<void> {
    await this.#sheets?.settled(rel);
  }

  /** Of all that is there when the folder is first read, nothing came before the other. */
  async #awaitFirstListing(): Promise<void> {
    // After the scan that began: its files are listed then.
    await this.#updates.run(() => undefined);
    await this.listed();
    this.#isComplete = true;
    this.#followArrivals();
  }

  /** By rel in byte order. */
  list(): readonly Resource[] {
    this.#sorted ??= this.#names.named.map(({ table }) => this.#resourceOf(table));
    return this.#sorted;
  }

  get(rel: string, sheet: string | null = null): Resource | null {
    return this.#resources.get(keyOf({ rel, sheet })) ?? null;
  }

  /** The name is decoded, or segments of `decodePath`. */
  lookup(area: Area, name: string | readonly string[]): Resource | null {
    const token = this.#names.find(area, typeof name === 'string' ? name : name.join('/'));
    return token && this.#resourceOf(token);
  }

  /** The bytes of a dataset or of media. A workbook is named by what covers all its sheets, hidden ones too. */
  original(rel: string): Resource | null {
    const token = this.#names.findOriginal(rel);
    if (token === null) return null;
    const resource = this.#resourceOf(token);
    if (resource.sheet === null) return { ...resource, family: 'content' };
    const [canonical, extensionForm] = [stemOf(resource.rel), resource.rel].map(
      (name) => `${name.normalize('NFC')}/*`,
    ) as [string, string];
    return { ...resource, family: 'content', sheet: null, canonical, extensionForm };
  }

  /** Call it when `lookup` finds nothing. */
  lookupHandler(
    segments: readonly string[],
  ): { readonly resource: Resource; readonly rest: readonly string[] } | null {
    const found = this.#names.findHandler(segments);
    return found && { resource: this.#resourceOf(found.table), rest: found.rest };
  }

  /** As of the last look; a read asks the file itself. */
  stampOf(resource: Pick<Resource, 'rel'>): FileStamp | null {
    return this.#files.get(resource.rel)?.stamp ?? null;
  }

  companionsOf(resource: Resource): CompanionPaths {
    const ownsStem = resource.canonical === stemNameOf(resource);
    return companionPaths(resource.rel, resource.sheet, ownsStem);
  }

  /** Null when it can be read. Kept until the file or a companion changes. Ignored for unknown resources. */
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

  /** Resources that lost their extensionless name. */
  sharedNames(): readonly SharedName<Token>[] {
    return this.#names.shared;
  }

  scanProblems(): readonly ScanProblem[] {
    return [
      ...this.#problems,
      ...this.#names.unreachable.map(({ table, holder }) => ({
        rel: table.rel,
        text: `the name differs from '${holder.rel}' in Unicode normalisation only`,
      })),
    ];
  }

  /** Files that nobody is served, by rel in byte order, with the reason; at most 10,000 of no kind. */
  unserved(): readonly ScanProblem[] {
    const rejected = Array.from(this.#sheets?.rejected() ?? []);
    return this.#unserved.list(
      rejected.flatMap(({ rel, kind }) => (kind.otherwise === undefined ? [rel] : [])),
    );
  }

  /** Worksheets their authors have hidden, and the reason why they are not published. */
  hiddenSheets(): readonly ScanProblem[] {
    return Array.from(this.#sheets?.hidden() ?? [], ({ rel, sheet }) => ({
      rel,
      text: `the worksheet '${sheet}' is hidden, and resources.hidden_sheets is false`,
    }));
  }

  /** Its file system is not mounted, or its folder is out of sight, as of the last look. */
  isAway(rel: string): boolean {
    return (
      this.#isRootAway || this.#mounts.isAway(this.root.absolute(rel)) || this.isOutOfSight(rel)
    );
  }

  /** The file is there but its present tables are unknown: the old ones or none are published. */
  isUnlisted(rel: string): boolean {
    return this.#sheets?.isUnknown(rel) === true;
  }

  /** As of the last look. */
  isOutOfSight(rel: string): boolean {
    return isCovered(rel, this.#outOfSight);
  }

  /** Returns the function that unsubscribes. */
  onChange(listener: RegistryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #update(work: () => Promise<RegistryChange>): Promise<RegistryChange> {
    const pending: Promise<void>[] = [];
    const change = await this.#updates.run(async () => {
      const made = await work();
      // Before the next update may start, so that listeners see changes in order.
      if (isSome(made))
        for (const listener of this.#listeners) pending.push(this.#notify(listener, made));
      return made;
    });
    await Promise.all(pending);
    return change;
  }

  async #notify(listener: RegistryListener, change: RegistryChange): Promise<void> {
    try {
      await listener(change);
    } catch (error) {
      // One failing listener must not stop the others.
      this.#options.log.error('a change of the document root was not followed', { error });
    }
  }

  #withMounts<T>(look: () => Promise<T>): Promise<T> {
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
      return { files: [], brokenLinks: [], problems, unserved: [] };
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

  async #scanPaths(
    rels: Set<string>,
    next: Map<string, FoundFile>,
    problems: Map<string, ScanProblem>,
  ): Promise<void> {
    // The target of a link may have changed under another name.
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
      this.#unserved.forget(rel);
      this.#unserved.add(seen.unserved);
      deleteBelow(rel, problems);
      for (const problem of seen.problems) problems.set(problem.rel, problem);
      this.#keepOutOfSight(next, seen.problems);
    }
  }

  #keepOutOfSight(next: Map<string, FoundFile>, problems: readonly ScanProblem[]): void {
    const hidden = outOfSight(problems);
    if (hidden.size === 0) return;
    for (const [rel, file] of this.#files) {
      if (!next.has(rel) && isCovered(rel, hidden)) next.set(rel, file);
    }
  }

  /** Keeps the object when nothing changed, so that identity tells changes. */
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
    for (const companion of companions) {
      this.#sheets?.lookAgain(
        companion.slice(COMPANION_FOLDER.length + 1).replace(COMPANION_SUFFIX, ''),
      );
    }
    const touched = new Set(companions);
    const change = holdsSameTables(known, files)
      ? this.#followContents(known, touched)
      : this.#followNames(known, touched);
    if (isSome(change)) this.#sorted = null;
    this.#logNew(knownProblems);
    return change;
  }

  /** Files listed at about the same time are followed together, because names are made anew from all files. */
  async #followSheets(file: FoundFile, problem: string | null): Promise<void> {
    this.#listed.push({ file, problem });
    await Bun.sleep(this.#namingMs);
    await this.#update(async () => {
      const listed = this.#listed
        .splice(0)
        .filter((one) => this.#files.get(one.file.rel) === one.file);
      if (listed.length === 0) return NO_CHANGE;
      const since = performance.now();
      const change = this.#followNames(this.#files, new Set());
      this.#namingMs = Math.min(MAX_PAUSE_MS, performance.now() - since);
      if (isSome(change)) this.#sorted = null;
      for (const one of listed) {
        // Reading a broken dataset meets and notes the same problem; nothing reads a handler.
        if (one.problem !== null && one.file.kind.detection)
          this.setProblem({ rel: one.file.rel, sheet: null }, one.problem);
      }
      return change;
    });
  }

  *#tokens(): Generator<Token> {
    for (const { rel, kind } of this.#files.values()) {
      const names = this.#sheets?.namesOf(rel) ?? null;
      const otherwise = kind.detection?.needsContent(rel) === true ? kind.otherwise : undefined;
      if (names === null) yield tokenOf(kind, rel, null, otherwise?.family);
      else if (otherwise !== undefined) yield tokenOf(otherwise, rel, null);
      else for (const sheet of names) yield tokenOf(kind, rel, sheet);
    }
  }

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
    const removed: Resource[] = [];
    this.#names = new Names(this.#tokens(), (table) => this.#arrivals.orderOf(table));
    this.#followArrivals();
    this.#resources = new Map();
    for (const { table, canonical, extensionForm } of this.#names.named) {
      const key = keyOf(table);
      const file = this.#files.get(table.rel);
      if (file === undefined) continue;
      const old = before.get(key);
      const isSameFile = old !== undefined && known.get(table.rel) === file;
      const isSameKind = old?.kind === table.kind;
      if (
        isSameFile &&
        isSameKind &&
        old.canonical === canonical &&
        !this.#hasCompanion(old, touched)
      ) {
        this.#resources.set(key, old);
        continue;
      }
      // Another name has other companions, but the file's own problem stays.
      const problem = isSameFile && old.canonical !== canonical ? old.problem : null;
      const resource = { ...table, canonical, extensionForm, problem };
      this.#resources.set(key, resource);
      if (old !== undefined && !isSameKind) removed.push(old);
      (old === undefined || !isSameKind ? added : changed).push(resource);
    }
    for (const [key, old] of before) if (!this.#resources.has(key)) removed.push(old);
    return { added, changed, removed };
  }

  #followArrivals(): void {
    if (!this.#isComplete) return;
    const newcomers = this.#names.shared.filter(
      ({ table }) => this.#arrivals.orderOf(table) === Infinity,
    );
    // The one process that remembers tells it; beside it a memory that is being written may look like any order.
    const isToldElsewhere = this.#options.arrivalMemory?.isWritten === false;
    for (const { table, name, holder } of isToldElsewhere ? [] : newcomers) {
      this.#options.log.warning('a file that came later shares the name of another one', {
        file: table.rel,
        name,
        holder: holder.rel,
      });
    }
    this.#arrivals.follow(this.#tokens(), (rel) => this.isAway(rel));
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

function tokenOf(kind: Kind, rel: string, sheet: string | null, alsoIn?: Family): Token {
  const { type, family } = kind;
  return { type, family, alsoIn, rel, sheet, kind };
}

function outOfSight(problems: readonly ScanProblem[]): ReadonlySet<string> {
  return new Set(problems.flatMap(({ rel, isOutOfSight }) => (isOutOfSight ? [rel] : [])));
}

/** Whether the rel is one of these or in one of them. */
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
