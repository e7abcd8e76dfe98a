/**
 * A known-bad control: answers an edit before it is written, as a server with a write-behind cache would. A kill test
 * that lets this pass proves nothing.
 *
 * Usage: bun careless-server.ts <file.csv>; prints its address.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const WRITE_BEHIND_MS = 25;

const path = process.argv[2]!;
const rows = readFileSync(path, 'utf8').trimEnd().split('\n');
let timer: Timer | null = null;

const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { data } = (await request.json()) as { data: { _row_id: number; value: number } };
    const key = rows[data._row_id]!.split(',')[0];
    rows[data._row_id] = `${key},${data.value}`;
    timer ??= setTimeout(() => {
      timer = null;
      writeFileSync(path, `${rows.join('\n')}\n`);
    }, WRITE_BEHIND_MS);
    return Response.json({ success: true });
  },
});
console.log(server.url.href);
