import { join } from 'node:path';
import { extensionOf } from '../base/paths.ts';
import pythonHost from './host/python-host.py' with { type: 'text' };

export type Language = 'script' | 'python';

export type HostCommand = (socketPath: string) => readonly string[];

export function languageOf(rel: string): Language {
  return extensionOf(rel) === '.py' ? 'python' : 'script';
}

/** What `handlers.python` leads to, or what is looked for without it. */
export interface PythonChoice {
  /** A PATH. */
  readonly path: string;
  /** An interpreter, or the folder of a virtual environment; null: the first of the path that will do. */
  readonly configured: string | null;
}

/** Why there is none. */
export function noPythonText({ configured }: PythonChoice): string {
  return configured === null
    ? 'python3 with fastapi and uvicorn not found'
    : 'the setting handlers.python names no Python with fastapi and uvicorn';
}

const PROBE = `import importlib.util, sys
sys.exit(not all(importlib.util.find_spec(name) for name in ('fastapi', 'uvicorn')))`;
const PROBE_LIMIT_MS = 10_000;

/** Null for none. About 50 ms per candidate. `neutralFolder` holds no Python files. */
export async function findPython(
  choice: PythonChoice,
  docroot: string,
  neutralFolder: string,
): Promise<HostCommand | null> {
  const { path } = choice;
  for (const program of new Set(candidates(choice))) {
    if (program === null || !(await hasPackages(program, path, neutralFolder))) continue;
    // No byte code beside the handlers; UTF-8 whatever LANG says.
    const head = [program, '-B', '-u', '-X', 'utf8', '-c', pythonHost];
    return (socketPath) => [...head, socketPath, docroot];
  }
  return null;
}

function candidates({ path, configured }: PythonChoice): (string | null)[] {
  if (configured !== null) {
    const inFolder = ['bin/python3', 'bin/python'].map((name) => join(configured, name));
    return [...inFolder, configured].filter((program) => Bun.which(program) !== null);
  }
  return path
    .split(':')
    .map((folder) => (folder.startsWith('/') ? Bun.which('python3', { PATH: folder }) : null));
}

async function hasPackages(program: string, path: string, cwd: string): Promise<boolean> {
  const probe = Bun.spawn([program, '-c', PROBE], {
    cwd,
    env: { PATH: path, HOME: process.env['HOME'] ?? '/' },
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: PROBE_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return (await probe.exited) === 0;
}
