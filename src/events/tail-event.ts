/**
 * A new event as all tails see it: its message and its folded texts are made once, by the first tail that asks (EV-77).
 */
import type { LoopShare } from '../base/loop-share.ts';
import type { EventRow } from './event.ts';
import { eventJson } from './event.ts';
import { timeText } from './event-time.ts';
import type { Selection } from './selection.ts';
import { foldedText, spacedJson } from './term.ts';

/** Folding more text than this takes milliseconds. */
const LONG_CHARACTERS = 64 * 1024;

/** One event, on its way to the tails. */
export class TailEvent {
  readonly row: EventRow;
  /** Working on it takes long: with pauses, then. */
  readonly isLong: boolean;
  #message: string | null = null;
  #texts: string[] | null = null;

  constructor(row: EventRow) {
    this.row = row;
    this.isLong = row.data.length + row.fields.length > LONG_CHARACTERS;
  }

  /** As it goes to a reader. */
  get message(): string {
    return (this.#message ??= tailMessage(this.row.id, eventJson(this.row)));
  }

  /** Whether every term, folded already, occurs in one of the nine members (EV-34). */
  hasTerms(terms: readonly string[]): boolean {
    const texts = (this.#texts ??= textsOf(this.row).map((text) => foldedText(text())));
    return terms.every((term) => texts.some((text) => text.includes(term)));
  }

  /** As `hasTerms`, giving way between one text and the next. */
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

/** A message of a tail. */
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

/** Whether the members and times of an event are those of a selection; its terms and bounds of `_time` are not looked at. */
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
