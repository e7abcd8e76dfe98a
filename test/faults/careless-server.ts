/**
 * Servers that are wrong on purpose, as controls: a fault test that lets them pass proves nothing.
 *
 * `write-behind` answers an edit before it is written, as a cache would. `in-place` overwrites the file. `believing`
 * uses a temporary file and a rename, but takes every call for done: it loops over no short write, syncs no folder and
 * answers 200 whatever fails.
 *
 * Usage: bun careless-server.ts <manner> <file.csv> <port>; prints its address. `PATCH /` with
 * `{"data":{"_row_id":n,"value":v}}` edits the n-th row, `GET /health` answers 200.
 */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

const WRITE_BEHIND_MS = 25;
const CHUNK_BYTES = 8 << 10;

const [manner = '', path = '', port = '0'] = process.argv.slice(2);
const rows = readFileSync(path, 'utf8').trimEnd().split('\n');
let timer: Timer | null = null;

const writers: Record<string, (text: string) => void> = {
  'write-behind': () => {
    timer ??= setTimeout(() => {
      timer = null;
      writeFileSync(path, content());
    }, WRITE_BEHIND_MS);
  },
  'in-place': (text) => {
    const bytes = Buffer.from(text);
    const file = openSync(path, 'r+');
    ftruncateSync(file, 0);
    for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
      writeSync(file, bytes, at, Math.min(CHUNK_BYTES, bytes.byteLength - at), at);
    }
    fsyncSync(file);
    closeSync(file);
  },
  believing: (text) => {
    const temporary = `${path}.new`;
    const bytes = Buffer.from(text);
    attempt(() => {
      const file = openSync(temporary, 'w');
      attempt(() => void writeSync(file, bytes, 0, bytes.byteLength, 0));
      attempt(() => fsyncSync(file));
      closeSync(file);
      renameSync(temporary, path);
    });
  },
};

const write = writers[manner];
if (write === undefined) throw new Error(`no manner called ${manner}`);

const server = Bun.serve({
  port: Number(port),
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ status: 'ok' });
    const { data } = (await request.json()) as { data: { _row_id: number; value: string } };
    const cells = rows[data._row_id]!.split(',');
    cells[1] = data.value;
    rows[data._row_id] = cells.join(',');
    write(content());
    return Response.json({ success: true });
  },
});
console.log(server.url.href);

function content(): string {
  return `${rows.join('\n')}\n`;
}

function attempt(call: () => void): void {
  try {
    call();
  } catch {
    // The carelessness under test: what failed counts as done.
  }
}
