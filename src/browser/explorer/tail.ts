/**
 * Events as they arrive, above the list; held back while paused or while the reader looks at one.
 */
import { breakableParts } from '../../base/text/breakable-text.ts';
import type { Narrow } from './terms.ts';
import { EventStream } from './stream.ts';
import { make } from '../grid/element.ts';
import { countText } from '../../pages/grid/model.ts';
import { localNumber, localTime, serverMoment } from '../shared/times.ts';

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
  const tail = new Tail({ button, pause, list, status }, terms, narrow);
  button.hidden = false;
  if (new URLSearchParams(location.search).get('live') === '1') tail.start();
}

type Parts = Readonly<Record<'button' | 'pause', HTMLButtonElement>> &
  Readonly<Record<'list' | 'status', HTMLElement>>;

class Tail {
  readonly #parts: Parts;
  readonly #query: string;
  readonly #narrow: Narrow;
  #stream: EventStream | null = null;
  #waitsFor: 'connection' | 'server' | null = null;
  #outage = '';
  readonly #holders = new Set<'pointer' | 'focus'>();
  #isPaused = false;
  #held: LiveEvent[] = [];
  #came = 0;
  #missed = 0;
  #timer = 0;

  constructor(parts: Parts, terms: string, narrow: Narrow) {
    this.#parts = parts;
    this.#narrow = narrow;
    this.#query = terms === '*' ? '' : terms;
    const { button, pause, list } = parts;
    button.addEventListener('click', () => (this.#stream === null ? this.start() : this.#stop()));
    pause.addEventListener('click', () => {
      this.#isPaused = !this.#isPaused;
      this.#goOn();
    });
    // Lines moving under the pointer or below the focus cannot be read, and get clicked by mistake.
    list.addEventListener('pointerenter', () => this.#hold('pointer', true));
    list.addEventListener('pointerleave', () => this.#hold('pointer', false));
    list.addEventListener('focusin', () => this.#hold('focus', true));
    list.addEventListener('focusout', ({ relatedTarget }) => {
      this.#hold('focus', relatedTarget instanceof Node && list.contains(relatedTarget));
    });
  }

  start(): void {
    this.#came = 0;
    this.#missed = 0;
    this.#parts.list.hidden = false;
    this.#parts.status.hidden = false;
    this.#waitsFor = 'connection';
    this.#outage = '';
    this.#stream = new EventStream(this.#query, {
      take: (event) => this.#take(event as LiveEvent),
      dropped: (count) => {
        this.#missed += count;
        this.#show();
      },
      opened: (lostMs) => {
        this.#waitsFor = null;
        if (lostMs !== null) this.#outage = outageText(lostMs);
        this.#show();
      },
      leftOut: (most) => {
        this.#outage += ` Up to ${localNumber(most)} events of that time are left out.`;
        this.#show();
      },
      lost: () => {
        this.#waitsFor = 'server';
        this.#show();
      },
      refused: (reason) => {
        this.#stop();
        this.#parts.status.textContent = `Live events stopped. ${reason}`;
        this.#parts.status.hidden = false;
      },
    });
    void this.#stream.open();
    this.#note(true);
    this.#show();
  }

  #stop(): void {
    this.#stream?.close();
    this.#stream = null;
    this.#isPaused = false;
    this.#note(false);
    this.#goOn();
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
    const isOn = this.#stream !== null;
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
    if (this.#waitsFor === 'connection') return 'Connecting…';
    if (this.#waitsFor === 'server') return 'The connection was lost; trying again…';
    const missed =
      this.#missed === 0 ? '' : ` ${localNumber(this.#missed)} came too fast and were left out.`;
    const rest = `${missed}${this.#outage}`;
    const held = this.#held.length;
    if (this.#isPaused) {
      return `Paused: ${countText(held, 'event')} ${held === 1 ? 'waits' : 'wait'}.${rest}`;
    }
    if (this.#came === 0) return `Waiting for new events…${rest}`;
    return `${countText(this.#came, 'new event')}, newest first.${rest}`;
  }

  #note(isOn: boolean): void {
    const address = new URL(location.href);
    if (isOn) address.searchParams.set('live', '1');
    else address.searchParams.delete('live');
    history.replaceState(history.state, '', address);
  }
}

function outageText(lostMs: number): string {
  const seconds = countText(Math.max(1, Math.round(lostMs / 1000)), 'second');
  return ` The connection was lost for ${seconds}; what came meanwhile is here.`;
}

function breakable(text: string): (string | HTMLElement)[] {
  return breakableParts(text).flatMap((part, index) =>
    index === 0 ? [part] : [make('wbr'), part],
  );
}

/** The event's own time, else when it arrived; as the list shows it. */
function momentOf({ created, extracted_fields: fields }: LiveEvent): Date {
  const told = fields?.['event_time'];
  return (typeof told === 'string' ? serverMoment(told) : null) ?? new Date(created);
}

function lineOf(event: LiveEvent, narrow: Narrow): HTMLLIElement {
  const moment = momentOf(event);
  const utc = moment.toISOString();
  const kind = [event.host, event.sourcetype].filter((text) => text).join(' · ');
  const details = make(
    'details',
    {},
    make(
      'summary',
      {},
      make('time', { datetime: utc, title: utc }, localTime(moment)),
      make('span', { class: 'kind' }, kind),
      make('code', { class: 'line' }, ...breakable(event.data ?? '')),
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
