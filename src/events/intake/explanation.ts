/** What would be found in lines, told to people who choose how to send them. */
import { timeText } from '../event-time.ts';
import type { Extraction } from './extract/extraction.ts';
import { exactJson } from './json-text.ts';

/** The text of a line, and what would be found in it. */
export interface LineExplanation {
  readonly line: string;
  /** Null: nothing is found. */
  readonly format: string | null;
  readonly time: string | null;
  /** The member or place the time is from. */
  readonly time_from: string | null;
  readonly host: string | null;
  readonly host_from: string | null;
  /** `extracted_fields` as JSON. */
  readonly fields: string;
}

export const MAX_EXPLAINED_LINES = 200;
const JOURNAL = /^(?:__CURSOR|__REALTIME_TIMESTAMP)=/;

/** Blank lines are left out; the entries of a journal's export are its blocks. `now`: microseconds. */
export function explainLines(
  extraction: Extraction,
  text: string,
  { sourcetype, now }: { readonly sourcetype: string; readonly now: number },
): LineExplanation[] {
  return text
    .replaceAll('\0', '\ufffd')
    .split(JOURNAL.test(text) ? /\r?\n\r?\n/ : /\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(0, MAX_EXPLAINED_LINES)
    .map((data) => {
      const line = { index: '', source: '', sourcetype, data };
      const found = extraction.read(line, now);
      return {
        line: data,
        format: found?.format ?? null,
        time: found?.time == null ? null : timeText(found.time.value),
        time_from: found?.time?.key ?? null,
        host: found?.host?.value ?? null,
        host_from: found?.host?.key ?? null,
        fields: found === null ? '{}' : exactJson(found.members),
      };
    });
}
