/**
 * Edits of one product after the other, each on disk before its answer, and whether they really are.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './benchmark.ts';
import { requireEqual } from './products.ts';
import type { BenchService } from './service.ts';

const QUANTITY = 4;

/** A row and the quantity it was given. */
export type AcknowledgedEdit = readonly [rowId: number, quantity: number];

/** Changes rows one at a time, never the same twice. */
export class Editor {
  readonly #service: BenchService;
  readonly #dataset: string;
  readonly #rows: number;
  #next = 1;

  constructor(service: BenchService, dataset: string, rows: number) {
    this.#service = service;
    this.#dataset = dataset;
    this.#rows = rows;
  }

  /** Median milliseconds of so many edits spread over the file. Throws when one is refused or not in the file. */
  async milliseconds(times: number): Promise<number> {
    const taken: number[] = [];
    let last: AcknowledgedEdit = [0, 0];
    for (let time = 0; time < times; time++) {
      // 7919 is prime, so every row comes up before one comes up again.
      const rowId = 1 + ((this.#next * 7919) % this.#rows);
      last = [rowId, 1_000_000 + this.#next++];
      const startedAt = performance.now();
      await this.#edit(last);
      taken.push(performance.now() - startedAt);
    }
    requireInFile(this.#service, this.#dataset, [last]);
    return median(taken);
  }

  async #edit([rowId, quantity]: AcknowledgedEdit): Promise<void> {
    const response = await fetch(`${this.#service.url}/api/${this.#dataset}/`, {
      method: 'PATCH',
      headers: { ...this.#service.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ action: 'update', data: { _row_id: rowId, quantity } }),
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`row ${rowId}: ${response.status} ${body}`);
  }
}

/** Throws unless the file holds every one of the edits. */
export function requireInFile(
  service: BenchService,
  dataset: string,
  edits: readonly AcknowledgedEdit[],
): void {
  const lines = readFileSync(join(service.docroot, `${dataset}.csv`), 'utf8').split('\n');
  for (const [rowId, quantity] of edits) {
    const found = lines[rowId]?.split(',')[QUANTITY];
    requireEqual(`the quantity of row ${rowId} in the file`, found, String(quantity));
  }
}
