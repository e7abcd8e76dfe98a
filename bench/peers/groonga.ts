/**
 * groonga, a full-text search engine with an HTTP server of its own (Debian), with titles and bodies indexed.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { NotMeasurable } from '../benchmark.ts';
import { freePort, ServerProcess } from '../processes.ts';

const COMMANDS = [
  'table_create?name=Texts&flags=TABLE_NO_KEY',
  'column_create?table=Texts&name=title&flags=COLUMN_SCALAR&type=ShortText',
  'column_create?table=Texts&name=body&flags=COLUMN_SCALAR&type=Text',
  'table_create?name=Terms&flags=TABLE_PAT_KEY&key_type=ShortText&default_tokenizer=TokenBigram&normalizer=NormalizerAuto',
  'column_create?table=Terms&name=titles&flags=COLUMN_INDEX|WITH_POSITION&type=Texts&source=title',
  'column_create?table=Terms&name=bodies&flags=COLUMN_INDEX|WITH_POSITION&type=Texts&source=body',
];
const LOADED_AT_ONCE = 5_000;

/** Starts it and loads the units. Throws NotMeasurable when it is not installed. */
export async function startGroonga(units: string, folder: string): Promise<ServerProcess> {
  if (Bun.which('groonga') === null) throw new NotMeasurable('groonga is not installed');
  const port = freePort();
  const server = await ServerProcess.start({
    command: [
      'groonga',
      '-s',
      '--protocol',
      'http',
      '--bind-address',
      '127.0.0.1',
      '-p',
      String(port),
      '-n',
      join(folder, 'groonga.db'),
    ],
    cwd: folder,
    logFile: join(folder, 'groonga.log'),
    url: `http://127.0.0.1:${port}/d/status`,
  });
  const url = `http://127.0.0.1:${port}`;
  // Its cache of answers would be measured instead: nobody else here has one.
  await ask(`${url}/d/cache_limit?max=0`);
  for (const command of COMMANDS) await ask(`${url}/d/${command}`);
  let chunk: string[] = [];
  const flush = async (): Promise<void> => {
    if (chunk.length > 0) await ask(`${url}/d/load?table=Texts`, `[${chunk.join(',')}]`);
    chunk = [];
  };
  for await (const line of createInterface(createReadStream(units))) {
    chunk.push(line);
    if (chunk.length === LOADED_AT_ONCE) await flush();
  }
  await flush();
  return server;
}

/** Path of a search for these words, twenty results with snippets. */
export function groongaPath(words: string): string {
  const query = new URLSearchParams({
    table: 'Texts',
    match_columns: 'title * 10 || body',
    query: words,
    limit: '20',
    output_columns: '_id,title,snippet_html(body),_score',
    sort_keys: '-_score',
  });
  return `/d/select?${query}`;
}

async function ask(url: string, body?: string): Promise<void> {
  const response = await fetch(
    url,
    body === undefined
      ? {}
      : { method: 'POST', body, headers: { 'Content-Type': 'application/json' } },
  );
  if (!response.ok) throw new Error(`groonga: ${response.status} ${await response.text()}`);
}
