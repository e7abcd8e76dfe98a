/**
 * The corpus of the search benchmarks: the product list and some thousand generated Markdown documents, and the same
 * units of text as NDJSON for the references.
 */
import { createReadStream, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { CSV_HEADER, productCsv, randomSource } from './data.ts';

const SYLLABLES = [
  'ka',
  'lo',
  'mi',
  'ren',
  'tas',
  'vor',
  'un',
  'del',
  'gri',
  'pol',
  'sha',
  'tem',
  'wen',
  'xi',
  'zor',
];
const WORDS_OF_PRODUCTS = [
  'amber',
  'basin',
  'cobalt',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbor',
  'iris',
  'juniper',
];
const DOCUMENT_WORDS = 120;

/** Title and text of the generated document of that number. */
function documentText(index: number): { readonly title: string; readonly text: string } {
  const random = randomSource(index + 1);
  const word = (): string => {
    if (random() < 0.05) return WORDS_OF_PRODUCTS[Math.floor(random() * WORDS_OF_PRODUCTS.length)]!;
    const parts = 1 + Math.floor(random() * 3);
    return Array.from(
      { length: parts },
      () => SYLLABLES[Math.floor(random() ** 2 * SYLLABLES.length)]!,
    ).join('');
  };
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  return { title: words(4), text: words(DOCUMENT_WORDS) };
}

/** Writes so many documents below the folder. */
export function writeDocuments(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index++) {
    const { title, text } = documentText(index);
    writeFileSync(join(folder, `document-${index}.md`), `# ${title}\n\n${text}\n`);
  }
}

/** Path of the rows of the product list and the documents as `{title, body}` lines, made on first use. */
export async function textUnits(rows: number, documents: number): Promise<string> {
  const csv = await productCsv(rows);
  const path = join(dirname(csv), `texts-${rows}-${documents}.ndjson`);
  if (existsSync(path)) return path;
  const names = CSV_HEADER.split(',');
  const writer = Bun.file(`${path}.part`).writer();
  let isHeader = true;
  for await (const line of createInterface(createReadStream(csv))) {
    const cells = line.split(',');
    const body = cells.map((cell, column) => `${names[column]}: ${cell}`).join(' | ');
    if (!isHeader) writer.write(`${JSON.stringify({ title: cells[0], body })}\n`);
    isHeader = false;
  }
  for (let index = 0; index < documents; index++) {
    const { title, text } = documentText(index);
    writer.write(`${JSON.stringify({ title, body: text })}\n`);
  }
  await writer.end();
  renameSync(`${path}.part`, path);
  return path;
}

/** Two words each, of those that stand in products and documents. */
export function twoWords(): string[] {
  return WORDS_OF_PRODUCTS.flatMap((first) =>
    WORDS_OF_PRODUCTS.filter((second) => second !== first).map((second) => `${first} ${second}`),
  );
}
