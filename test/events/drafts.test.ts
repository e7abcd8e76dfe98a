/** Events of a request beyond what memory holds: in order, all of them, and nothing is left. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import type { EventDraft } from '../../src/events/event.ts';
import { Drafts } from '../../src/events/intake/drafts.ts';
import { descriptorsIn } from '../support/descriptors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const draftOf = (at: number, length: number): EventDraft => ({
  index: `i${at % 3}`,
  sourcetype: 'text',
  source: 'ä',
  host: '😀',
  data: `${at} ${'x€'.repeat(length / 2)}`,
  fields: at % 2 === 0 ? '{}' : `{"n":${at}}`,
  eventTime: at % 5 === 0 ? null : 1_790_000_000_000_000 + at,
});

test.each([
  ['of a few', 10, 100, 0],
  ['that fit into memory', 300, 100_000, 0],
  ['that do not', 900, 100_000, 1],
  ['each longer than a piece', 30, 3_000_000, 1],
])('events %s come again as they were', (_name, count, length, files) => {
  using folder = temporaryFolder();
  {
    using drafts = new Drafts(folder.path);
    for (let at = 0; at < count; at++) drafts.push(draftOf(at, length));
    expect([drafts.length, drafts.last]).toEqual([count, draftOf(count - 1, length)]);
    expect(descriptorsIn(folder.path)).toBe(files);
    for (const _twice of [1, 2]) {
      let at = 0;
      for (const piece of drafts.pieces()) {
        for (const draft of piece) {
          if (!Bun.deepEquals(draft, draftOf(at, length))) expect(draft.data).toBe(`${at}`);
          at++;
        }
      }
      expect(at).toBe(count);
    }
    expect(drafts.first(2)).toEqual([draftOf(0, length), draftOf(1, length)]);
    expect(drafts.first(5_000)).toHaveLength(count);
  }
  expect([readdirSync(folder.path), descriptorsIn(folder.path)]).toEqual([[], 0]);
});
