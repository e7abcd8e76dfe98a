/**
 * The contents of companion files: the declared schema (DS-70) and the reading options (DS-72) of a table, with what is wrong
 * with them. Companions are small and never links; `companions.ts` says where they stand.
 */
import { AppError } from '../base/errors.ts';
import {
  type CompanionSchema,
  MAX_COMPANION_BYTES,
  parseCompanionSchema,
  parseOptions,
} from '../dataset/companion.ts';
import type { ReadOptions } from '../dataset/types.ts';
import type { DocumentRoot } from './document-root.ts';
import type { Kind } from './kind.ts';
import { openCompanion } from './opener.ts';

/** What a declared schema says (DS-70); without one no columns, with a broken one the problem. */
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

/** How the table of a file, or of one worksheet in it, is to be read (DS-72); what is wrong with the options as `problem`. */
export async function readOptions(
  root: DocumentRoot,
  rels: readonly string[],
  kind: Kind,
  sheet: string | null,
): Promise<{ options: ReadOptions; problem: string | null }> {
  const file = await firstCompanion(root, rels);
  const ofSheet = sheet === null ? {} : { sheet };
  if (!file) return { options: ofSheet, problem: null };
  if (file.text === null) return { options: ofSheet, problem: file.problem };
  const parsed = parseOptions(file.text, { kind: kind.type });
  return {
    options: { ...parsed.options, ...ofSheet },
    problem: parsed.problem === null ? null : `${file.rel}: ${parsed.problem}`,
  };
}

type Companion = { readonly rel: string } & (
  | { readonly text: string }
  /** It exceeds the size limit, or the file system refuses it. */
  | { readonly text: null; readonly problem: string }
);

/** The first companion that exists. */
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
      // It must not stop the dataset from being read (DS-70).
      if (error.code === 'unreadable-file') return { rel, text: null, problem: error.message };
      if (error.code !== 'not-found') throw error;
    }
  }
  return null;
}
