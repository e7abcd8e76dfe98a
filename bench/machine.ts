/**
 * What the figures were measured on and with.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { soulVersion } from './peers/soul.ts';
import { output } from './processes.ts';
import manifest from '../package.json' with { type: 'json' };

const SAMPLE_MS = 250;
const TICKS_PER_SECOND = 100;

/** Name and value of each fact. */
export async function machineFacts(executable: string): Promise<[name: string, value: string][]> {
  const version = async (command: string[]): Promise<string> => {
    try {
      return (await output(command)).trim().split('\n')[0] ?? '';
    } catch {
      return 'not installed';
    }
  };
  return [
    ['machine', `${availableParallelism()} × ${cpus()[0]?.model.trim()}, ${gigabytes()} GB memory`],
    ['system', `${systemName()}, Linux ${release()}`],
    ['svc', await version([executable, '--version'])],
    ['bun', `${Bun.version} (also runs the TypeScript references)`],
    ['node', await version(['node', '--version'])],
    [
      'references',
      `${soulVersion}, @duckdb/node-api ${manifest.devDependencies['@duckdb/node-api']}, elysia ${manifest.dependencies.elysia}, papaparse ${manifest.devDependencies.papaparse}`,
    ],
  ];
}

/** How many cores others keep busy, and the host takes away, while nothing is measured; looks on for a quarter of a second. */
export async function busyCores(): Promise<number> {
  const before = busyTicks();
  await Bun.sleep(SAMPLE_MS);
  const after = busyTicks();
  return (after - before) / TICKS_PER_SECOND / (SAMPLE_MS / 1000);
}

/** Ticks of all cores since the machine started. */
function busyTicks(): number {
  const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
  const [user, nice, system, , , interrupt, softInterrupt, steal] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return [user, nice, system, interrupt, softInterrupt, steal].reduce<number>(
    (sum, ticks) => sum + (ticks ?? 0),
    0,
  );
}

function gigabytes(): string {
  return (totalmem() / 1e9).toFixed(0);
}

function systemName(): string {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return /^PRETTY_NAME="(.*)"$/m.exec(text)?.[1] ?? process.platform;
  } catch {
    // Not a Linux with that file.
    return process.platform;
  }
}
