/**
 * Running an executable of a release as far as this machine can: itself, or under qemu for another processor.
 */
import { executableKind } from './targets.ts';

const TIME_LIMIT_MS = 60_000;
const EMULATORS = ['qemu-aarch64-static', 'qemu-aarch64'];

/** `runs here` or `runs under <emulator>` when it prints the version; else why it was not run. Throws for a wrong version. */
export function tryToRun(path: string, versionLine: string): string {
  const kind = executableKind(path);
  if (!kind.startsWith('ELF') || process.platform !== 'linux') return 'not run: another system';
  const isNative = kind.includes(process.arch === 'arm64' ? 'arm64' : 'x86-64');
  const emulator = isNative ? null : EMULATORS.find((name) => Bun.which(name) !== null);
  if (emulator === undefined || (!isNative && !kind.includes('arm64'))) {
    return 'not run: another processor, and no qemu';
  }
  const command = [...(emulator === null ? [] : [emulator]), path, '--version'];
  try {
    const ran = Bun.spawnSync(command, { stdout: 'pipe', stderr: 'pipe', timeout: TIME_LIMIT_MS });
    const printed = ran.stdout.toString().trim();
    if (printed === versionLine) return emulator === null ? 'runs here' : `runs under ${emulator}`;
    if (ran.exitCode === 0) throw new Error(`${path} says it is ${printed}`);
    return `not run: ${ran.stderr.toString().trim().split('\n')[0] ?? ''}`;
  } catch (error) {
    // The loader of another C library is missing.
    if ((error as { code?: string }).code === 'ENOENT') return 'not run: its C library is not here';
    throw error;
  }
}
