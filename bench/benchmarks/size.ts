/**
 * size: the executable against one that holds the runtime and nothing else.
 */
import { statSync } from 'node:fs';
import type { Benchmark } from '../benchmark.ts';
import { compiled } from '../compiled.ts';

const megabytes = (path: string): number => statSync(path).size / 1e6;

export const size: Benchmark = {
  name: 'size',
  work: 'bytes of the executable',
  async run(bench) {
    const hello = await compiled('hello.ts', bench.folder);
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'MB', values: [megabytes(bench.executable)] },
        reference: { name: 'bare compiled hello', unit: 'MB', values: [megabytes(hello)] },
        goal: { of: 'ratio', atMost: 1.25 },
      },
    ];
  },
};
