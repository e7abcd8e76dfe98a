/**
 * Downloads (`data-download`) with progress and cancelling. Without script, or for a file too large
 * to hold in a page, the browser downloads it itself.
 */
import { onSite } from './site.ts';
import { refusalOf } from './ask.ts';
import { closestOf, make } from './element.ts';
import { isPlainClick } from './leaving.ts';
import { localNumber, localSize } from './times.ts';
import { beginWork, elapsedText } from './work-panel.ts';

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
    const link = closestOf<HTMLAnchorElement>(event, 'a[data-download]');
    if (link === null || !isPlainClick(event) || event.defaultPrevented) return;
    event.preventDefault();
    link.closest<HTMLElement>('[popover]')?.hidePopover();
    link.closest('details')?.removeAttribute('open');
    void saveAnswer(link.href, link.dataset['download'] || 'file');
  });
  addEventListener('beforeunload', (event) => {
    // Leaving the page aborts its downloads.
    if (running > 0) event.preventDefault();
  });
}

/** `init`: of a request that is no link, which the browser cannot repeat by itself. */
export async function saveAnswer(href: string, label: string, init?: RequestInit): Promise<void> {
  const stopper = new AbortController();
  const startedAt = performance.now();
  const work = beginWork(`Download as ${label}`, () => stopper.abort());
  let state: { text: string; share: number | null } = { text: 'Preparing', share: null };
  const tell = (): void => work.say(`${state.text} · ${elapsedText(startedAt)}`, state.share);
  const timer = setInterval(tell, STEP_MS);
  tell();
  running++;
  try {
    const response = await fetch(onSite(href), { ...init, signal: stopper.signal });
    if (!response.ok || response.body === null) {
      const { status, message } = await refusalOf(response);
      work.end(status === 401 ? 'You are signed out: sign in again.' : message, null);
      return;
    }
    const file = await received(response, (text, share) => {
      state = { text, share };
    });
    if (file === null) {
      stopper.abort();
      const most = localSize(MAX_BYTES);
      if (init !== undefined) return work.end(`It is larger than ${most}: ask for less.`, null);
      // The browser starts over, and writes to disk as it reads.
      const told = `It is larger than ${most}, so your browser downloads it: see its own list.`;
      work.end(told, HANDED_OVER_MS);
      follow(href, '');
      return;
    }
    const address = URL.createObjectURL(file.blob);
    follow(address, nameIn(response, label));
    setTimeout(() => URL.revokeObjectURL(address), FORGET_MS);
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

/**
 * With the number of rows where they can be counted; null once too large. Rejects when the
 * connection breaks.
 */
async function received(
  response: Response,
  tell: (text: string, share: number | null) => void,
): Promise<{ readonly blob: Blob; readonly rows: number | null } | null> {
  const header = (name: string): string => response.headers.get(name) ?? '';
  const [length, total] = [Number(header('content-length')), Number(header('x-total-count'))];
  const type = header('content-type');
  const countsRows = LINES.test(type);
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let bytes = 0;
  let lines = 0;
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) return null;
    held.push(value as Uint8Array<ArrayBuffer>);
    heldBytes += value.length;
    if (heldBytes >= PART_BYTES) {
      parts.push(new Blob(held));
      held = [];
      heldBytes = 0;
    }
    if (countsRows) lines += linesIn(value);
    // A cell may contain line breaks, so there can be fewer rows than lines.
    const rows = localNumber(total === 0 ? lines : Math.min(lines, total));
    const of = total === 0 ? '' : ` of ${localNumber(total)}`;
    const share = length > 0 ? bytes / length : lines > 0 && total > 0 ? lines / total : null;
    const told = `${countsRows ? `${rows}${of} rows, ` : ''}${localSize(bytes)}`;
    tell(told, share === null ? null : Math.min(1, share));
  }
  // One line holds the column names, or the totals of a search.
  const rows = countsRows ? Math.max(0, lines - 1) : null;
  return { blob: new Blob([...parts, ...held], { type }), rows };
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

function follow(href: string, name: string): void {
  const link = make('a', { href, download: name });
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
