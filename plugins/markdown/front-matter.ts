/** The YAML block at the start of some documents. Shown as text; has no effect. */
import { parse } from 'yaml';

/** More is data, not front matter. */
const MAX_BYTES = 16 * 1024;
const MAX_FACTS = 50;
const BLOCK = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

interface HeadedText {
  readonly title: string | null;
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  readonly text: string;
}

/** What is no YAML mapping, or too long, stays part of the document. */
export function splitFrontMatter(document: string): HeadedText {
  const plain = { title: null, facts: [], text: document };
  const block = BLOCK.exec(document.slice(0, MAX_BYTES));
  if (block === null) return plain;
  const fields = mappingOf(block[1]!);
  if (fields === null) return plain;
  const facts: { name: string; text: string }[] = [];
  let title: string | null = null;
  for (const [name, value] of Object.entries(fields).slice(0, MAX_FACTS)) {
    const text = textOf(value);
    if (name.toLowerCase() === 'title' && text !== '') title = text;
    else if (text !== '') facts.push({ name, text });
  }
  return { title, facts, text: document.slice(block[0].length) };
}

function mappingOf(yaml: string): Record<string, unknown> | null {
  try {
    // Only texts and no aliases: nothing expands or becomes an object of the program.
    const value: unknown = parse(yaml, {
      schema: 'failsafe',
      maxAliasCount: 0,
      logLevel: 'silent',
    });
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // Two rules with something between them, not YAML.
    return null;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
    return value.join(', ');
  return '';
}
