/**
 * `bun run house`: how large the source is and how it hangs together, to hold against an earlier day's.
 *
 * A file has one importer when a single file of its own folder imports it: it may belong inside that file. A circle is a group
 * of files that reach each other by imports, those of types included. The longest way is the most files one has to go through
 * from import to import, a circle counted whole.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './step.ts';

const files = [...new Bun.Glob('{src,plugins}/**/*.{ts,tsx,css}').scanSync({ cwd: root })].sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

const folders = Map.groupBy(files, (file) => file.split('/').slice(0, 2).join('/'));
console.log('folder                    files    lines  words of comments');
for (const [folder, own] of [...folders, ['all', files] as const]) {
  const lines = own.reduce((sum, file) => sum + texts.get(file)!.split('\n').length - 1, 0);
  const words = own.reduce((sum, file) => sum + wordsOfComments(file), 0);
  console.log(
    folder.padEnd(24) +
      [own.length, lines, words].map((number) => String(number).padStart(9)).join(''),
  );
}

const importers = new Map(files.map((file) => [file, [] as string[]]));
for (const [file, targets] of imports) for (const one of targets) importers.get(one)!.push(file);
const single = files.filter((file) => {
  const [only, ...others] = importers.get(file)!;
  return only !== undefined && others.length === 0 && dirname(only) === dirname(file);
});
const siblings = Map.groupBy(files, dirname);
const crowded = [...siblings].filter(([, own]) => own.length > 20);
const found = circles();
console.log(`\n${single.length} files serve one file of their own folder`);
console.log(
  `${crowded.length} folders with more than 20 files: ${crowded.map(([folder, own]) => `${folder} ${own.length}`).join(', ')}`,
);
console.log(`${found.length} import circles`);
for (const circle of found) console.log(`  ${circle.join(' ')}`);
const way = longestWay(found);
console.log(`the longest way by imports has ${way.length} files\n  ${way.join(' ')}`);

function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(texts.get(file)!, true, true);
  const targets = importedFiles
    .filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => relative(root, join(root, dirname(file), fileName)));
  return [...new Set(targets)].filter((target) => texts.has(target));
}

function wordsOfComments(file: string): number {
  const text = texts.get(file)!;
  if (file.endsWith('.css')) return wordsIn((text.match(/\/\*[\s\S]*?\*\//g) ?? []).join(' '));
  const variant = file.endsWith('x') ? ts.LanguageVariant.JSX : ts.LanguageVariant.Standard;
  const source = ts.createSourceFile(
    file,
    text,
    ts.ScriptTarget.Latest,
    true,
    file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const ranges = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    // Text between tags may look like a comment.
    if (!(variant === ts.LanguageVariant.JSX && ts.isJsxText(node))) {
      for (const { pos, end } of [
        ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
        ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
      ])
        ranges.set(pos, end);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const { pos, end } of ts.getLeadingCommentRanges(text, source.endOfFileToken.pos) ?? [])
    ranges.set(pos, end);
  return [...ranges].reduce((sum, [from, to]) => sum + wordsIn(text.slice(from, to)), 0);
}

function wordsIn(comment: string): number {
  return comment.match(/[A-Za-z0-9_'’-]*[A-Za-z0-9][A-Za-z0-9_'’-]*/g)?.length ?? 0;
}

/** Strongly connected groups of more than one file (Tarjan). */
function circles(): string[][] {
  const order = new Map<string, { index: number; low: number }>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string): { index: number; low: number } => {
    const own = { index: order.size, low: order.size };
    order.set(file, own);
    stack.push(file);
    for (const target of imports.get(file)!) {
      const known = order.get(target);
      if (known === undefined) own.low = Math.min(own.low, visit(target).low);
      else if (stack.includes(target)) own.low = Math.min(own.low, known.index);
    }
    if (own.low === own.index) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) groups.push(group);
    }
    return own;
  };
  for (const file of files) if (!order.has(file)) visit(file);
  return groups;
}

/** Files in the order in which each imports the next; a circle stands in it whole. */
function longestWay(groups: readonly string[][]): string[] {
  const groupOf = new Map(groups.flatMap((group) => group.map((file) => [file, group] as const)));
  const ways = new Map<string, string[]>();
  const wayFrom = (file: string): string[] => {
    const own = groupOf.get(file) ?? [file];
    const known = ways.get(own[0]!);
    if (known !== undefined) return known;
    let longest: string[] = [];
    for (const target of own.flatMap((one) => imports.get(one)!)) {
      if (own.includes(target)) continue;
      const way = wayFrom(target);
      if (way.length > longest.length) longest = way;
    }
    const way = [...own, ...longest];
    ways.set(own[0]!, way);
    return way;
  };
  return files.map(wayFrom).reduce((longest, way) => (way.length > longest.length ? way : longest));
}
