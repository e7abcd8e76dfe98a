import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { posix } from 'node:path';
import { AppError } from '../base/errors.ts';
import { plainName } from '../base/files/compressed-file.ts';
import { replaceFile, writeFailure } from '../base/files/atomic-file.ts';
import { isAbsence } from '../base/files/file-stamp.ts';
import { COMPANION_SUFFIX, extensionOf, stemOf } from '../base/paths.ts';
import { COMPANION_FOLDER, type DocumentRoot } from './document-root.ts';
import type { Kind } from './kind.ts';
import { openCompanion } from './opener.ts';
import {
  type CompanionSchema,
  MAX_COMPANION_BYTES,
  parseCompanionSchema,
  parseOptions,
} from '../tables/infer/companion.ts';
import type { ReadOptions } from '../tables/types.ts';

/** Rels in order of precedence. */
export interface CompanionPaths {
  readonly schema: readonly string[];
  readonly options: readonly string[];
}

const SCHEMA_SUFFIX = '.schema.json';
const OPTIONS_SUFFIX = '.options.json';

/** A companion named without the file's extension belongs to the one resource that owns that name (`ownsStem`). */
export function companionPaths(
  rel: string,
  sheet: string | null,
  ownsStem: boolean,
): CompanionPaths {
  // The name comes from the file's content and must not name another folder.
  const suffix = sheet === null ? '' : `.${sheet.replaceAll('/', '.')}`;
  const names = ownsStem ? [rel, stemOf(rel)] : [rel];
  const stems = [...new Set(names)].map((name) => `${COMPANION_FOLDER}/${name}${suffix}`);
  return {
    schema: stems.map((stem) => stem + SCHEMA_SUFFIX),
    options: stems.map((stem) => stem + OPTIONS_SUFFIX),
  };
}

export function isCompanion(rel: string): boolean {
  return rel.startsWith(`${COMPANION_FOLDER}/`) && COMPANION_SUFFIX.test(rel);
}

/** Without a companion no columns; with a broken one the problem. */
export async function readSchema(
  root: DocumentRoot,
  rels: readonly string[],
): Promise<CompanionSchema> {
  const file = await firstCompanion(root, rels);
  const none = { columns: null, verbatim: null, problem: null, ignored: false };
  if (!file) return none;
  if (file.text === null) return { ...none, problem: file.problem };
  const parsed = parseCompanionSchema(file.text);
  return parsed.problem === null
    ? parsed
    : { ...parsed, problem: `${file.rel}: ${parsed.problem}` };
}

/** For a file or one worksheet in it; `problem` is what is wrong with the options. */
export async function readOptions(
  root: DocumentRoot,
  rels: readonly string[],
  kind: Kind,
  { rel, sheet }: { readonly rel: string; readonly sheet: string | null },
): Promise<{ options: ReadOptions; problem: string | null }> {
  const file = await firstCompanion(root, rels);
  const own = { extension: extensionOf(plainName(rel)), ...(sheet === null ? {} : { sheet }) };
  if (!file) return { options: own, problem: null };
  if (file.text === null) return { options: own, problem: file.problem };
  const parsed = parseOptions(file.text, { kind: kind.type });
  return {
    options: { ...parsed.options, ...own },
    problem: parsed.problem === null ? null : `${file.rel}: ${parsed.problem}`,
  };
}

type Companion = { readonly rel: string } & (
  | { readonly text: string }
  /** Too large, or the file system refuses to read it. */
  | { readonly text: null; readonly problem: string }
);

async function firstCompanion(
  root: DocumentRoot,
  rels: readonly string[],
): Promise<Companion | null> {
  for (const rel of rels) {
    try {
      const file = await openCompanion(root, rel);
      try {
        if (file.size > MAX_COMPANION_BYTES) {
          return { rel, text: null, problem: `${rel}: too large` };
        }
        return { rel, text: new TextDecoder().decode(await file.read(0, file.size)) };
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // A broken companion must not stop the dataset from being read.
      if (error.code === 'unreadable-file') return { rel, text: null, problem: error.message };
      if (error.code !== 'not-found') throw error;
    }
  }
  return null;
}

/** As they are stored; null where there is none. */
interface CompanionTexts {
  readonly schema: Companion | null;
  readonly options: Companion | null;
}

export async function companionTexts(
  root: DocumentRoot,
  { schema, options }: CompanionPaths,
): Promise<CompanionTexts> {
  return {
    schema: await firstCompanion(root, schema),
    options: await firstCompanion(root, options),
  };
}

/** Bytes of a name in most file systems. */
const MAX_NAME_BYTES = 255;

/**
 * Durable when it resolves; null deletes. Hold the lock of the dataset's file. Throws as `replaceFile`,
 * `not-writable` when a folder on the way is a symlink, and `too-large` for a name that no file may have.
 */
export async function storeCompanion(
  root: DocumentRoot,
  rel: string,
  text: string | null,
): Promise<void> {
  if (
    !isCompanion(rel) ||
    Buffer.byteLength(rel.slice(rel.lastIndexOf('/') + 1)) > MAX_NAME_BYTES
  ) {
    throw new AppError('too-large', `The name of its companion would be too long: ${rel}`);
  }
  const path = root.absolute(rel);
  const folder = posix.dirname(path);
  try {
    if (text === null) {
      if (realpathSync(folder) === folder) rmSync(path, { force: true });
    } else makeFolder(folder, root.realPath);
    if (realpathSync(folder) !== folder) throw notWritable(rel);
  } catch (error) {
    if (text === null && isAbsence(error)) return;
    throw writeFailure(error, rel);
  }
  if (text === null) return syncFolder(folder);
  await replaceFile({ path, rel, base: 'any', pieces: [Buffer.from(text)] });
}

/** Only its owner looks into `.svc`, as where it holds the state. Each new name is synced. */
function makeFolder(folder: string, root: string): void {
  if (folder === root || existsSync(folder)) return;
  const parent = posix.dirname(folder);
  makeFolder(parent, root);
  mkdirSync(folder, { mode: 0o700 });
  syncFolder(parent);
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function notWritable(rel: string): AppError {
  return new AppError('not-writable', `Resource '${rel}' is not writable`);
}
