/**
 * What an event is, before and after it is stored (EV-27).
 */
import { timeText } from './event-time.ts';

/** The members a client may write, checked, trimmed and with their defaults. */
export interface EventDraft {
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  /** Compact JSON text of `extracted_fields`, extraction included. */
  readonly fields: string;
  /** Microseconds; null when neither data nor client names a time (EV-30). */
  readonly eventTime: number | null;
}

/** A row of `events` as readers select it with `EVENT_SELECT`. */
export interface EventRow {
  readonly id: number;
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly created: number;
  readonly updated: number;
  /** Compact JSON text. */
  readonly fields: string;
}

const NO_FIELDS = '{}';

/** The select list that gives an `EventRow`. */
export const EVENT_SELECT =
  'id, "index", sourcetype, source, host, data, created, updated, json(fields) AS fields';

/**
 * Events stored at one moment as compact JSON, ids from `firstId` on (null: a dry run). The same text is quoted once: an
 * answer to a thousand events names few hosts.
 */
export function eventsJson(
  drafts: readonly EventDraft[],
  firstId: number | null,
  created: number,
): string[] {
  const time = timeText(created);
  const quotes = new Map<string, string>();
  const quoted = (text: string): string => {
    let known = quotes.get(text);
    if (known === undefined) quotes.set(text, (known = JSON.stringify(text)));
    return known;
  };
  return drafts.map(
    ({ index, sourcetype, source, host, data, fields }, at) =>
      `{"id":${firstId === null ? null : firstId + at},"index":${quoted(index)},"sourcetype":${quoted(sourcetype)},"source":${quoted(source)},"host":${quoted(host)},"data":${JSON.stringify(data)},"created":"${time}","updated":"${time}","extracted_fields":${fields}}`,
  );
}

/** As `eventsJson`, all in one JSON array. */
export function eventsArray(
  drafts: readonly EventDraft[],
  firstId: number | null,
  created: number,
): string {
  if (drafts.some(({ fields }) => fields !== NO_FIELDS))
    return `[${eventsJson(drafts, firstId, created).join(',')}]`;
  // Without texts that are JSON already the whole is written in one go, in half the time.
  const time = timeText(created);
  const none = {};
  const events = drafts.map(({ index, sourcetype, source, host, data }, at) => ({
    id: firstId === null ? null : firstId + at,
    index,
    sourcetype,
    source,
    host,
    data,
    created: time,
    updated: time,
    extracted_fields: none,
  }));
  return JSON.stringify(events);
}

/** The event as compact JSON, members in the order of EV-27. `id` null: a dry run. */
export function eventJson(event: Omit<EventRow, 'id'> & { readonly id: number | null }): string {
  const { id, index, sourcetype, source, host, data, created, updated, fields } = event;
  return `{"id":${id},"index":${JSON.stringify(index)},"sourcetype":${JSON.stringify(sourcetype)},"source":${JSON.stringify(source)},"host":${JSON.stringify(host)},"data":${JSON.stringify(data)},"created":"${timeText(created)}","updated":"${timeText(updated)}","extracted_fields":${fields}}`;
}
