/**
 * What the figures were measured on and with.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { soulVersion } from './peers/soul.ts';
import { output } from './processes.ts';
import manifest from '../package.json' with { type: 'json' };

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

/** How many processes want a core at the moment, on average over a minute. */
export function loadAverage(): number {
  return loadavg()[0] ?? 0;
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
