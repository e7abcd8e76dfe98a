/**
 * Events as they arrive, above the list; held back while paused or while the reader looks at one.
 */
import { breakableParts } from '../../base/text/breakable-text.ts';
import { levelNamed } from '../../base/text/level-names.ts';
import { countText } from '../../pages/grid/model.ts';
import { make } from '../shared/element.ts';
import { localNumber, localTime, serverMoment } from '../shared/times.ts';
import { type Narrow, valueText } from './terms.ts';
import { noteInAddress, viewChoice } from './view-choices.ts';
import { onSite } from '../shared/site.ts';
import { ask, askJson, Refused } from '../shared/ask.ts';

interface LiveEvent {
  readonly created: string;
  readonly index?: string;
  readonly host?: string;
  readonly source?: string;
  readonly sourcetype?: string;
  readonly data?: string | null;
  readonly extracted_fields?: Readonly<Record<string, unknown>> | null;
}

const MAX_SHOWN = 500;
const SAY_MS = 2_000;
const ENVELOPE = ['index', 'host', 'source', 'sourcetype'] as const;

export function startTail(explorer: HTMLElement, terms: string, narrow: Narrow): void {
  const button = explorer.querySelector<HTMLButtonElement>('#live');
  const pause = explorer.querySelector<HTMLButtonElement>('#pause');
  const list = explorer.querySelector<HTMLElement>('#tail');
  const status = explorer.querySelector<HTMLElement>('#tail-status');
  if (button === null || pause === null || list === null || status === null) return;
  /** Null while not watching. */
  let close: (() => void) | null = null;
  let waitsFor: 'connection' | 'server' | null = null;
  let outage = '';
  const holders = new Set<'pause' | 'pointer' | 'focus'>();
  let held: LiveEvent[] = [];
  let came = 0;
  let missed = 0;
  let timer = 0;

  const text = (): string => {
    if (waitsFor === 'connection') return 'Connecting…';
    if (waitsFor === 'server') return 'The connection was lost; trying again…';
    const tooFast = missed === 0 ? '' : ` ${localNumber(missed)} came too fast and were left out.`;
    const rest = `${tooFast}${outage}`;
    if (holders.has('pause')) {
      const verb = held.length === 1 ? 'waits' : 'wait';
      return `Paused: ${countText(held.length, 'event')} ${verb}.${rest}`;
    }
    if (came === 0) return `Waiting for new events…${rest}`;
    return `${countText(came, 'new event')}, newest first.${rest}`;
  };
  const show = (): void => {
    const isOn = close !== null;
    const waiting = held.length > 0 ? ` (${held.length} waiting)` : '';
    button.textContent = isOn ? `Stop watching${waiting}` : 'Watch live';
    button.setAttribute('aria-pressed', String(isOn));
    pause.hidden = !isOn;
    pause.textContent = holders.has('pause') ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(holders.has('pause')));
    status.textContent = isOn ? text() : came > 0 ? 'Live events stopped.' : '';
    list.hidden = !isOn && list.childElementCount === 0;
    status.hidden = status.textContent === '';
  };
  const add = (event: LiveEvent): void => {
    list.prepend(lineOf(event, narrow));
    while (list.children.length > MAX_SHOWN) list.lastElementChild?.remove();
  };
  const hold = (who: 'pause' | 'pointer' | 'focus', isHolding: boolean): void => {
    if (isHolding) holders.add(who);
    else holders.delete(who);
    if (holders.size === 0) held.splice(0).forEach(add);
    show();
  };
  const take = (event: LiveEvent): void => {
    came++;
    if (holders.size > 0) held = [...held.slice(1 - MAX_SHOWN), event];
    else add(event);
    // A flood is not read out event by event.
    timer ||= window.setTimeout(() => {
      timer = 0;
      show();
    }, SAY_MS);
    if (came === 1 || held.length === 1) show();
  };
  const start = (): void => {
    came = missed = 0;
    outage = '';
    waitsFor = 'connection';
    close = openStream(terms === '*' ? '' : terms, {
      take: (event) => take(event as LiveEvent),
      dropped: (count) => {
        missed += count;
        show();
      },
      opened: (lostMs) => {
        waitsFor = null;
        if (lostMs !== null) outage = outageText(lostMs);
        show();
      },
      leftOut: (most) => {
        outage += ` Up to ${localNumber(most)} events of that time are left out.`;
        show();
      },
      lost: () => {
        waitsFor = 'server';
        show();
      },
      refused: (reason) => {
        stop();
        status.textContent = `Live events stopped. ${reason}`;
        status.hidden = false;
      },
    });
    noteInAddress('live', '1');
    show();
  };
  const stop = (): void => {
    close?.();
    close = null;
    noteInAddress('live', null);
    hold('pause', false);
  };

  button.addEventListener('click', () => (close === null ? start() : stop()));
  pause.addEventListener('click', () => hold('pause', !holders.has('pause')));
  // Lines moving under the pointer or below the focus cannot be read, and get clicked by mistake.
  list.addEventListener('pointerenter', () => hold('pointer', true));
  list.addEventListener('pointerleave', () => hold('pointer', false));
  list.addEventListener('focusin', () => hold('focus', true));
  list.addEventListener('focusout', ({ relatedTarget }) =>
    hold('focus', relatedTarget instanceof Node && list.contains(relatedTarget)),
  );
  button.hidden = false;
  if (new URLSearchParams(location.search).get('live') === '1') start();
}

function outageText(lostMs: number): string {
  const seconds = countText(Math.max(1, Math.round(lostMs / 1000)), 'second');
  return ` The connection was lost for ${seconds}; what came meanwhile is here.`;
}

