/**
 * Programs of the system that some tests need: Chromium for the browser, strace for counting system calls, Python with
 * FastAPI for handlers, what the Debian package depends on for installing it.
 *
 * Installed from Debian's own archive where that is possible (root, apt); elsewhere the reason is printed and the tests
 * that need them are left out or skip themselves.
 */
import { step } from './step.ts';

/** What `ensureTools` found or installed: true for what is there now. */
interface SystemTools {
  readonly chromium: boolean;
  readonly strace: boolean;
}

/** Debian packages, each with how to tell that it is there. */
const PACKAGES: Readonly<Record<string, () => boolean>> = {
  chromium: () => Bun.which('chromium') !== null,
  strace: () => Bun.which('strace') !== null,
  adduser: () => Bun.which('adduser') !== null,
  'python3-fastapi': () => pythonHas('fastapi'),
  'python3-uvicorn': () => pythonHas('uvicorn'),
};

/** Looks for the tools and tries to install what is missing. */
export async function ensureTools(): Promise<SystemTools> {
  const missing = (): string[] => Object.keys(PACKAGES).filter((name) => !PACKAGES[name]!());
  const obstacle = process.getuid?.() !== 0 ? 'this is not root' : 'there is no apt-get';
  if (missing().length > 0 && process.getuid?.() === 0 && Bun.which('apt-get') !== null) {
    await aptGet('update');
    await aptGet('install', ...missing());
    // One that is not to be had keeps the others off.
    if (missing().length > 1) for (const name of missing()) await aptGet('install', name);
  } else if (missing().length > 0) {
    console.log(`Not installed, and cannot be, because ${obstacle}: ${missing().join(', ')}`);
  }
  const absent = missing();
  return { chromium: !absent.includes('chromium'), strace: !absent.includes('strace') };
}

/** Runs apt-get, patient with a slow archive and with another run that holds its lock. */
function aptGet(verb: 'update' | 'install', ...words: readonly string[]): Promise<number> {
  const patience = ['DPkg::Lock::Timeout=300', 'Acquire::Retries=3', 'Acquire::http::Timeout=60'];
  const flags = verb === 'install' ? ['-qy', '--no-install-recommends'] : ['-q'];
  return step(['apt-get', ...patience.map((one) => `-o${one}`), verb, ...flags, ...words], {
    DEBIAN_FRONTEND: 'noninteractive',
  });
}

/** Whether one of the Python installations on PATH has the module; svc takes the first that has all. */
function pythonHas(module: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => {
    const program = Bun.which('python3', { PATH: folder });
    if (program === null) return false;
    return Bun.spawnSync([program, '-c', `import ${module}`], { stderr: 'ignore' }).exitCode === 0;
  });
}
