/**
 * The work that must not slow others down: four clients that sort a million rows by pairs of columns, for which no
 * index exists, and one that puts a large CSV into the folder again and again and waits until it can be queried.
 *
 *     bun heavy-clients.ts <url> <API key> <document root> <CSV>
 *
 * Works until stdin is closed, then prints {"sorts","imports"} as JSON. Fails on any answer but 200.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { output } from '../processes.ts';

const [url, key, docroot, csv] = process.argv.slice(2);
if (url === undefined || key === undefined || docroot === undefined || csv === undefined) {
  throw new Error('heavy-clients.ts <url> <API key> <document root> <CSV>');
}
const SORTS = ['name,-price', 'category,quantity', 'note,-quantity', 'created,price'];
const headers = { 'X-API-Key': key };
const counts = { sorts: 0, imports: 0 };
let isOver = false;

async function get(path: string, allowed: readonly number[] = [200]): Promise<number> {
  const response = await fetch(url + path, { headers });
  const body = await response.text();
  if (!allowed.includes(response.status)) throw new Error(`${path}: ${response.status} ${body}`);
  return response.status;
}

async function sortAgainAndAgain(sort: string): Promise<void> {
  for (let direction = 0; !isOver; direction++) {
    await get(
      `/api/products/?limit=100&sort=${sort}&order=${direction % 2 === 0 ? 'asc' : 'desc'}`,
    );
    counts.sorts++;
  }
}

async function importAgainAndAgain(): Promise<void> {
  for (let turn = 1; !isOver; turn++) {
    const name = `import-${process.pid}-${turn}`;
    const path = join(docroot!, `${name}.csv`);
    await output(['cp', csv!, path]);
    while (!isOver && (await get(`/api/${name}/?limit=1`, [200, 404])) === 404) await Bun.sleep(50);
    if (!isOver) counts.imports++;
    await rm(path);
  }
}

void (async () => {
  for await (const _ of Bun.stdin.stream()) continue;
  isOver = true;
})();
await Promise.all([...SORTS.map(sortAgainAndAgain), importAgainAndAgain()]);
console.log(JSON.stringify(counts));
process.exit(0);
