/**
 * This very Debian system as a copy that a test may install packages into: an overlay of the root file system in a mount
 * namespace of its own. Nothing of what happens in it reaches the disk, and all of it ends with the test.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How one command in the system ended. */
interface Ended {
  readonly code: number;
  /** Standard output and then diagnostics. */
  readonly text: string;
}

const TOOLS = [
  'dpkg',
  'dpkg-deb',
  'unshare',
  'nsenter',
  'setpriv',
  'adduser',
  'deb-systemd-helper',
];
/** `/run` and `/tmp` are empty, so that a running systemd, or another test, is not seen. */
const SET_UP = `
  set -e
  mount -t tmpfs -o size=4g tmpfs "$1"
  mkdir "$1/upper" "$1/work" "$1/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
  mount --rbind /proc "$1/root/proc"
  mount --rbind /dev "$1/root/dev"
  mount -t tmpfs tmpfs "$1/root/run"
  mount -t tmpfs tmpfs "$1/root/tmp"
  mkdir "$1/root/tmp/given"
  mount --bind "$2" "$1/root/tmp/given"
  echo ready
  exec cat
`;

/** Why no package can be installed here; null when one can. */
export function obstacleToInstalling(): string | null {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'this is not root';
  const missing = TOOLS.filter((name) => Bun.which(name) === null);
  if (missing.length > 0) return `there is no ${missing.join(', ')}`;
  using trial = new TrialFolder();
  const overlay = `mount -t tmpfs tmpfs "$1" && mkdir "$1/u" "$1/w" "$1/r" &&
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/u,workdir=$1/w" "$1/r"`;
  const { exitCode, stderr } = Bun.spawnSync(
    ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', overlay, 'sh', trial.path],
    { stderr: 'pipe' },
  );
  return exitCode === 0 ? null : `there is no overlay: ${stderr.toString().trim()}`;
}

/** A copy of this system with the folder `given` at /tmp/given. */
export async function copyOfThisSystem(given: string): Promise<DebianSystem> {
  const folder = new TrialFolder();
  const keeper = Bun.spawn(
    [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      SET_UP,
      'sh',
      folder.path,
      given,
    ],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  );
  const first = await keeper.stdout.getReader().read();
  if (first.done) {
    folder[Symbol.dispose]();
    throw new Error('the copy of this system could not be made');
  }
  return new DebianSystem(keeper, folder);
}

class TrialFolder implements Disposable {
  readonly path = mkdtempSync(join(realpathSync(tmpdir()), 'svc-system-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The copy; disposing it ends its processes and removes it. */
export class DebianSystem implements AsyncDisposable {
  readonly #keeper: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #folder: TrialFolder;

  constructor(keeper: Bun.Subprocess<'pipe', 'pipe', 'inherit'>, folder: TrialFolder) {
    this.#keeper = keeper;
    this.#folder = folder;
  }

  /** The command line that runs another one inside, as root, without standard input. */
  inside(command: readonly string[]): string[] {
    const enter = ['nsenter', '--target', String(this.#keeper.pid), '--mount'];
    return [...enter, 'chroot', join(this.#folder.path, 'root'), ...command];
  }

  /** Runs a command inside to its end. */
  async run(...command: string[]): Promise<Ended> {
    const child = Bun.spawn(this.inside(command), {
      env: INSIDE,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [code, out, err] = await Promise.all([
      child.exited,
      child.stdout.text(),
      child.stderr.text(),
    ]);
    return { code, text: out + err };
  }

  /** Runs a line of shell inside and answers what it prints. Throws when it fails. */
  async shell(line: string): Promise<string> {
    const { code, text } = await this.run('sh', '-c', line);
    if (code !== 0) throw new Error(`${line}: ${text}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeper.kill('SIGKILL');
    await this.#keeper.exited;
    this.#folder[Symbol.dispose]();
  }
}

/** What every process inside starts with. */
export const INSIDE: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
};
