/**
 * The upload form with suggested name, drag and drop, progress and cancelling. Without script the
 * form is submitted and answered by a page.
 */

interface Answer {
  readonly path?: string;
  readonly operation?: string;
  readonly detail?: unknown;
}

interface Published {
  readonly name: string;
  readonly file: string;
  readonly href: string;
}

const LOST =
  'The connection was lost before all was sent; nothing was stored. The file is still chosen: Upload sends it again.';
/** Whether the server stored the file is unknown. */
const LOST_ANSWER =
  'The connection was lost before the answer came. The list shows whether the file is there; if it is not, Upload sends it again.';
const MAX_LINKS = 3;

/** `onStored` refreshes the list. */
export function startUpload(onStored: () => Promise<void>): void {
  const form = document.querySelector<HTMLFormElement>('form[action="/api/uploads"]');
  if (form !== null) new UploadForm(form, onStored).start();
}

class UploadForm {
  readonly #form: HTMLFormElement;
  readonly #onStored: () => Promise<void>;
  readonly #name: HTMLInputElement;
  readonly #file: HTMLInputElement;
  readonly #progress: HTMLProgressElement;
  readonly #status: HTMLElement;
  readonly #send: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  #suggested = '';

  constructor(form: HTMLFormElement, onStored: () => Promise<void>) {
    const part = <E extends HTMLElement>(selector: string): E => form.querySelector<E>(selector)!;
    this.#form = form;
    this.#onStored = onStored;
    this.#name = part('[name=filename]');
    this.#file = part('[type=file]');
    this.#progress = part('progress');
    this.#status = part('[role=status]');
    this.#send = part('[type=submit]');
    this.#stop = part('[type=button]');
  }

  start(): void {
    this.#file.addEventListener('change', () => this.#noteChosen());
    // The user chose a file before this script had loaded.
    this.#noteChosen();
    this.#takeDrops();
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (!this.#isTooLarge()) this.#upload();
    });
  }

  #takeDrops(): void {
    const card = this.#form.parentElement ?? this.#form;
    const { classList } = this.#form;
    card.addEventListener('dragover', (event) => {
      event.preventDefault();
      classList.add('dropping');
    });
    card.addEventListener('dragleave', () => classList.remove('dropping'));
    card.addEventListener('drop', (event) => {
      event.preventDefault();
      classList.remove('dropping');
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      this.#file.files = event.dataTransfer.files;
      this.#noteChosen();
    });
  }

  #noteChosen(): void {
    const chosen = this.#file.files?.[0];
    if (chosen === undefined) return;
    if (this.#name.value === '' || this.#name.value === this.#suggested)
      this.#name.value = this.#suggested = chosen.name;
    this.#isTooLarge();
  }

  /** Refuses a file over the limit without sending it. */
  #isTooLarge(): boolean {
    const isRefused = (this.#file.files?.[0]?.size ?? 0) > Number(this.#form.dataset['limit']);
    this.#say(isRefused ? 'This file is larger than an upload may be.' : '', isRefused);
    return isRefused;
  }

  #upload(): void {
    const request = new XMLHttpRequest();
    request.open('POST', this.#form.action);
    request.responseType = 'text';
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      this.#progress.value = total > 0 ? loaded / total : 0;
      this.#say(`${Math.floor(this.#progress.value * 100)} % sent`);
    });
    let isSent = false;
    request.upload.addEventListener('load', () => {
      isSent = true;
      this.#say('Sent; it is being read.');
    });
    request.addEventListener('load', () => this.#finish(request));
    request.addEventListener('error', () => {
      this.#end(isSent ? LOST_ANSWER : LOST, true);
      if (isSent) this.#refresh();
    });
    request.addEventListener('abort', () => this.#end('Stopped; nothing was stored.'));
    this.#stop.onclick = () => request.abort();
    this.#setBusy(true);
    request.send(new FormData(this.#form));
  }

  #finish(request: XMLHttpRequest): void {
    const answer = parsed(request.responseText);
    if (request.status !== 201) {
      const { detail } = answer;
      const reason = typeof detail === 'string' ? detail : `status ${request.status}`;
      this.#end(`Not stored: ${reason}`, true);
      return;
    }
    this.#form.reset();
    this.#suggested = '';
    const told = `${answer.path} was ${answer.operation}. `;
    this.#end(told);
    void this.#addLinks(answer.path ?? '', told);
    this.#refresh();
  }

  async #addLinks(file: string, told: string): Promise<void> {
    // The links are optional.
    const links = await linksTo(file).catch(() => null);
    if (links === null || this.#status.textContent !== told) return;
    this.#status.append(
      ...(links.length > 0 ? links : ['Files of this kind are stored, but not shown.']),
    );
  }

  /** A failure here does not affect the upload's message; the next page load shows the list. */
  #refresh(): void {
    void this.#onStored().catch(() => undefined);
  }

  #end(text: string, isProblem = false): void {
    this.#setBusy(false);
    this.#say(text, isProblem);
  }

  #setBusy(isBusy: boolean): void {
    this.#send.disabled = isBusy;
    this.#progress.hidden = this.#stop.hidden = !isBusy;
    this.#progress.value = 0;
  }

  #say(text: string, isProblem = false): void {
    this.#status.textContent = text;
    this.#status.classList.toggle('problem', isProblem);
  }
}

/** Empty for a file that is stored but not shown. Rejects when the list cannot be loaded. */
async function linksTo(file: string): Promise<Node[]> {
  const response = await fetch('/_svc/resources', { headers: { Accept: 'application/json' } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const all = (await response.json()) as Published[];
  const found = all.filter((one) => one.file === file).slice(0, MAX_LINKS);
  return found
    .flatMap(({ name, href }) => {
      const link = document.createElement('a');
      link.href = href;
      link.textContent = `Open ${name}`;
      return [link, ' '];
    })
    .map((part) => (typeof part === 'string' ? document.createTextNode(part) : part));
}

function parsed(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    // An error page of a proxy; its status is reported instead.
    return {};
  }
}
