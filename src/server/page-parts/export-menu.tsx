/**
 * Taking a view along: its address, the request for a terminal, the data as JSON and as files (every view of data has it).
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Format } from '../../dataset/format.ts';

/** A format of a file as people call it. */
export const FORMAT_LABELS: Readonly<Record<Format, string>> = {
  json: 'JSON',
  csv: 'CSV',
  ndjson: 'NDJSON',
  xlsx: 'Excel (XLSX)',
  parquet: 'Parquet',
};

/** In the order of how many people want them. */
const FILES = ['csv', 'ndjson', 'xlsx', 'parquet'] as const satisfies readonly Format[];

interface ExportProps {
  /** The data of the view as JSON. */
  readonly json: string;
  /** The query that curl sends to `/search2/api/run/`; absent: curl asks for the JSON. */
  readonly query?: string;
  /** Address in each format that is a file; formats that it lacks are not offered. */
  readonly files: Partial<Readonly<Record<Format, string>>>;
  /** What the files hold, as markup. */
  readonly note?: JSX.Element;
}

/** The button and its menu; what copies needs script and is shown by it. */
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
        {offered.length === 0 ? '' : <p class="fine">Download {note ?? 'what is shown'}</p>}
        {offered.map((format) => (
          <a href={files[format]} download="" data-download={FORMAT_LABELS[format]} safe>
            {FORMAT_LABELS[format]}
          </a>
        ))}
      </div>
    </details>
  );
}
