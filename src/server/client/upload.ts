/**
 * The upload form of the start page with a suggested name, drag and drop, progress and a way to stop. Without this script the
 * form is sent as it is and answered by a page.
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
/** Nobody here knows what the server did with it. */
const LOST_ANSWER =
  'The connection was lost before the answer came. The list shows whether the file is there; if it is not, Upload sends it again.';
/** A workbook has many sheets. */
const MAX_LINKS = 3;

/** Makes the form of the page pleasant, if it has one; `onStored` shows the new list. */
export function startUpload(onStored: () => Promise<void>): void {
  const form = document.querySelector<HTMLFormElement>('form[action="/api/uploads"]');
  if (form !== null) enhance(form, onStored);
}

function enhance(form: HTMLFormElement, onStored: () => Promise<void>): void {
  const part = <E extends HTMLElement>(selector: string): E => form.querySelector<E>(selector)!;
  const name = part<HTMLInputElement>('[name=filename]');
  const file = part<HTMLInputElement>('[type=file]');
  const progress = part<HTMLProgressElement>('progress');
  const status = part('[role=status]');
  const send = part<HTMLButtonElement>('[type=submit]');
  const stop = part<HTMLButtonElement>('[type=button]');
  let suggested = '';

  const say = (text: string, isProblem = false): void => {
    status.textContent = text;
    status.classList.toggle('problem', isProblem);
  };
  const setBusy = (isBusy: boolean): void => {
    send.disabled = isBusy;
    progress.hidden = stop.hidden = !isBusy;
    progress.value = 0;
  };
  const end = (text: string, isProblem = false): void => {
    setBusy(false);
    say(text, isProblem);
  };
  /** Says so when the chosen file would be refused for its size, which no sending is needed to find out. */
  const isTooLarge = (): boolean => {
    const isRefused = (file.files?.[0]?.size ?? 0) > Number(form.dataset['limit']);
    say(isRefused ? 'This file is larger than an upload may be.' : '', isRefused);
    return isRefused;
  };
  const noteChosen = (): void => {
    const chosen = file.files?.[0];
    if (chosen === undefined) return;
    if (name.value === '' || name.value === suggested) name.value = suggested = chosen.name;
    isTooLarge();
  };
  const finish = (request: XMLHttpRequest): void => {
    const answer = parsed(request.responseText);
    if (request.status !== 201) {
      const { detail } = answer;
      end(`Not stored: ${typeof detail === 'string' ? detail : `status ${request.status}`}`, true);
      return;
    }
    form.reset();
    suggested = '';
    const told = `${answer.path} was ${answer.operation}. `;
    end(told);
    void linksTo(answer.path ?? '').then(
      (links) => {
        // Something else is told meanwhile.
        if (status.textContent !== told) return;
        status.append(
          ...(links.length > 0 ? links : ['Files of this kind are stored, but not shown.']),
        );
        // The links are a convenience: without the list there are none.
      },
      () => undefined,
    );
    refresh();
  };
  /** What is told of the upload holds whether the list can be had or not; the next look at the page shows it. */
  const refresh = (): void => void onStored().catch(() => undefined);

  file.addEventListener('change', noteChosen);
  // Somebody was faster than this script.
  noteChosen();
  const card = form.parentElement ?? form;
  card.addEventListener('dragover', (event) => {
    event.preventDefault();
    form.classList.add('dropping');
  });
  card.addEventListener('dragleave', () => form.classList.remove('dropping'));
  card.addEventListener('drop', (event) => {
    event.preventDefault();
    form.classList.remove('dropping');
    if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
    file.files = event.dataTransfer.files;
    noteChosen();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isTooLarge()) return;
    const request = new XMLHttpRequest();
    request.open('POST', form.action);
    request.responseType = 'text';
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      progress.value = total > 0 ? loaded / total : 0;
      say(`${Math.floor(progress.value * 100)} % sent`);
    });
    let isSent = false;
    request.upload.addEventListener('load', () => {
      isSent = true;
      say('Sent; it is being read.');
    });
    request.addEventListener('load', () => finish(request));
    request.addEventListener('error', () => {
      end(isSent ? LOST_ANSWER : LOST, true);
      if (isSent) refresh();
    });
    request.addEventListener('abort', () => end('Stopped; nothing was stored.'));
    stop.onclick = () => request.abort();
    setBusy(true);
    request.send(new FormData(form));
  });
}

/** Links to what a file became; none where it is stored and not shown. Fails where the list cannot be had. */
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
    // An error page of something in between; its status is told instead.
    return {};
  }
}
