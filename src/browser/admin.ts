/**
 * Administration pages, beyond what works by loading pages: confirmation dialogs, live lists,
 * suggested names, progress, local times.
 */
import { askJson } from './shared/ask.ts';
import { onSite } from './shared/site.ts';
import { debounced, openDialog } from './shared/element.ts';
import { fieldsOf, followForms, pageAt } from './shared/live-form.ts';
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
  localiseMoments(form);
}
followForms({ addressOf, show: showList });
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
  const init = { method: 'POST', body: new URLSearchParams(fieldsOf(form)) };
  const page = await pageAt(form.getAttribute('action') ?? '', init).catch(() => null);
  const asked = page?.querySelector<HTMLFormElement>('form.confirm') ?? null;
  // Without a question, and without a connection, the plain page tells more.
  if (page === null || asked === null) return form.submit();
  // A second click while the first request was pending.
  if (document.querySelector('dialog.asked[open]') !== null) return;
  const title = page.querySelector('h1')?.textContent ?? '';
  const dialog = openDialog(title, { class: 'asked' }, document.importNode(asked, true));
  const cancel = dialog.querySelector<HTMLElement>('[data-cancel]');
  cancel?.addEventListener('click', (event) => {
    event.preventDefault();
    dialog.close();
  });
  // So that Enter does not delete by accident.
  cancel?.focus();
}

/** As now, with what is in the form, from the list's first page on. */
function addressOf(form: HTMLFormElement): string {
  const id = form.dataset['live']!;
  const part = id === 'list' ? '' : `${id.slice('list-'.length)}-`;
  const query = new URLSearchParams(location.search);
  for (const name of ['done', `${part}offset`]) query.delete(name);
  for (const [name, value] of fieldsOf(form)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? location.pathname : `${location.pathname}?${query}`;
}

function showList(page: Document, [id = '']: readonly string[]): void {
  if (page.getElementById(id) === null) throw new Error('another page');
  for (const part of ['.downloads', 'main .section > .problem', `#${id}`]) swap(part, page);
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

const MEMBERS = { users: 'username', groups: 'name' } as const;
type Source = keyof typeof MEMBERS | 'resources';
const MAX_SUGGESTED = 50;

function suggest(box: HTMLInputElement): void {
  const sources = box.dataset['suggest']!.split(' ') as Source[];
  let latest = 0;
  const update = async (): Promise<void> => {
    const wanted = box.value.trim();
    if (wanted === '') return;
    const turn = ++latest;
    const found = await Promise.all(sources.map((source) => namesIn(source, wanted)));
    if (turn !== latest) return;
    const options = found.flatMap((names, index) =>
      (names ?? []).map((name) => new Option(sources[index] === 'groups' ? 'group' : '', name)),
    );
    // No connection: keep the earlier suggestions.
    if (found.some((names) => names !== null)) box.list?.replaceChildren(...options);
  };
  box.addEventListener(
    'input',
    debounced(TYPING_MS, () => void update()),
  );
  if (box.value !== box.defaultValue) void update();
}

async function namesIn(source: Source, wanted: string): Promise<string[] | null> {
  if (source === 'resources') return resourcesWith(wanted.toLowerCase());
  const member = MEMBERS[source];
  const filter = JSON.stringify({ [member]: { $icontains: wanted } });
  const query = new URLSearchParams({ filter, sort: member, limit: '50' });
  try {
    const response = await fetch(onSite(`/admin/${source}?${query}`), {
      headers: { Accept: 'application/json' },
    });
    if (!response.ok) return null;
    return ((await response.json()) as Record<string, unknown>[]).map((one) => String(one[member]));
  } catch {
    return null;
  }
}

let published: Promise<readonly string[]> | null = null;

/** Files and folders as permissions name them. */
async function resourcesWith(wanted: string): Promise<string[] | null> {
  try {
    const names = await (published ??= publishedNames());
    return names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, MAX_SUGGESTED);
  } catch {
    published = null;
    return null;
  }
}

async function publishedNames(): Promise<readonly string[]> {
  const listed = await askJson<{ name: string; file: string }[]>('/_svc/resources');
  const names = listed.filter(({ file }) => file !== '').map(({ name }) => name);
  const folders = names.flatMap((name) => {
    const parts = name.split('/').slice(0, -1);
    return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/*`);
  });
  return [...new Set([...folders, ...names])];
}

function swap(selector: string, page: Document): void {
  const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
  if (old === null || fresh === null) return old?.remove();
  const own = document.importNode(fresh, true);
  localise(own);
  refine(own);
  old.replaceWith(own);
}

async function poll(): Promise<void> {
  const id = document.querySelector('[data-poll]')?.id ?? '';
  const page = await pageAt(location.href).catch(() => null);
  if (page?.getElementById(id)) swap(`#${id}`, page);
  if (document.querySelector('[data-poll]') !== null) setTimeout(poll, POLL_MS);
}
