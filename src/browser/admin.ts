/**
 * Administration pages, beyond what works by loading pages: confirmation dialogs, live lists,
 * suggested names, progress, local times.
 */
import { jsonOf } from './shared/answers.ts';
import { isTouched } from './shared/live-form.ts';
import { momentIn, putMoment } from './shared/moment-box.ts';
import { localise, localTime } from './shared/times.ts';

const TYPING_MS = 250;
const POLL_MS = 1_000;
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

refine(document);
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.dataset['asks'] === undefined) return;
  event.preventDefault();
  void ask(form);
});
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) {
  const isLate = isTouched(form);
  localiseMoments(form);
  follow(form, isLate);
}
for (const box of document.querySelectorAll<HTMLInputElement>('input[data-suggest]')) suggest(box);
if (document.querySelector('[data-poll]') !== null) setTimeout(poll, POLL_MS);

function refine(within: ParentNode): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>('time.relative')) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title = `${localTime(date)} · ${element.dateTime}`;
    element.dataset['moment'] = localTime(date);
    element.textContent = distanceOf(date);
  }
}

function distanceOf(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1000;
  if (Math.abs(seconds) > 7 * 86_400) return localTime(date);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return distance.format(Math.trunc(seconds / size), unit);
  }
  return distance.format(0, 'second');
}

async function ask(form: HTMLFormElement): Promise<void> {
  const question = await load(form.getAttribute('action') ?? '', {
    method: 'POST',
    body: formBody(form),
  });
  const asked = question?.querySelector<HTMLFormElement>('form.confirm') ?? null;
  if (asked === null) {
    form.submit();
    return;
  }
  // A second click while the first request was pending.
  if (document.querySelector('dialog.asked[open]') !== null) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'asked';
  const title = document.createElement('h2');
  title.id = 'asked';
  title.textContent = question!.querySelector('h1')?.textContent ?? '';
  dialog.setAttribute('aria-labelledby', title.id);
  dialog.append(title, document.importNode(asked, true));
  dialog.querySelector('[data-cancel]')?.addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  // So that Enter does not delete by accident.
  dialog.querySelector<HTMLElement>('[data-cancel]')?.focus();
}

function formBody(form: HTMLFormElement): URLSearchParams {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(fields);
}

function follow(form: HTMLFormElement, isLate: boolean): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = 0;
  const id = form.dataset['live']!;
  const part = id === 'list' ? '' : `${id.slice('list-'.length)}-`;
  const update = async (): Promise<void> => {
    const query = new URLSearchParams(location.search);
    for (const name of ['done', `${part}offset`]) query.delete(name);
    for (const [name, value] of formBody(form)) {
      if (value === '') query.delete(name);
      else query.set(name, value);
    }
    const address = query.size === 0 ? location.pathname : `${location.pathname}?${query}`;
    const turn = ++latest;
    const list = document.getElementById(id);
    list?.setAttribute('aria-busy', 'true');
    const page = await load(address);
    if (turn !== latest) return;
    const fresh = page?.getElementById(id) ?? null;
    if (fresh === null) {
      location.assign(address);
      return;
    }
    history.replaceState(null, '', address);
    for (const other of ['.downloads', 'main .section > .problem']) swap(other, page!);
    list?.replaceWith(settled(fresh));
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void update(), TYPING_MS);
  });
  if (isLate) void update();
}

/** The boxes show local time; the address holds UTC, as it does without script. */
function localiseMoments(form: HTMLFormElement): void {
  const boxes = [...form.querySelectorAll<HTMLInputElement>('input[type=datetime-local]')];
  if (boxes.length === 0) return;
  for (const zone of form.querySelectorAll('.zone')) zone.textContent = ' (your time)';
  for (const box of boxes) {
    const date = new Date(`${box.value}Z`);
    if (box.value !== '' && !Number.isNaN(date.getTime())) putMoment(box, date);
  }
  form.addEventListener('formdata', ({ formData }) => {
    for (const box of boxes) {
      const moment = momentIn(box, box.name === 'to' ? 'end' : 'start');
      if (moment !== null) formData.set(box.name, moment.toISOString().slice(0, 19));
    }
  });
}

function suggest(box: HTMLInputElement): void {
  const source = box.dataset['suggest'] === 'groups' ? 'groups' : 'users';
  const member = source === 'groups' ? 'name' : 'username';
  let latest = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = async (): Promise<void> => {
    const turn = ++latest;
    const filter = JSON.stringify({ [member]: { $icontains: box.value.trim() } });
    const query = new URLSearchParams({ filter, sort: member, limit: '50' });
    const found = await namesFrom(`/admin/${source}?${query}`, member);
    if (turn !== latest || found === null) return;
    box.list?.replaceChildren(...found.map((name) => new Option('', name)));
  };
  box.addEventListener('input', () => {
    clearTimeout(timer);
    if (box.value.trim() !== '') timer = setTimeout(() => void update(), TYPING_MS);
  });
  if (box.value !== box.defaultValue) void update();
}

async function namesFrom(address: string, member: string): Promise<string[] | null> {
  try {
    const found = await jsonOf<Record<string, unknown>[]>(
      await fetch(address, { headers: { Accept: 'application/json' } }),
    );
    return found?.map((one) => String(one[member])) ?? null;
  } catch {
    // No connection: keep the earlier suggestions.
    return null;
  }
}

function swap(selector: string, page: Document): void {
  const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
  if (old !== null && fresh !== null) old.replaceWith(settled(fresh));
  else old?.remove();
}

async function poll(): Promise<void> {
  const id = document.querySelector('[data-poll]')?.id ?? '';
  const fresh = (await load(location.href))?.getElementById(id) ?? null;
  if (fresh !== null) document.getElementById(id)?.replaceWith(settled(fresh));
  if (document.querySelector('[data-poll]') !== null) setTimeout(poll, POLL_MS);
}

function settled<Part extends Element>(part: Part): Part {
  const own = document.importNode(part, true);
  localise(own);
  refine(own);
  return own;
}

async function load(address: string, init: RequestInit = {}): Promise<Document | null> {
  try {
    const response = await fetch(address, { ...init, headers: { Accept: 'text/html' } });
    return new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch {
    // No connection: the caller falls back to plain HTML.
    return null;
  }
}