/** The event's own time, else when it arrived; as the list shows it. */
function momentOf({ created, extracted_fields: fields }: LiveEvent): Date {
  const told = fields?.['event_time'];
  return (typeof told === 'string' ? serverMoment(told) : null) ?? new Date(created);
}

function lineOf(event: LiveEvent, narrow: Narrow): HTMLLIElement {
  const moment = momentOf(event);
  const utc = moment.toISOString();
  const fields: Readonly<Record<string, unknown>> = { ...event, ...event.extracted_fields };
  const chosen = viewChoice('columns') || 'host';
  const columns = chosen === 'none' ? [] : chosen.split(',');
  const parts = breakableParts(event.data ?? '');
  const details = make(
    'details',
    make(
      'summary',
      make('time', { datetime: utc, title: utc }, localTime(moment)),
      columns.map((name) => make('span.cell', valueText(fields[name] ?? ''))),
      make(
        'code.line',
        parts.map((part, index) => (index === 0 ? part : [make('wbr'), part])),
      ),
    ),
  );
  // Most lines are never opened.
  details.addEventListener('toggle', () => details.append(fieldsOf(event, narrow)), { once: true });
  const level = levelNamed(valueText(fields['level'] ?? fields['severity'] ?? ''));
  const line = make('li.fresh', details);
  if (level !== null) line.classList.add(`level-${level}`);
  return line;
}

function fieldsOf(event: LiveEvent, narrow: Narrow): HTMLElement {
  const members = ENVELOPE.map((name): [string, unknown] => [name, event[name]]);
  const all = [...members, ...Object.entries(event.extracted_fields ?? {})];
  const used = all.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const lines = used.map(([name, value]) => {
    const text = valueText(value);
    const link = (label: string, about: string, isExcluded: boolean): HTMLElement => {
      const onclick = (): void => narrow(name, text, isExcluded);
      const attributes = { type: 'button', 'aria-label': `${about} ${name} ${text}`, onclick };
      return make('button.link', attributes, label);
    };
    const only = link('only', 'Only events with', false);
    const without = link('without', 'Events without', true);
    return [make('dt', name), make('dd', make('span', text), only, without)];
  });
  return make('dl.event-fields', lines);
}

/**
 * Pause after a response that is not about this request, such as that of a server still starting.
 */
const RETRY_MS = 1_000;

interface StreamReader {
  take(event: unknown): void;
  /** Events dropped because they arrived faster than they could be sent. */
  dropped(count: number): void;
  /** Connected: first time (null) or again after so many ms. Missed events follow. */
  opened(lostMs: number | null): void;
  /** The gap was too long: up to `most` events are skipped, whether they match or not. */
  leftOut(most: number): void;
  lost(): void;
  /** The server refused for good. */
  refused(reason: string): void;
}

/**
 * After a lost connection or a restart of the server it resumes after the last event received, so none is missed or
 * repeated. Returns a function that closes it.
 */
function openStream(query: string, reader: StreamReader): () => void {
  let source: EventSource | null = null;
  /** Id of the last event received, or of the newest when the stream was opened; null: unknown. */
  let lastId: number | null = null;
  let lostAt: number | null = null;
  let timer = 0;
  let isClosed = false;
  /** The server ends each stream after a while; that is no lost connection. */
  let hasEnded = false;

  const address = (): string => {
    const parameters = new URLSearchParams(query === '' ? {} : { query });
    // A browser that reconnects by itself sends Last-Event-ID, which takes precedence over this
    // parameter.
    if (lastId !== null) parameters.set('last_event_id', String(lastId));
    return `/api/events/tail${parameters.size === 0 ? '' : `?${parameters}`}`;
  };
  const connect = (): void => {
    source?.close();
    const made = new EventSource(onSite(address()));
    source = made;
    const on = (type: string, take: (data: never, id: number) => void): void =>
      made.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) =>
        take(JSON.parse(data || 'null') as never, Number(lastEventId)),
      );
    on('event', (event, id) => {
      if (lastId !== null && id <= lastId) return;
      lastId = id;
      reader.take(event);
    });
    on('dropped', ({ count }: { count: number }) => reader.dropped(count));
    on('gap', ({ from, to }: Record<'from' | 'to', number>) =>
      reader.leftOut(Math.max(0, to - from + 1)),
    );
    made.addEventListener('end', () => (hasEnded = true));
    made.addEventListener('open', () => {
      const lostMs = lostAt === null ? null : Date.now() - lostAt;
      lostAt = null;
      hasEnded = false;
      reader.opened(lostMs);
    });
    made.addEventListener('error', () => {
      if (!hasEnded && lostAt === null) {
        lostAt = Date.now();
        reader.lost();
      }
      if (made.readyState === EventSource.CLOSED) void findReason();
    });
  };
  /** EventSource hides why it failed: a plain request gets it, or finds the server back. */
  const findReason = async (): Promise<void> => {
    const told = new AbortController();
    const init = { signal: told.signal, headers: { Accept: 'text/event-stream' } };
    const error = await ask(address(), init).catch((one: unknown) => one);
    told.abort();
    if (isClosed) return;
    const isRefusal = error instanceof Refused && error.isFromServer;
    if (isRefusal && error.status < 500) reader.refused(error.message);
    else timer = window.setTimeout(connect, RETRY_MS);
  };
  void newestId().then((id) => {
    lastId = id;
    if (!isClosed) connect();
  });
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  };
}

/**
 * Newest event the reader may read, 0 for none; null when unknown: the stream then starts at its
 * connection.
 */
async function newestId(): Promise<number | null> {
  const newest = askJson<{ readonly id: number }[]>('/api/events/?ordering=-id&limit=1');
  return newest.then(
    ([one]) => one?.id ?? 0,
    () => null,
  );
}
