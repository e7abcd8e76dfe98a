/**
 * A control that is wrong on purpose: edits a CSV file over HTTP with versions and `If-Match`, atomically and one edit
 * after the other, but never looks whether another program changed the file between its reading and its writing.
 *
 * Usage: bun forgetful-server.ts <file.csv>; prints its address. Speaks as much of the product's interface as the race
 * needs: GET, POST and PATCH of one dataset.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Between reading and writing; a real server computes meanwhile. */
const WORK_MS = 3;

const path = process.argv[2]!;
let queue: Promise<unknown> = Promise.resolve();

/** The file; null while it is deleted. */
function fileText(): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

const tagOf = (text: string) => `"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;

function rowsOf(text: string): object[] {
  const lines = text.trimEnd().split('\n').slice(1);
  return lines.map((line, index) => {
    const [key = '', value = ''] = line.split(',');
    return { _row_id: index + 1, key, value };
  });
}

interface Change {
  readonly action: string;
  readonly data: { _row_id: number; value: string } & { key: string; value: string }[];
}

async function change(request: Request): Promise<Response> {
  const { action, data } = (await request.json()) as Change;
  const text = fileText();
  if (text === null) return Response.json({ detail: 'Not Found' }, { status: 404 });
  if (request.headers.get('If-Match') !== tagOf(text)) {
    return Response.json({ detail: "Precondition failed: 't' has changed" }, { status: 412 });
  }
  const lines = text.trimEnd().split('\n');
  if (action === 'create') lines.push(...data.map(({ key, value }) => `${key},${value}`));
  else lines[data._row_id] = `${lines[data._row_id]?.split(',')[0]},${data.value}`;
  await Bun.sleep(WORK_MS);
  const next = `${lines.join('\n')}\n`;
  writeFileSync(`${path}.forgetful`, next);
  renameSync(`${path}.forgetful`, path);
  return Response.json({ success: true }, { headers: { ETag: tagOf(next) } });
}

const server = Bun.serve({
  port: 0,
  fetch(request) {
    if (request.method !== 'GET') {
      const answer = queue.then(() => change(request));
      queue = answer.catch(() => undefined);
      return answer;
    }
    const text = fileText();
    if (text === null) return new Response(null, { status: 404 });
    return Response.json(rowsOf(text), { headers: { ETag: tagOf(text) } });
  },
});
console.log(server.url.href);
