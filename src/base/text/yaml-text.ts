/** YAML 1.2 of files that people and programs write: core schema, one document. */
import { type Document, LineCounter, parseDocument } from 'yaml';
import { unreadable } from '../errors.ts';

export interface YamlText {
  readonly document: Document;
  /** From 1, of an offset in the text. */
  readonly lineAt: (offset: number) => number;
}

/** Throws `unreadable-file` with the line of the first mistake. */
export function parseYaml(text: string, rel: string): YamlText {
  const lines = new LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  let document: Document;
  try {
    document = parseDocument(text, {
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: 'error',
      lineCounter: lines,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unreadable(`Cannot read '${rel}': nested too deeply`, error);
  }
  const [first] = [...document.errors, ...document.warnings];
  if (first === undefined) return { document, lineAt };
  const reason = first.code === 'MULTIPLE_DOCS' ? 'a second document begins here' : first.message;
  throw unreadable(`Cannot read '${rel}': line ${lineAt(first.pos[0])}: ${reason}`);
}
