/**
 * Events as they come in, on top of the list; held back while paused and while the reader looks at one. That somebody watches
 * stands in the address.
 */
import type { Narrow } from './event-terms.ts';
import { make } from './grid/element.ts';
import { countText } from './grid/model.ts';
import { localNumber, localTime } from './times.ts';

interface LiveEvent {
  readonly created: string;
  readonly event_time?: string | null;
  readonly index?: string;
  readonly host?: string;
  readonly source?: string;
  readonly sourcetype?: string;
  readonly data?: string | null;
  readonly extracted_fields?: Readonly<Record<string, unknown>> | null;
}

const MAX_SHOWN = 500;
/** How often the number of new events is said. */
const SAY_MS = 2_000;
const ENVELOPE = ['index', 'host', 'source', 'sourcetype'] as const;

/** Makes the button work; starts at once where the address says so. */
export function startTail(explorer: HTMLElement, terms: string, narrow: Narrow): void {
  const button = explorer.querySelector<HTMLButtonElement>('#live');
  const pause = explorer.querySelector<HTMLButtonElement>('#pause');
  const list = explorer.querySelector<HTMLElement>('#tail');
  const status = explorer.querySelector<HTMLElement>('#tail-status');
  if (button === null || pause === null || list === null || status === null) return;
  const tail = new Tail({ button, pause, list, status }, terms, narrow);
  button.hidden = false;
  if (new URLSearchParams(location.search).get('live') === '1') tail.start();
}

type Parts = Readonly<Record<'button' | 'pause', HTMLButtonElement>> &
  Readonly<Record<'list' | 'status', HTMLElement>>;

/** One stream of events and what is shown of it. */
class Tail {
  readonly #parts: Parts;
  readonly #address: string;
  readonly #narrow: Narrow;
  #source: EventSource | null = null;
  readonly #holders = new Set<'pointer' | 'focus'>();
  #isPaused = false;
  #held: LiveEvent[] = [];
  #came = 0;
  #missed = 0;
  #timer = 0;

