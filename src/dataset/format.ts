/**
 * The formats a list can be written in (DS-44).
 */

/** Values of the `format` parameter. */
export const FORMATS = ['json', 'ndjson', 'csv', 'xlsx', 'parquet'] as const;

/** A format by the name its parameter has. */
export type Format = (typeof FORMATS)[number];

/** How each format is announced; `attachment` says whether it is always a download (DS-45). */
export const formatDetails: Readonly<
  Record<Format, { readonly mediaType: string; readonly attachment: boolean }>
> = {
  json: { mediaType: 'application/json', attachment: false },
  ndjson: { mediaType: 'application/x-ndjson', attachment: false },
  csv: { mediaType: 'text/csv; charset=utf-8', attachment: true },
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    attachment: true,
  },
  parquet: { mediaType: 'application/vnd.apache.parquet', attachment: true },
};
