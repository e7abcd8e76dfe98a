/**
 * Events as they come in, on top of the list; paused while the reader looks at one.
 */
import { localTime } from './times.ts';

interface LiveEvent {
  readonly created: string;
  readonly event_time?: string | null;
  readonly host?: string;
  readonly sourcetype?: string;
  readonly data?: string | null;
}

const MAX_SHOWN = 500;

/** Makes the button work. */
export function startTail(explorer: HTMLElement, terms: string): void {
  const button = explorer.querySelector<HTMLButtonElement>('#live');
  const pause = explorer.querySelector<HTMLButtonElement>('#pause');
  const list = explorer.querySelector<HTMLElement>('#tail');
  if (button === null || pause === null || list === null) return;
  button.hidden = false;
  let source: EventSource | null = null;
  let isHeld = false;
  let isPaused = false;
  let held: LiveEvent[] = [];

  const say = (text: string): void => {
    button.textContent = text;
    button.setAttribute('aria-pressed', String(source !== null));
    pause.hidden = source === null;
    pause.textContent = isPaused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(isPaused));
  };
  const goOn = (): void => {
    if (isHeld || isPaused) return;
    held.splice(0).forEach(show);
    if (source !== null) say('Stop watching');
  };
  const show = (event: LiveEvent): void => {
    list.prepend(lineOf(event));
    while (list.children.length > MAX_SHOWN) list.lastElementChild?.remove();
  };
  list.addEventListener('pointerenter', () => {
    isHeld = true;
  });
  list.addEventListener('pointerleave', () => {
    isHeld = false;
    goOn();
  });
  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    say(`Stop watching${held.length > 0 ? ` (${held.length} waiting)` : ''}`);
    goOn();
  });
  button.addEventListener('click', () => {
    if (source !== null) {
      source.close();
      source = null;
      isPaused = false;
      goOn();
      say('Watch live');
      return;
    }
    list.hidden = false;
    source = new EventSource(
      `/api/events/tail${terms === '*' ? '' : `?${new URLSearchParams({ query: terms })}`}`,
    );
    source.addEventListener('event', ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as LiveEvent;
      if (!isHeld && !isPaused) return show(event);
      held = [...held.slice(-MAX_SHOWN), event];
      say(`Stop watching (${held.length} waiting)`);
    });
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        say('Watch live');
      }
    });
    say('Stop watching');
  });
}

function lineOf(event: LiveEvent): HTMLLIElement {
  const item = document.createElement('li');
  item.className = 'fresh';
  const time = document.createElement('time');
  time.dateTime = event.event_time ?? event.created;
  time.textContent = localTime(new Date(time.dateTime));
  time.title = time.dateTime;
  const kind = document.createElement('span');
  kind.className = 'kind';
  kind.textContent = [event.host, event.sourcetype].filter((text) => text).join(' · ');
  const line = document.createElement('code');
  line.className = 'line';
  line.textContent = event.data ?? '';
  item.append(time, kind, line);
  return item;
}
