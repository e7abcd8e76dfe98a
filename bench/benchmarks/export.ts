/**
 * export: a whole dataset of a million rows to a client, against DuckDB writing the same table to a file, and against
 * the file as it lies there.
 */
import { join } from 'node:path';
import type { Bench, Benchmark, Finding } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { MemoryWatch, residentMegabytes } from '../memory.ts';
import { output, peer, ServerProcess } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 1_000_000;
const LINE_FEED = 0x0a;

export const exportRows: Benchmark = {
  name: 'export',
  work: 'all of 1M rows × 8 columns to a client',
  async run(bench) {
    const csv = await productCsv(ROWS);
    await using service = await BenchService.start(bench, { 'products.csv': csv });
    await using files = await ServerProcess.start({
      command: peer('file-server.ts', csv),
      cwd: bench.folder,
      logFile: join(bench.folder, 'files.log'),
    });
    const download = (format: string): Promise<Download> =>
      drain(`${service.url}/api/products/?format=${format}`, service.headers);
    const sizes = { csv: await download('csv'), ndjson: await download('ndjson') };
    requireEqual('the lines of the CSV', sizes.csv.lines, ROWS + 1);
    requireEqual('the lines of the NDJSON', sizes.ndjson.lines, ROWS);
    await Bun.sleep(500);
    const idle = residentMegabytes(service.pid);
    using memory = new MemoryWatch(service.pid);
    const rate = async (format: 'csv' | 'ndjson'): Promise<number> => {
      const { bytes, seconds } = await download(format);
      requireEqual(`the bytes of the ${format}`, bytes, sizes[format].bytes);
      return ROWS / seconds;
    };
    const rounds = await inTurns(bench, {
      csv: () => rate('csv'),
      ndjson: () => rate('ndjson'),
      duckdb: () => duckdbRate(bench, csv),
      file: async () => ROWS / (await drain(files.url, {})).seconds,
    });
    return findings(rounds, memory.peak - idle);
  },
};

function findings(
  rounds: Record<'csv' | 'ndjson' | 'duckdb' | 'file', number[]>,
  growth: number,
): Finding[] {
  const rows = (name: string, values: number[]) => ({ name, unit: 'rows/s', values }) as const;
  const duckdb = rows('DuckDB COPY to a CSV file', rounds.duckdb);
  const file = rows('the file through Bun.serve', rounds.file);
  return [
    {
      part: 'CSV',
      subject: rows('svc', rounds.csv),
      reference: duckdb,
      goal: { of: 'ratio', atLeast: 0.3 },
    },
    { part: 'NDJSON', subject: rows('svc', rounds.ndjson), reference: duckdb, goal: null },
    {
      part: 'CSV, for orientation',
      subject: rows('svc', rounds.csv),
      reference: file,
      goal: null,
    },
    {
      part: 'growth of memory',
      subject: { name: 'svc', unit: 'MB', values: [growth] },
      reference: null,
      goal: { of: 'value', atMost: 64 },
    },
  ];
}

interface Download {
  readonly bytes: number;
  readonly lines: number;
  readonly seconds: number;
}

async function drain(url: string, headers: Record<string, string>): Promise<Download> {
  const startedAt = performance.now();
  // Nobody else compresses, and it would be most of the work.
  const response = await fetch(url, { headers: { ...headers, 'Accept-Encoding': 'identity' } });
  if (response.status !== 200 || response.body === null) {
    throw new Error(`${url}: ${response.status}`);
  }
  let bytes = 0;
  let lines = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines++;
  }
  return { bytes, lines, seconds: (performance.now() - startedAt) / 1000 };
}

async function duckdbRate(bench: Bench, csv: string): Promise<number> {
  const text = await output(peer('duckdb-copy.ts', csv, join(bench.folder, 'duckdb.csv'), '1'));
  const [milliseconds] = JSON.parse(text) as number[];
  return ROWS / (milliseconds! / 1000);
}
