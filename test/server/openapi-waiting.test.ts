/** Describing resources waits for datasets that were never read, but begins no more of them when the wait is over (DS-191). */
import { expect, test } from 'bun:test';
import { describeResources, usableResources } from '../../src/operations/files/resources.ts';
import type { Resource } from '../../src/docroot/registry/registry.ts';
import { csv } from '../../plugins/csv/kind.ts';

test('when the wait is over no further dataset is read', async () => {
  const resources = Array.from({ length: 50 }, (_, at) => ({
    rel: `t${at}.csv`,
    canonical: `t${at}`,
    extensionForm: `t${at}.csv`,
    sheet: null,
    type: 'csv',
    family: 'dataset',
    kind: csv,
  }));
  let begun = 0;
  const services = {
    registry: { list: () => resources as unknown as Resource[] },
    config: { readonly: false },
    datasets: { targetOf: ({ rel }: Resource) => ({ rel }) },
    tables: {
      peek: () => null,
      // Reading takes longer than anybody waits.
      current: () => {
        begun++;
        return new Promise(() => {});
      },
    },
  } as unknown as Parameters<typeof describeResources>[0];
  const grants = {
    scopes: null,
    isSuperuser: true,
    patterns: { read: [], write: [] },
  } as unknown as Parameters<typeof usableResources>[1];
  const described = await describeResources(services, usableResources(services, grants));
  expect(described.map(({ rows }) => rows)).toEqual(resources.map(() => null));
  expect(begun).toBe(1);
});
