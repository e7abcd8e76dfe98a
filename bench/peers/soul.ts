/**
 * soul-cli, a REST server for SQLite files, from npm. Its SQLite binding is compiled once, which takes minutes; both
 * stay in bench/data.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NotMeasurable } from '../benchmark.ts';
import { freePort, output, ServerProcess } from '../processes.ts';

const VERSION = '0.8.2';
const FOLDER = join(import.meta.dir, '..', 'data', 'peers', 'soul');
const INSTALL_LIMIT_MS = 240_000;

/** Which one is compared with. */
export const soulVersion = `soul-cli ${VERSION}`;

/** Starts it on a database. Throws NotMeasurable when it cannot be had here. */
export async function startSoul(
  database: string,
  folder: string,
  say: (line: string) => void,
): Promise<ServerProcess> {
  const program = await install(say);
  const port = freePort();
  return ServerProcess.start({
    command: ['node', program, '-d', database, '-p', String(port)],
    cwd: folder,
    logFile: join(folder, 'soul.log'),
    env: { NODE_ENV: 'production' },
    url: `http://127.0.0.1:${port}`,
  });
}

async function install(say: (line: string) => void): Promise<string> {
  const program = join(FOLDER, 'node_modules', 'soul-cli', 'src', 'server.js');
  const marker = join(FOLDER, 'complete');
  if (existsSync(marker)) return program;
  for (const tool of ['node', 'npm', 'g++', 'make']) {
    if (Bun.which(tool) === null) throw new NotMeasurable(`soul-cli needs ${tool} to be installed`);
  }
  say(`installing ${soulVersion}, once; this takes minutes`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}\n');
  try {
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts=false'];
    await output(['npm', 'install', ...flags, `soul-cli@${VERSION}`], {
      cwd: FOLDER,
      timeoutMs: INSTALL_LIMIT_MS,
    });
  } catch (error) {
    throw new NotMeasurable(`soul-cli could not be installed: ${lastLine(error)}`);
  }
  writeFileSync(marker, '');
  return program;
}

function lastLine(error: unknown): string {
  return String(error).trim().split('\n').at(-1) ?? '';
}
