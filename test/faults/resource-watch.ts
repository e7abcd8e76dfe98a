/**
 * What a server holds on to, sampled while it works: memory, descriptors, temporary files, logs of databases. Says whether
 * any of it grows with the work instead of with the data.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isTemporaryName } from '../../src/base/files/temporary-files.ts';
import { memoryOf, residentWithChildren } from '../http/process-memory.ts';
import { patienceFor } from '../support/patience.ts';
import type { Trial } from './trial.ts';

const MIB = 1024 * 1024;
const EVERY_MS = 1_000;
/** Replaced versions are let go after two seconds. */
const LET_GO_MS = 5_000;
/** Reliability L8. */
const MAX_GROWTH = 0.05;
const MAX_MORE_FILES = 5;
/** A typed copy is opened when it is needed, and by as many readers; each has the file, its log and the log's index. */
const MAX_FILES_A_COPY = 18;
const COPY = /\/tables\/\w+\.\w+\.sqlite/;
const MAX_LOG_BYTES = 64 * MIB;
/** Of a process of 150 MB that is what its collector moves by itself between two looks. */
const MOVING_BYTES = 16 * MIB;

interface Sample {
  readonly seconds: number;
  readonly resident: number;
  readonly all: number;
}

/** A watch over one process; `stop` ends it and tells. */
export class ResourceWatch {
  readonly #pid: number;
  readonly #warmUpSeconds: number;
  readonly #samples: Sample[] = [];
  readonly #startedAt = performance.now();
  readonly #filesBefore: readonly string[];
  readonly #timer: Timer;

  /** Memory counts from `warmUpSeconds` on. */
  constructor(pid: number, warmUpSeconds: number) {
    this.#pid = pid;
    this.#warmUpSeconds = warmUpSeconds;
    this.#filesBefore = openFiles(pid);
    this.#timer = setInterval(() => this.#sample(), EVERY_MS);
    this.#sample();
  }

  /** Checks memory and descriptors; call when the work is over and what it opened had time to be closed. */
  stop(trial: Trial): void {
    clearInterval(this.#timer);
    const counted = this.#samples.filter(({ seconds }) => seconds >= this.#warmUpSeconds);
    const files = openFiles(this.#pid);
    trial.countMost('most memory of the server, MB', inMegabytes(most(counted, 'resident')));
    trial.countMost('most memory with its children, MB', inMegabytes(most(counted, 'all')));
    trial.countMost('open files at the end', files.length);
    const isOfCopy = (name: string): boolean => COPY.test(name);
    const more = surplus(this.#filesBefore, files).filter((name) => !isOfCopy(name));
    trial.check(more.length <= MAX_MORE_FILES, `more files are open: ${more.join(', ')}`);
    const ofCopies = files.filter(isOfCopy);
    const copies = new Set(ofCopies.map((name) => COPY.exec(name)![0]));
    trial.check(
      ofCopies.length <= copies.size * MAX_FILES_A_COPY,
      `${ofCopies.length} files are open of ${copies.size} typed copies`,
    );
    if (counted.length < 4) return;
    const startOf = (quarter: number): number => Math.floor((quarter * counted.length) / 4);
    const medians = [0, 1, 2, 3].map((at) => medianOf(counted.slice(startOf(at), startOf(at + 1))));
    const [first, last] = [medians[0]!, medians[3]!];
    for (const [at, median] of medians.entries()) {
      trial.count(`memory in quarter ${at + 1}, MB`, inMegabytes(median));
    }
    const allowed = Math.max(first * MAX_GROWTH, MOVING_BYTES);
    trial.check(
      last - first <= allowed,
      `memory grew from ${inMegabytes(first)} to ${inMegabytes(last)} MB`,
    );
  }

  #sample(): void {
    const resident = memoryOf(this.#pid)?.resident ?? 0;
    const all = residentWithChildren(this.#pid);
    this.#samples.push({
      seconds: (performance.now() - this.#startedAt) / 1000,
      resident,
      all,
    });
  }
}

/**
 * Checks that nothing temporary is left in the folder of the files, or after the moments a busy machine needs to let go of it
 * in that of the state, and that no log of a database is large.
 */
export async function checkLeftovers(
  trial: Trial,
  docroot: string,
  stateDir: string,
): Promise<void> {
  const names = [...new Bun.Glob('**/*').scanSync({ cwd: docroot, dot: true })];
  for (const name of names) {
    if (isTemporaryName(name.split('/').at(-1)!)) trial.fail(`left ${name}`);
  }
  for (const folder of ['replaced', 'tmp']) {
    const deadline = performance.now() + patienceFor(LET_GO_MS);
    const inside = (): string[] => [
      ...new Bun.Glob('**/*').scanSync({ cwd: join(stateDir, folder) }),
    ];
    while (inside().length > 0 && performance.now() < deadline) await Bun.sleep(100);
    const left = inside();
    trial.check(left.length === 0, `left ${left.length} files in ${folder}: ${left.slice(0, 3)}`);
  }
  for (const name of new Bun.Glob('**/*-wal').scanSync({ cwd: stateDir, dot: true })) {
    const { size } = statSync(join(stateDir, name));
    trial.countMost('largest log of a database, MB', inMegabytes(size));
    trial.check(size <= MAX_LOG_BYTES, `${name} has ${inMegabytes(size)} MB`);
  }
}

/** What is open but connections, which come and go with their clients; what has no name of its own without its number. */
function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return target.startsWith('socket:') ? [] : [target.replace(/^(\w+):\[\d+\]$/, '$1')];
    } catch {
      // Closed between two looks.
      return [];
    }
  });
}

/** The names of `after` without those of `before`, each as often as it stands there more often. */
function surplus(before: readonly string[], after: readonly string[]): string[] {
  const known = [...before];
  return after.filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

function most(samples: readonly Sample[], what: 'resident' | 'all'): number {
  return Math.max(0, ...samples.map((sample) => sample[what]));
}

function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ resident }) => resident).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / MIB);
}