  constructor(parts: Parts, terms: string, narrow: Narrow) {
    this.#parts = parts;
    this.#narrow = narrow;
    const query = terms === '*' ? '' : `?${new URLSearchParams({ query: terms })}`;
    this.#address = `/api/events/tail${query}`;
    const { button, pause, list } = parts;
    button.addEventListener('click', () => (this.#source === null ? this.start() : this.#stop()));
    pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused;
      this.#goOn();
    });
    // Lines that move away under a pointer or below the focus cannot be read, or are clicked by mistake.
    list.addEventListener('pointerenter', () => this.#hold('pointer', true));
    list.addEventListener('pointerleave', () => this.#hold('pointer', false));
    list.addEventListener('focusin', () => this.#hold('focus', true));
    list.addEventListener('focusout', ({ relatedTarget }) => {
      this.#hold('focus', relatedTarget instanceof Node && list.contains(relatedTarget));
    });
  }

  /** Follows from now on. */
  start(): void {
    this.#came = 0;
    this.#missed = 0;
    this.#parts.list.hidden = false;
    this.#parts.status.hidden = false;
    this.#source = new EventSource(this.#address);
    this.#source.addEventListener('event', ({ data }: MessageEvent<string>) => {
      this.#take(JSON.parse(data) as LiveEvent);
    });
    this.#source.addEventListener('dropped', ({ data }: MessageEvent<string>) => {
      this.#missed += (JSON.parse(data) as { readonly count: number }).count;
      this.#show();
    });
    this.#source.addEventListener('gap', ({ data }: MessageEvent<string>) => {
      const { from, to } = JSON.parse(data) as Readonly<Record<'from' | 'to', number>>;
      this.#missed += Math.max(0, to - from);
      this.#show();
    });
    this.#source.addEventListener('open', () => this.#show());
    this.#source.addEventListener('error', () => {
      if (this.#source?.readyState === EventSource.CLOSED) void this.#fail();
      else this.#parts.status.textContent = 'The connection was lost; trying again…';
    });
    this.#note(true);
    this.#show();
  }

  #stop(): void {
    this.#source?.close();
    this.#source = null;
    this.#isPaused = false;
    this.#note(false);
    this.#goOn();
  }

  /** The stream was refused: asked as a plain request, the server says why. */
  async #fail(): Promise<void> {
    this.#stop();
    const told = new AbortController();
    let text = 'The server does not answer.';
    try {
      const response = await fetch(this.#address, { signal: told.signal });
      const answer = response.ok ? {} : ((await response.json()) as Record<string, unknown>);
      text = String(answer['detail'] ?? answer['error'] ?? 'The stream ended.');
    } catch {
      // No connection at all, which is what the text says.
    }
    told.abort();
    this.#parts.status.textContent = `Live events stopped. ${text}`;
    this.#parts.status.hidden = false;
  }

  #take(event: LiveEvent): void {
    this.#came++;
    if (this.#isHolding()) this.#held = [...this.#held.slice(1 - MAX_SHOWN), event];
    else this.#add(event);
    // A flood is not read out event by event.
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0;
      this.#show();
    }, SAY_MS);
    if (this.#came === 1 || this.#held.length === 1) this.#show();
  }

  #hold(who: 'pointer' | 'focus', isHolding: boolean): void {
    if (isHolding) this.#holders.add(who);
    else this.#holders.delete(who);
    this.#goOn();
  }

  #isHolding(): boolean {
    return this.#isPaused || this.#holders.size > 0;
  }

  #goOn(): void {
    if (!this.#isHolding()) this.#held.splice(0).forEach((event) => this.#add(event));
    this.#show();
  }

  #add(event: LiveEvent): void {
    const { list } = this.#parts;
    list.prepend(lineOf(event, this.#narrow));
    while (list.children.length > MAX_SHOWN) list.lastElementChild?.remove();
  }

  #show(): void {
    const { button, pause, status, list } = this.#parts;
    const isOn = this.#source !== null;
    const waiting = this.#held.length > 0 ? ` (${this.#held.length} waiting)` : '';
    button.textContent = isOn ? `Stop watching${waiting}` : 'Watch live';
    button.setAttribute('aria-pressed', String(isOn));
    pause.hidden = !isOn;
    pause.textContent = this.#isPaused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(this.#isPaused));
    if (isOn) status.textContent = this.#text();
    else {
      status.textContent = this.#came > 0 ? 'Live events stopped.' : '';
      list.hidden = list.childElementCount === 0;
    }
    status.hidden = status.textContent === '';
  }

  #text(): string {
    const missed =
      this.#missed === 0 ? '' : ` ${localNumber(this.#missed)} came too fast and were left out.`;
    const held = this.#held.length;
    if (this.#isPaused) {
      return `Paused: ${countText(held, 'event')} ${held === 1 ? 'waits' : 'wait'}.${missed}`;
    }
    if (this.#came === 0) return 'Waiting for new events…';
    return `${countText(this.#came, 'new event')}, newest first.${missed}`;
  }

  /** The address says whether somebody watches. */
  #note(isOn: boolean): void {
    const address = new URL(location.href);
    if (isOn) address.searchParams.set('live', '1');
    else address.searchParams.delete('live');
    history.replaceState(history.state, '', address);
  }
}

function lineOf(event: LiveEvent, narrow: Narrow): HTMLLIElement {
  const moment = event.event_time ?? event.created;
  const kind = [event.host, event.sourcetype].filter((text) => text).join(' · ');
  const details = make(
    'details',
    {},
    make(
      'summary',
      {},
      make('time', { datetime: moment, title: moment }, localTime(new Date(moment))),
      make('span', { class: 'kind' }, kind),
      make('code', { class: 'line' }, event.data ?? ''),
    ),
  );
  // Most lines are never opened.
  details.addEventListener('toggle', () => details.append(fieldsOf(event, narrow)), { once: true });
  return make('li', { class: 'fresh' }, details);
}

function fieldsOf(event: LiveEvent, narrow: Narrow): HTMLElement {
  const members = ENVELOPE.map((name): [string, unknown] => [name, event[name]]);
  const all = [...members, ...Object.entries(event.extracted_fields ?? {})];
  const list = make('dl', { class: 'event-fields' });
  for (const [name, value] of all) {
    if (value === null || value === undefined || value === '') continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const link = (label: string, isExcluded: boolean): HTMLElement =>
      make(
        'button',
        {
          type: 'button',
          class: 'link',
          'aria-label': `${isExcluded ? 'Events without' : 'Only events with'} ${name} ${text}`,
          onclick: () => narrow(name, text, isExcluded),
        },
        label,
      );
    const shown = make(
      'dd',
      {},
      make('span', {}, text),
      link('only', false),
      link('without', true),
    );
    list.append(make('dt', {}, name), shown);
  }
  return list;
}
