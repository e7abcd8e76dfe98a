/** A new event shared by all tails: its message and folded texts are computed once, on first use. */
import type { LoopShare } from '../../base/scheduling/loop-share.ts';
import type { EventRow } from '../event.ts';
import { eventJson } from '../event.ts';
import { timeText } from '../event-time.ts';
import type { Selection } from '../read/selection.ts';
import { foldedText, spacedJson } from '../read/term.ts';

/** Folding more text takes milliseconds. */
const LONG_CHARACTERS = 64 * 1024;

export class TailEvent {
  readonly row: EventRow;
  /** Takes long to process, so with pauses. */
  readonly isLong: boolean;
  #message: string | null = null;
  #texts: string[] | null = null;

  constructor(row: EventRow) {
    this.row = row;
    this.isLong = row.data.length + row.fields.length > LONG_CHARACTERS;
  }

  get message(): string {
    return (this.#message ??= tailMessage(this.row.id, eventJson(this.row)));
  }

  /** All terms, already folded, occur in one of the nine members each. */
  hasTerms(terms: readonly string[]): boolean {
    const texts = (this.#texts ??= textsOf(this.row).map((text) => foldedText(text())));
    return terms.every((term) => texts.some((text) => text.includes(term)));
  }

  /** As `hasTerms`, yielding between texts. */
  async hasTermsInTurns(terms: readonly string[], share: LoopShare): Promise<boolean> {
    if (this.#texts === null) {
      const texts: string[] = [];
      for (const text of textsOf(this.row)) {
        await share.turn();
        texts.push(foldedText(text()));
      }
      this.#texts = texts;
    }
    for (const term of terms) {
      await share.turn();
      if (!this.#texts.some((text) => text.includes(term))) return false;
    }
    return true;
  }
}

export function tailMessage(id: number, json: string): string {
  return `id: ${id}\nevent: event\ndata: ${json}\n\n`;
}

function textsOf(row: EventRow): (() => string)[] {
  const times = [row.created, row.updated].flatMap((at) => {
    const text = timeText(at);
    return [text, text.replace('T', ' ').slice(0, -1)];
  });
  const members = [row.data, row.index, row.sourcetype, row.source, row.host, ...times];
  return [...members.map((text) => () => text), () => spacedJson(row.fields)];
}

/** Ignores the selection's terms and bounds of `_time`. */
export function isSelected(
  row: EventRow,
  { members, created, updated, createdAfter, createdBefore }: Selection,
): boolean {
  for (const name in members) {
    if (row[name as 'index' | 'host'] !== members[name as 'index' | 'host']) return false;
  }
  if (created !== null && row.created !== created) return false;
  if (updated !== null && row.updated !== updated) return false;
  if (createdAfter !== null && row.created < createdAfter) return false;
  return createdBefore === null || row.created < createdBefore;
}
