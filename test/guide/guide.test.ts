/**
 * Every command, request and configuration in the documentation does what it says: the fenced blocks of README.md and docs/,
 * one after the other, against the executable. What a block is for is written at its fence, see fenced-blocks.ts.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../http/eventually.ts';
import { deliverAs, programs } from './program-configs.ts';
import { difference } from './expected-output.ts';
import { type FencedBlock, fencedBlocks } from './fenced-blocks.ts';
import { type Done, Reader } from './reader.ts';

const ROOT = resolve(import.meta.dir, '../..');
/** How long something may take to show. */
const PATIENCE_MS = 5_000;
const PORTS = [8000, 5514, 6514];
/** Chapters that begin with nothing. */
const OWN_START = ['docs/README.md', 'docs/install.md', 'docs/tour.md', 'README.md'];
/** Blocks nobody runs, each with its reason at its fence; more than these few would make it a habit. */
const MOST_SKIPPED = 17;

/** How the tour starts the server. */
const SERVER = 'svc serve shop &';

const files = ['README.md', ...[...new Bun.Glob('docs/*.md').scanSync({ cwd: ROOT })].sort()];
const documents = files.map((file) => ({
  file,
  blocks: fencedBlocks(readFileSync(join(ROOT, file), 'utf8')),
}));
const startBlocks = documents
  .find(({ file }) => file === 'docs/tour.md')!
  .blocks.filter(({ isStart }) => isStart);

let tourist: Reader;
beforeAll(async () => {
  tourist = await Reader.create(PORTS);
  for (const { text } of startBlocks) expect(await tourist.run(text)).toMatchObject({ code: 0 });
  await tourist.stopServers();
});
afterAll(() => tourist[Symbol.asyncDispose]());

for (const { file, blocks } of documents) {
  const used = blocks.filter(({ use }) => use !== 'skip');
  if (used.length === 0) continue;
  describe(file, () => {
    let reader: Reader;
    let isBroken = false;
    let lastBlock: FencedBlock | null = null;
    let last: Done = { code: 0, out: '', err: '' };
    beforeAll(async () => {
      reader = OWN_START.includes(file) ? await Reader.create(PORTS) : await tourist.copy();
      if (file === 'README.md') await reader.run(clone());
      if (!OWN_START.includes(file)) await reader.run(SERVER);
    });
    afterAll(() => reader[Symbol.asyncDispose]());

    test.each(used.map((block) => [nameOf(block), block] as const))('%s', async (_, block) => {
      if (block.use === 'output') {
        await eventually(async () => {
          const found = difference(block.language, block.text, last.out);
          if (found === null) return;
          if (lastBlock !== null && isOnlyReading(lastBlock))
            last = await doneWith(reader, lastBlock);
          throw new Error(found);
        }, PATIENCE_MS);
        return;
      }
      if (isBroken) throw new Error('a block before this one failed');
      isBroken = block.use === 'run';
      lastBlock = block;
      await eventually(
        async () => {
          last = await doneWith(reader, block);
          if (last.code !== 0) throw new Error(`exit code ${last.code}\n${last.out}\n${last.err}`);
        },
        isOnlyReading(block) ? PATIENCE_MS : 0,
      );
      isBroken = false;
    });
  });
}

/** Whether a block can be repeated until what was changed before it shows (DS-33). */
function isOnlyReading({ use, text }: FencedBlock): boolean {
  const commands = text.replaceAll('\\\n', ' ').trim().split('\n');
  return (
    use === 'run' &&
    commands.every(
      (line) => line.startsWith('curl ') && (line.includes(' -G ') || !/ -[dXFo] /.test(line)),
    )
  );
}

/** What README.md takes for granted: a clone of the project in which it was built. */
function clone(): string {
  return `mkdir -p build/out
    ln -s "$(command -v svc)" build/out/svc
    cp -r ${ROOT}/examples .
    git init -q .
    git add examples
    git -c user.name=a -c user.email=a@example commit -qm examples`;
}

async function doneWith(reader: Reader, block: FencedBlock): Promise<Done> {
  const { use, detail, text } = block;
  const fine = { code: 0, out: '', err: '' };
  switch (use) {
    case 'run':
      if (block.isRestart) await reader.stopServers();
      return reader.run(text, { mayBeRefused: block.mayBeRefused });
    case 'file':
      reader.write(detail, text);
      return fine;
    case 'svc': {
      const file = detail === '' ? `checked-${block.line}.yaml` : detail;
      reader.write(file, text);
      return reader.run(`svc config . --config ${file}`);
    }
    case 'query':
      return reader.run(`svc search shop --json '${text.trim().replaceAll("'", `'\\''`)}'`);
    case 'program':
      reader.write(`program-${block.line}.${block.language}`, text);
      return reader.run(`bun program-${block.line}.${block.language}`);
    case 'config': {
      const check = programs[detail];
      if (check === undefined) throw new Error(`nothing checks a configuration of ${detail}`);
      const deliveries = await check(text, reader);
      for (const one of deliveries) await deliverAs(one, reader);
      return fine;
    }
    default:
      throw new Error(
        `the fence does not say what the block is for; see test/guide/fenced-blocks.ts`,
      );
  }
}

function nameOf({ line, use, detail, text, language }: FencedBlock): string {
  const first = text.split('\n').find((one) => one.trim() !== '' && !one.startsWith('#')) ?? '';
  return `line ${line}: ${use ?? language} ${detail} ${first.slice(0, 60)}`;
}

test('every block that is not run says why', () => {
  const skipped = documents.flatMap(({ file, blocks }) =>
    blocks
      .filter(({ use }) => use === 'skip')
      .map(({ line, detail }) => `${file}:${line} ${detail}`),
  );
  console.log(`\nNot run:\n${skipped.map((line) => `  ${line}`).join('\n')}`);
  expect(skipped.filter((line) => line.split(' ').length < 4)).toEqual([]);
  expect(skipped.length).toBeLessThanOrEqual(MOST_SKIPPED);
});
