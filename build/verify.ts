/** The quick gate before every commit: format, types, architecture and unit tests. Exit code 1 when anything fails. */
import { checks } from './checks.ts';
import { step } from './step.ts';
import { runGroup } from './test-groups.ts';

const failures: string[] = [];
for (const [name, command] of checks) {
  if ((await step(command)) !== 0) failures.push(name);
}
for (const group of ['architecture', 'unit'] as const) {
  if ((await runGroup(group)).failed > 0) failures.push(`${group} tests`);
}
console.log(failures.length === 0 ? '\nAll well.' : `\nFailed: ${failures.join(', ')}`);
process.exitCode = failures.length === 0 ? 0 : 1;
