/**
 * Tries an API operation: sends the form with this page's session and CSRF token, shows the
 * response, and keeps the terminal command up to date.
 */
import { onSite } from './shared/site.ts';
import { csrfHeaders } from './shared/ask.ts';

interface ApiRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: BodyInit | null;
}

type Field = HTMLInputElement | HTMLSelectElement;

/** Nobody reads more of a response, and a table may have millions of rows. */
const MAX_SHOWN_BYTES = 256 * 1024;
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

const form = document.querySelector<HTMLFormElement>('#request');
if (form !== null) start(form);

function start(form: HTMLFormElement): void {
  const curl = document.querySelector<HTMLElement>('#curl')!;
  const show = (): void => {
    curl.textContent = curlOf(requestOf(form), curl.dataset['origin']!);
  };
  form.querySelector<HTMLElement>('#send')!.hidden = false;
  form.querySelector<HTMLButtonElement>('[type=submit]')!.disabled = false;
  form.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  show();
}

async function send(form: HTMLFormElement): Promise<void> {
  const [go, stop] = form.querySelectorAll<HTMLButtonElement>('#send button');
  const answer = document.querySelector<HTMLElement>('#answer')!;
  const status = answer.querySelector<HTMLElement>('[role=status]')!;
  const [headers, body] = answer.querySelectorAll<HTMLElement>('details, pre.body');
  const running = new AbortController();
  const began = performance.now();
  answer.hidden = stop!.hidden = false;
  headers!.hidden = body!.hidden = go!.disabled = true;
  status.textContent = 'Waiting for the answer…';
  stop!.onclick = () => running.abort();
  try {
    const { url, ...request } = requestOf(form);
    const response = await fetch(onSite(url), { ...request, signal: running.signal });
    const text = await shownText(response);
    const ms = Math.round(performance.now() - began);
    status.textContent = `${response.status} ${response.statusText} · ${ms} ms`;
    status.className = response.ok ? 'ok' : 'failed';
    headers!.querySelector('pre')!.textContent = [...response.headers]
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
    body!.textContent = text;
    headers!.hidden = false;
    body!.hidden = text === '';
  } catch {
    status.textContent = running.signal.aborted ? 'Stopped.' : 'The server could not be reached.';
  }
  go!.disabled = false;
  stop!.hidden = true;
}

function requestOf(form: HTMLFormElement): ApiRequest {
  const fields = [...form.querySelectorAll<Field>('[data-place]')];
  const filled = (place: string): [string, string][] =>
    fields
      .filter((field) => field.dataset['place'] === place && field.value !== '')
      .map(({ name, value }) => [name, value]);
  const method = form.dataset['method']!;
  const given = new Map(filled('path'));
  const path = form.dataset['path']!.replace(/\{([^}]+)\}/g, (place, name: string) =>
    given.has(name) ? encodeURIComponent(given.get(name)!) : place,
  );
  const query = new URLSearchParams(filled('query'));
  const type = form.querySelector<Field>('[name="Content-Type"]')?.value ?? null;
  const isForm = type === 'multipart/form-data';
  return {
    url: query.size === 0 ? path : `${path}?${query}`,
    method,
    headers: {
      Accept: form.dataset['accept']!,
      ...(type !== null && !isForm && { 'Content-Type': type }),
      ...Object.fromEntries(filled('header')),
      ...(!SAFE_METHODS.includes(method) && csrfHeaders()),
    },
    body: bodyOf(form, type),
  };
}

function bodyOf(form: HTMLFormElement, type: string | null): BodyInit | null {
  const text = form.querySelector<HTMLTextAreaElement>('textarea[name=body]');
  if (text !== null) return text.value;
  const entry = form.querySelector<HTMLElement>('[data-entry]')?.dataset['entry'];
  if (entry === 'file')
    return form.querySelector<HTMLInputElement>('[type=file]')?.files?.[0] ?? null;
  if (entry !== 'form') return null;
  const data = new FormData();
  for (const field of form.querySelectorAll<HTMLInputElement>('[data-place=form]')) {
    const file = field.files?.[0];
    if (file !== undefined) data.append(field.name, file);
    else if (field.value !== '') data.append(field.name, field.value);
  }
  if (type === 'multipart/form-data') return data;
  const pairs = [...data].map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(pairs);
}

async function shownText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) return '';
  if (!/json|text|xml|csv|javascript|yaml/.test(type)) {
    await response.body.cancel();
    return type === '' ? '' : `(${type}, not shown)`;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.length < MAX_SHOWN_BYTES) continue;
    await reader.cancel();
    return `${text.slice(0, MAX_SHOWN_BYTES)}\n… and more, which is not shown`;
  }
  return /\bjson\b/.test(type) ? laidOut(text) : text;
}

/**
 * Changes only the whitespace between tokens, so numbers keep all their digits; text that is no
 * JSON stays.
 */
function laidOut(text: string): string {
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  return text.replace(/"(?:\\.|[^"\\])*"|[{[](\s*[}\]])?|[}\],:]|\s+/g, (token, close?: string) => {
    if (token.startsWith('"')) return token;
    if (close !== undefined) return token[0]! + close.trim();
    if (token === '{' || token === '[') {
      depth++;
      return token + line();
    }
    if (token === '}' || token === ']') {
      depth--;
      return line() + token;
    }
    if (token === ',') return token + line();
    return token === ':' ? ': ' : '';
  });
}

function curlOf({ url, method, headers, body }: ApiRequest, origin: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const sent = Object.entries(headers).filter(([name]) => name !== 'X-CSRF-Token');
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(origin + url)}`,
    '-H "X-API-Key: $SVC_API_KEY"',
    ...sent
      .filter(([, value]) => value !== '*/*')
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...bodyArguments(body, quoted),
  ];
  return parts.join(' \\\n  ');
}

function bodyArguments(body: BodyInit | null, quoted: (text: string) => string): string[] {
  if (body === null) return [];
  if (typeof body === 'string') return [`--data-binary ${quoted(body)}`];
  if (body instanceof File) return [`--data-binary ${quoted(`@${body.name}`)}`];
  if (body instanceof URLSearchParams) return [`-d ${quoted(String(body))}`];
  if (!(body instanceof FormData)) return [];
  return [...body].map(
    ([name, value]) =>
      `-F ${quoted(value instanceof File ? `${name}=@${value.name}` : `${name}=${value}`)}`,
  );
}
