/** Entries of systemd's journal in its export format, as systemd-journal-upload sends them. */
import type { Dialect, Reading } from '../intake.ts';
import { IntakeRefusal } from '../intake.ts';
import { Entries } from '../wire/entries.ts';
import {
  exportEntryEnd,
  exportMembers,
  isJournalEntry,
  JOURNAL_SOURCETYPE,
  journalEntry,
} from '../wire/journal.ts';

const MAX_SAMPLE = 2048;

export const journald: Dialect = {
  name: 'journald',
  read(body, order, tools) {
    const entries = new Entries(tools, body.length, (text) => new IntakeRefusal(413, text, text));
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    for (let from = 0; from < bytes.length;) {
      const end = exportEntryEnd(bytes, from);
      const entry = bytes.subarray(from, end < 0 ? bytes.length : end);
      from += entry.length;
      // Blank lines between entries.
      if (entry.length <= 1) continue;
      const number = entries.next();
      const members = exportMembers(entry);
      const problem = isJournalEntry(members)
        ? (entries.add(journalEntry(members), {
            sourcetype: JOURNAL_SOURCETYPE,
            source: JOURNAL_SOURCETYPE,
            host: order.clientAddress,
          })?.reason ?? null)
        : 'no entry of a journal: __REALTIME_TIMESTAMP is missing';
      if (problem !== null)
        entries.reject(`entry ${number}`, problem, () => entry.toString('utf8', 0, MAX_SAMPLE));
    }
    const { drafts, rejections, rejected } = entries;
    const answer = { status: 202, headers: { 'Content-Type': 'text/plain' }, body: 'OK.\n' };
    return { drafts, rejections, rejected, answer: () => answer } satisfies Reading;
  },
};
