/**
 * Loads and reloads handler files.
 *
 * Before a load the module cache is emptied of the document root, so each file gets its own copies: what is cached
 * afterwards is what the file depends on, and nothing stale remains. Requests in progress keep the old modules alive.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Elysia } from 'elysia';
import type { LoadResult } from '../host-protocol.ts';
import { type RouterApp, createRouterApp } from './router-app.ts';

/** Limit for a module's top-level await. */
const LOAD_LIMIT_MS = 10_000;

/** The runtime cuts a path at '?'. */
const UNUSABLE_NAME = "a module whose path has a '?' cannot be loaded";

export interface LoadedScript extends LoadResult {
  readonly app: RouterApp | null;
}

/** Never rejects. One at a time: loads share the module cache. */
export async function loadScript(docroot: string, rel: string): Promise<LoadedScript> {
  const folder = docroot.endsWith(sep) ? docroot : docroot + sep;
  if (rel.includes('?')) return { problem: UNUSABLE_NAME, modules: [rel], app: null };
  forgetModules(folder);
  try {
    const exports = await withinLimit(import(folder + rel));
    const app = await createRouterApp(routerOf(exports));
    return { problem: null, modules: modulesBelow(folder, rel), app };
  } catch (error) {
    const modules = modulesBelow(folder, rel);
    return { problem: describe(error, folder), modules, isStale: isStale(error), app: null };
  }
}

function routerOf(exports: unknown): Elysia {
  const { router } = exports as { router?: unknown };
  if (router instanceof Elysia) return router;
  throw new TypeError('`router` is not an Elysia instance');
}

function forgetModules(folder: string): void {
  for (const path of Object.keys(require.cache)) {
    if (path.startsWith(folder)) delete require.cache[path];
  }
}

function modulesBelow(folder: string, rel: string): string[] {
  const paths = Object.keys(require.cache).filter((path) => path.startsWith(folder));
  return [...new Set([rel, ...paths.map((path) => relative(folder, path).split(sep).join('/'))])];
}

async function withinLimit<T>(loading: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const text = `loading it takes longer than ${LOAD_LIMIT_MS / 1000} seconds`;
  const timer = setTimeout(() => reject(new Error(text)), LOAD_LIMIT_MS);
  try {
    return await Promise.race([loading, promise]);
  } finally {
    clearTimeout(timer);
  }
}

const ENDINGS = ['', '.ts', '.tsx', '.js', '.jsx', '.mjs', '.cjs', '.json', '/package.json'];

/** A module reported missing exists: the runtime caches for good what a folder did not hold. */
function isStale(error: unknown): boolean {
  if (!(error instanceof ResolveMessage)) return false;
  const { specifier, referrer } = error;
  const isPath = specifier.startsWith('.') || isAbsolute(specifier);
  for (let folder = dirname(referrer); ; folder = dirname(folder)) {
    const path = resolve(folder, isPath ? specifier : join('node_modules', specifier));
    const isThere = ENDINGS.some((ending) => existsSync(path + ending));
    // A folder is a module only with an index; if there is none, the next process reports it once.
    if (isThere || isPath || folder === dirname(folder)) return isThere;
  }
}

/** `h.ts:3:9: Unexpected ;` for what does not parse or link, else the error's name and message. No absolute path. */
function describe(error: unknown, folder: string): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { name, message, position } = first as Partial<Error & Pick<BuildMessage, 'position'>>;
  const place = position ? `${position.file}:${position.line}:${position.column}: ` : '';
  const kind = place !== '' || name === undefined || name === 'Error' ? '' : `${name}: `;
  const text = message === undefined ? String(first) : message;
  return `${place}${kind}${text}`.replaceAll(folder, '');
}
