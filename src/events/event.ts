import { timeText } from './event-time.ts';

/** Members a client may write, validated, with defaults. */
export interface EventDraft {
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  /** Compact JSON of `extracted_fields`, extraction included. */
  readonly fields: string;
  /** Microseconds; null when neither data nor client name a time. */
  readonly eventTime: number | null;
}

/** Selected with `EVENT_SELECT`. */
export interface EventRow {
  readonly id: number;
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly created: number;
  readonly updated: number;
  readonly fields: string;
}

const NO_FIELDS = '{}';

/** Of table `events`. */
export const EVENT_NAMES = [
  'id',
  'index',
  'sourcetype',
  'source',
  'host',
  'data',
  'created',
  'updated',
  'fields',
] as const;
export const EVENT_SELECT =
  'id, "index", sourcetype, source, host, data, created, updated, json(fields) AS fields';

/**
 * Ids count from `firstId` (null: dry run). Equal texts are quoted once, because a thousand events name few hosts.
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

/** As `eventsJson`, as the inside of a JSON array. */
export function eventsList(
  drafts: readonly EventDraft[],
  firstId: number | null,
  created: number,
): string {
  if (drafts.some(({ fields }) => fields !== NO_FIELDS))
    return eventsJson(drafts, firstId, created).join(',');
  // When no text is JSON already, one stringify call takes half the time.
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
  return JSON.stringify(events).slice(1, -1);
}

/** Member order is part of the API. `id` null: dry run. */
export function eventJson(event: Omit<EventRow, 'id'> & { readonly id: number | null }): string {
  const { id, index, sourcetype, source, host, data, created, updated, fields } = event;
  return `{"id":${id},"index":${JSON.stringify(index)},"sourcetype":${JSON.stringify(sourcetype)},"source":${JSON.stringify(source)},"host":${JSON.stringify(host)},"data":${JSON.stringify(data)},"created":"${timeText(created)}","updated":"${timeText(updated)}","extracted_fields":${fields}}`;
}
