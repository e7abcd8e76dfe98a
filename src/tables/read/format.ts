/** Formats of a list. */

/** Values of the `format` parameter. */
export const FORMATS = ['json', 'ndjson', 'csv', 'xlsx', 'parquet'] as const;

export type Format = (typeof FORMATS)[number];

/** `attachment`: always a download. */
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
