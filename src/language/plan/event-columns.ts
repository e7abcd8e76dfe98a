import type { Column } from '../run/schema.ts';

/** In the order shown; hidden ones are returned only when named. */
export const EVENT_COLUMNS = [
  { name: 'id', type: 'int' },
  { name: 'index', type: 'text' },
  { name: 'sourcetype', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'host', type: 'text' },
  { name: 'data', type: 'text' },
  { name: 'created', type: 'time' },
  { name: 'updated', type: 'time' },
  { name: 'extracted_fields', type: 'json' },
  { name: '_time', type: 'time', isHidden: true },
  { name: 'event_time', type: 'time', isHidden: true },
] as const satisfies readonly Column[];

export type EventColumnName = (typeof EVENT_COLUMNS)[number]['name'];
