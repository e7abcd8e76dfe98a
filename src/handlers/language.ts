import { extensionOf } from '../base/paths.ts';
import pythonHost from './host/python-host.py' with { type: 'text' };

export type Language = 'script' | 'python';

export type HostCommand = (socketPath: string) => readonly string[];

export function languageOf(rel: string): Language {
  return extensionOf(rel) === '.py' ? 'python' : 'script';
}

export const NO_PYTHON = 'python3 with fastapi and uvicorn not found';

const PROBE = `import importlib.util, sys
sys.exit(not all(importlib.util.find_spec(name) for name in ('fastapi', 'uvicorn')))`;
const PROBE_LIMIT_MS = 10_000;

/**
 * The first `python3` of `path` (a PATH) that has fastapi and uvicorn; null for none. About 50 ms per candidate.
 * `neutralFolder` holds no Python files.
 */
export async function findPython(
  path: string,
  docroot: string,
  neutralFolder: string,
): Promise<HostCommand | null> {
  const programs = path
    .split(':')
    .map((folder) => (folder.startsWith('/') ? Bun.which('python3', { PATH: folder }) : null));
  for (const program of new Set(programs)) {
    if (program === null || !(await hasPackages(program, path, neutralFolder))) continue;
    // No byte code beside the handlers; UTF-8 whatever LANG says.
    const head = [program, '-B', '-u', '-X', 'utf8', '-c', pythonHost];
    return (socketPath) => [...head, socketPath, docroot];
  }
  return null;
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
