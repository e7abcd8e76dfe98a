/** Files are named by their path in the document root; callers check permissions and what a client may see. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { newSocketPath } from '../processes/child-sockets.ts';
import { childEnvironment } from '../processes/child-environment.ts';
import type { HandlerRequest } from './handler-call.ts';
import { HandlerHost, type HandlerHostOptions } from './handler-host.ts';
import type { LoadResult, RouterSchema } from './host-protocol.ts';
import {
  findPython,
  noPythonText,
  type HostCommand,
  type Language,
  languageOf,
} from './language.ts';

interface HandlersOptions {
  readonly docroot: string;
  readonly socketDir: string;
  /** Starts `serveScripts` with a socket path in a process of this same program. */
  readonly scriptCommand: HostCommand;
  /** An interpreter or virtual environment; null: one of the PATH. */
  readonly python: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limits: HandlerHostOptions['limits'];
  /** Null when the file can be served. */
  readonly onProblem: (rel: string, problem: string | null) => void;
  readonly log: Log;
}

interface HandlerChange {
  readonly present: readonly string[];
  readonly gone: readonly string[];
}

interface Loaded extends LoadResult {
  readonly stamp: string;
}

/** Of the socket that the server opens for its handlers. */
export const API_ROLE = 'api';
/** A description waits so long for a busy process, then omits its routes. */
const SCHEMA_LIMIT_MS = 2_000;

/**
 * Modules of one handler whose stamps are compared; beyond it a change shows only when the handler's own file
 * changes.
 */
const MAX_STAMPED = 200;

/** Names modules, or folders of them, can have; other files of the document root are data. */
const MAY_BE_IMPORTED = /(?:\.(?:[cm]?[jt]sx?|json|toml|ya?ml|txt|py)|(?:^|\/)[^./]+)$/i;

export class Handlers {
  readonly #hosts: Readonly<Record<Language, HandlerHost>>;
  readonly #docroot: string;
  readonly #results = new Map<string, Loaded | null>();
  /** Where the server listens for its handlers. */
  readonly apiSocket: string;
  readonly #onProblem: HandlersOptions['onProblem'];

  constructor(options: HandlersOptions) {
    const { docroot, socketDir, environment, limits, log } = options;
    this.#docroot = docroot;
    this.#onProblem = options.onProblem;
    this.apiSocket = newSocketPath(socketDir, API_ROLE);
    const shared = {
      docroot,
      socketDir,
      environment: handlerEnvironment(environment, docroot),
      limits,
      log,
      onLoaded: (rel: string, result: LoadResult) => this.#loaded(rel, result),
    };
    const choice = { path: environment['PATH'] ?? '', configured: options.python };
    this.#hosts = {
      script: new HandlerHost({
        ...shared,
        language: 'script',
        command: async () => options.scriptCommand,
        absence: '',
      }),
      python: new HandlerHost({
        ...shared,
        language: 'python',
        command: () => findPython(choice, docroot, socketDir),
        absence: noPythonText(choice),
      }),
    };
  }

  get restarts(): number {
    return this.#hosts.script.restarts + this.#hosts.python.restarts;
  }

  get running(): number {
    return this.#hosts.script.running + this.#hosts.python.running;
  }

  follow({ present, gone }: HandlerChange): void {
    for (const rel of gone) {
      this.#results.delete(rel);
      void this.#hosts[languageOf(rel)].forget(rel);
    }
    for (const rel of present) this.#want(rel);
  }

  /** Any files of the document root changed: reloads handlers that import one. */
  touched(rels: ReadonlySet<string> | 'everything'): void {
    for (const [rel, result] of this.#results) {
      if (result === null) continue;
      const isAffected =
        rels === 'everything'
          ? this.#stampOf(result.modules) !== result.stamp
          : dependsOn(rel, result, rels);
      if (isAffected) this.#want(rel);
    }
  }

  call(request: HandlerRequest): Promise<Response> {
    return this.#hosts[languageOf(request.rel)].call(request);
  }

  /** Null while unknown. */
  async schema(rel: string): Promise<RouterSchema | null> {
    const late = Bun.sleep(SCHEMA_LIMIT_MS).then(() => null);
    try {
      return await Promise.race([this.#hosts[languageOf(rel)].schema(rel), late]);
    } catch {
      // A description must not fail because a process does.
      return null;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#hosts.script.stop(), this.#hosts.python.stop()]);
  }

  #want(rel: string): void {
    if (!this.#results.has(rel)) this.#results.set(rel, null);
    this.#hosts[languageOf(rel)].want(rel);
  }

  #loaded(rel: string, result: LoadResult): void {
    if (!this.#results.has(rel)) return;
    this.#results.set(rel, { ...result, stamp: this.#stampOf(result.modules) });
    this.#onProblem(rel, result.problem);
  }

  /** For when the changed files are not known. */
  #stampOf(modules: readonly string[]): string {
    const stamps = modules.slice(0, MAX_STAMPED).map((rel) => {
      const stats = statSync(join(this.#docroot, rel), { throwIfNoEntry: false });
      return stats === undefined ? '' : `${stats.mtimeMs}.${stats.size}`;
    });
    return stamps.join(' ');
  }
}

/** A broken handler may be waiting for a module that did not exist. */
function dependsOn(own: string, result: LoadResult, rels: ReadonlySet<string>): boolean {
  for (const rel of rels) {
    if (rel === own) continue;
    if (result.modules.some((one) => one === rel || one.startsWith(`${rel}/`))) return true;
    if (result.problem !== null && MAY_BE_IMPORTED.test(rel)) return true;
  }
  return false;
}

/** Nothing of the server's own environment. */
function handlerEnvironment(
  source: HandlersOptions['environment'],
  docroot: string,
): Record<string, string> {
  const own = Object.entries(source).filter(
    (entry): entry is [string, string] =>
      entry[0].startsWith('SVC_HANDLER_') && entry[1] !== undefined,
  );
  return childEnvironment(source, { ...Object.fromEntries(own), SVC_DOCROOT: docroot });
}
