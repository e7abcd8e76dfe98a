/**
 * Downloads (`data-download`) with progress and cancelling. Without script, or for a file too large
 * to hold in a page, the browser downloads it itself.
 */
import { localNumber, localSize } from './times.ts';
import { beginWork, elapsedText, type Work } from './work-panel.ts';

/** Larger files are left to the browser. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Bytes collected before they become a Blob, which the browser may keep on disk. */
const PART_BYTES = 4 * 1024 * 1024;
const STEP_MS = 200;
const DONE_MS = 8_000;
const HANDED_OVER_MS = 30_000;
const TOLD_MS = 60_000;
/** The browser has read the object URL by then. */
const FORGET_MS = 60_000;
const LINE_FEED = 10;
/** Formats with one row per line. */
const LINES = /^(?:text\/csv|application\/x-ndjson)\b/;

let running = 0;

/** Includes links inserted later. */
export function startDownloads(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-download]') : null;
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!(link instanceof HTMLAnchorElement) || !isPlain || event.altKey) return;
    if (event.defaultPrevented) return;
    event.preventDefault();
    link.closest<HTMLElement>('[popover]')?.hidePopover();
    link.closest('details')?.removeAttribute('open');
    void download(link.href, link.dataset['download'] || 'file');
  });
  addEventListener('beforeunload', (event) => {
    // Leaving the page aborts its downloads.
    if (running > 0) event.preventDefault();
  });
}

async function download(href: string, label: string): Promise<void> {
  const stopper = new AbortController();
  const startedAt = performance.now();
  const work = beginWork(`Download as ${label}`, () => stopper.abort());
  const state = { text: 'Preparing', share: null as number | null };
  const tell = (): void => work.say(`${state.text} · ${elapsedText(startedAt)}`, state.share);
  const timer = setInterval(tell, STEP_MS);
  tell();
  running++;
  try {
    const response = await fetch(href, { signal: stopper.signal });
    if (!response.ok || response.body === null) {
      work.end(await problemIn(response), null);
      return;
    }
    const file = await received(response, (bytes, share, rows) => {
      state.share = share;
      state.text = rows === null ? localSize(bytes) : `${rows}, ${localSize(bytes)}`;
    });
    if (file === null) {
      stopper.abort();
      handOver(href, work);
      return;
    }
    save(file.blob, nameIn(response, label));
    const done = `Done: ${localSize(file.blob.size)} in ${elapsedText(startedAt)}`;
    const cut = cutText(response, file.rows);
    work.end(cut === null ? done : `${done}. ${cut}`, cut === null ? DONE_MS : TOLD_MS);
  } catch {
    const text = stopper.signal.aborted
      ? 'Cancelled.'
      : 'The connection broke; the file is not complete.';
    work.end(text, stopper.signal.aborted ? DONE_MS : null);
  } finally {
    running--;
    clearInterval(timer);
  }
}

type Progress = (bytes: number, share: number | null, rows: string | null) => void;

/**
 * With the number of rows where they can be counted; null once too large. Rejects when the
 * connection breaks.
 */
async function received(
  response: Response,
  tell: Progress,
): Promise<{ readonly blob: Blob; readonly rows: number | null } | null> {
  const type = response.headers.get('content-type') ?? '';
  const length = Number(response.headers.get('content-length') ?? 0);
  const total = Number(response.headers.get('x-total-count') ?? 0);
  const countsRows = LINES.test(type);
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let bytes = 0;
  let lines = 0;
  const keep = (): void => {
    parts.push(new Blob(held));
    held = [];
    heldBytes = 0;
  };
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) return null;
    held.push(value as Uint8Array<ArrayBuffer>);
    heldBytes += value.length;
    if (heldBytes >= PART_BYTES) keep();
    if (countsRows) lines += linesIn(value);
    tell(bytes, shareOf({ bytes, length, lines, total }), rowsText(countsRows, lines, total));
  }
  keep();
  // One line holds the column names, or the totals of a search.
  return { blob: new Blob(parts, { type }), rows: countsRows ? Math.max(0, lines - 1) : null };
}

interface Amounts {
  readonly bytes: number;
  readonly length: number;
  readonly lines: number;
  readonly total: number;
}

function shareOf({ bytes, length, lines, total }: Amounts): number | null {
  if (length > 0) return Math.min(1, bytes / length);
  return lines > 0 && total > 0 ? Math.min(1, lines / total) : null;
}

/** A cell may contain line breaks, so there can be fewer rows than lines. */
function rowsText(countsRows: boolean, lines: number, total: number): string | null {
  if (!countsRows) return null;
  if (total === 0) return `${localNumber(lines)} rows`;
  return `${localNumber(Math.min(lines, total))} of ${localNumber(total)} rows`;
}

/** For a result of which the file holds only the first rows; null when complete. */
function cutText(response: Response, rows: number | null): string | null {
  const most = Number(response.headers.get('x-row-limit') ?? 0);
  const told = response.headers.get('x-truncated');
  if (most === 0 || told === 'false') return null;
  const limit = localNumber(most);
  if (told === 'true') return `The file has the first ${limit} rows only: there are more.`;
  // Cells may contain line breaks.
  return rows === null || rows < most
    ? null
    : `A file may have ${limit} rows; what is beyond them is not in it.`;
}

function linesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/** The browser starts over, and writes to disk as it reads. */
function handOver(href: string, work: Work): void {
  work.end(
    `It is larger than ${localSize(MAX_BYTES)}, so your browser downloads it: see its own list.`,
    HANDED_OVER_MS,
  );
  follow(href, '');
}

function save(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  follow(address, name);
  setTimeout(() => URL.revokeObjectURL(address), FORGET_MS);
}

function follow(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

function nameIn(response: Response, label: string): string {
  const disposition = response.headers.get('content-disposition') ?? '';
  const exact = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (exact !== undefined) return decodeURIComponent(exact);
  return /filename="([^"]+)"/.exec(disposition)?.[1] ?? `download.${label.toLowerCase()}`;
}

async function problemIn(response: Response): Promise<string> {
  if (response.status === 401) return 'You are signed out: sign in again.';
  try {
    const { error, detail } = (await response.json()) as { error?: unknown; detail?: unknown };
    const text = error ?? detail;
    if (typeof text === 'string') return text;
  } catch {
    // No answer of the API: its status says what there is to say.
  }
  return `It could not be made (status ${response.status}).`;
}
