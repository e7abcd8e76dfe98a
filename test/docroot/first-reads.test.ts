/** Datasets are read once each when they appear, whenever that is (DS-34). */
import { test } from 'bun:test';
import { FirstReads } from '../../src/docroot/parsing/first-reads.ts';
import type { Registry, RegistryListener, Resource } from '../../src/docroot/registry/registry.ts';
import { testLog, until } from '../support/database.ts';

test('a dataset that appears in the moment the last one was read is read, too', async () => {
  const datasetNamed = (rel: string) => ({ rel, sheet: null, kind: { dataset: {} } }) as Resource;
  for (let turns = 0; turns < 8; turns++) {
    const read: string[] = [];
    const listeners: RegistryListener[] = [];
    const appear = (rel: string) => {
      for (const listen of listeners) {
        void listen({ added: [datasetNamed(rel)], changed: [], removed: [] });
      }
    };
    const laterBy = (left: number): void =>
      left === 0 ? appear('late.csv') : queueMicrotask(() => laterBy(left - 1));
    const reads = new FirstReads({
      log: testLog().log,
      read: async ({ rel }) => {
        read.push(rel);
        if (rel === 'first.csv') laterBy(turns);
      },
    });
    reads.follow({
      onChange: (listener: RegistryListener) => listeners.push(listener),
    } as unknown as Registry);
    appear('first.csv');
    await until(() => read.includes('late.csv'));
  }
});
