/** @jsxImportSource @kitajs/html */
/** The address, the request with curl, the data as JSON and as files. */
import type { Format } from '../../tables/read/format.ts';

export const FORMAT_LABELS: Readonly<Record<Format, string>> = {
  json: 'JSON',
  csv: 'CSV',
  ndjson: 'NDJSON',
  xlsx: 'Excel (XLSX)',
  parquet: 'Parquet',
};

const FILES = ['csv', 'ndjson', 'xlsx', 'parquet'] as const satisfies readonly Format[];

interface ExportProps {
  readonly json: string;
  /** The query that curl sends to `/search2/api/run/`; absent: curl asks for the JSON. */
  readonly query?: string;
  /** Formats that are absent are not offered. */
  readonly files: Partial<Readonly<Record<Format, string>>>;
  /** What the files contain, as markup. */
  readonly note?: JSX.Element;
}

/** The copy buttons need script and are shown by it. */
export function ExportMenu({ json, query, files, note }: ExportProps) {
  const offered = FILES.filter((format) => files[format] !== undefined);
  return (
    <details class="menu-button">
      <summary class="button quiet small">Export</summary>
      <div class="menu-list">
        <button type="button" class="plain" data-copy="address">
          Copy the address of this view
        </button>
        <button type="button" class="plain" data-copy="curl" data-from={json} data-query={query}>
          Copy as curl
        </button>
        <a href={json}>Open JSON</a>
        {offered.length > 0 && <p class="fine">Download {note ?? 'what is shown'}</p>}
        {offered.map((format) => (
          <a href={files[format]} download="" data-download={FORMAT_LABELS[format]} safe>
            {FORMAT_LABELS[format]}
          </a>
        ))}
      </div>
    </details>
  );
}
