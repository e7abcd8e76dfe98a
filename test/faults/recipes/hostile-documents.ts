/**
 * F17 for documents and media: Markdown that a parser needs the square of its length for, and damaged films and sounds.
 *
 * Each is shown or refused in time, it stays as it is, and /health and the other files answer meanwhile.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clip, tone } from '../../http/media-files.ts';
import { hostileMedia, slowDocuments } from '../../plugins/document-corpus.ts';
import { onSharedCores } from '../../support/patience.ts';
import { type Client, type Service, startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { mutatedBytes } from '../file-mutations.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

/** Read at the same time: more than there are workers. */
const AT_ONCE = 4;
/** A worker is stopped after 5 seconds, and may have three others before it. */
const ANSWER_LIMIT_MS = 40_000;
const MOST_ASKED = 20;
/** What marked alone may take; the product stops it where it does. */
const CONTROL_LIMIT_MS = 2_000;

export const hostileDocuments: Recipe = {
  id: 'F17d',
  faults: 'F17',
  title: 'documents made to be slow and damaged media are shown or refused, and harm nothing',
  needs: [],
  run: async (trial) => {
    const scale = trial.size === 'short' ? 0.1 : 1;
    const documents = slowDocuments.filter(() => trial.size === 'long' || trial.random() < 0.3);
    const seeds = [
      ['m.mp3', tone()],
      ['m.mp4', clip()],
      ...hostileMedia.map(([name, make]) => [name, make()] as const),
    ] as const;
    const files = Object.fromEntries<string | Buffer>([
      ...documents.map(([name, make]) => [`${name}.md`, make(scale)] as const),
      ...seeds.map(([name, content], slot) => [nameIn(slot, name), content] as const),
    ]);
    await using service = await startService({ files });
    await service.accounts.grant('reader', '*', 'read');
    const client = await service.as('reader');
    await inGroups(trial, service, documents, async ([name]) => {
      let status = await statusOf(client, `/${encodeURIComponent(name)}`);
      // The search index reads all of them too, so there may be no place in time; then it is worth asking again.
      for (let again = 0; status === 503 && again < onSharedCores(MOST_ASKED); again++) {
        trial.count('documents answered 503, asked again');
        await Bun.sleep(1_000);
        status = await statusOf(client, `/${encodeURIComponent(name)}`);
      }
      trial.count(`documents answered ${status ?? 'nothing in time'}`);
      trial.check(status === 200 || status === 413, `${name}: answered ${status}`);
    });
    const mutants = Array.from({ length: trial.times(40, 2_000) }, (_, at) => {
      const slot = at % seeds.length;
      const [name, content] = seeds[slot]!;
      return [nameIn(slot, name), mutatedBytes(content, trial)] as const;
    });
    await inGroups(trial, service, mutants, async ([name, content]) => {
      writeFileSync(join(service.docroot, name), content);
      const path = `/media/${encodeURIComponent(name)}`;
      for (const query of ['?metadata=1', '?thumbnail=1', '']) {
        const status = await statusOf(client, path + query);
        trial.count(`media${query} answered ${status ?? 'nothing in time'}`);
        // 404: it has no cover. 409: it is being written.
        trial.check([200, 404, 409].includes(status ?? 0), `${name}${query}: answered ${status}`);
      }
    });
    const errors = service.stderr().match(/^.*"level":"error".*$/gm) ?? [];
    for (const line of errors) trial.fail(line);
  },
  control: {
    title: 'a Markdown library without a limit of its time does not come back',
    run: async (trial) => {
      using folder = temporaryFolder();
      const [, make] = slowDocuments.find(([name]) => name === 'strikes')!;
      const path = folder.write('slow.md', make(2));
      const marked = Bun.resolveSync('marked', import.meta.dir);
      const program = `import { marked } from ${JSON.stringify(marked)}; marked.parse(await Bun.file(${JSON.stringify(path)}).text());`;
      const child = Bun.spawn([process.execPath, '-e', program], { timeout: CONTROL_LIMIT_MS });
      trial.check((await child.exited) === 0, 'it was stopped');
    },
  },
};

/** The file of a seed, with the extension of its name. */
const nameIn = (slot: number, name: string): string => `m${slot}.${name.split('.').at(-1)}`;

async function inGroups<T>(
  trial: Trial,
  service: Service,
  all: readonly T[],
  read: (one: T) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await Promise.all([...all.slice(from, from + AT_ONCE).map(read), neighbours(trial, service)]);
  }
}

async function neighbours(trial: Trial, service: Service): Promise<void> {
  const started = performance.now();
  const { status } = await service.fetch('/health');
  trial.countMost('slowest /health, ms', Math.round(performance.now() - started));
  trial.check(status === 200, `/health answers ${status}`);
}

async function statusOf(client: Client, path: string): Promise<number | null> {
  try {
    const response = await client.fetch(path, {
      headers: { Accept: 'text/html' },
      signal: AbortSignal.timeout(onSharedCores(ANSWER_LIMIT_MS)),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    // The caller says so.
    return null;
  }
}
