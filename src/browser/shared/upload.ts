/**
 * The upload form with suggested name, drag and drop, progress and cancelling. Without script the
 * form is submitted and answered by a page.
 */
import { askJson, reasonIn } from './ask.ts';
import { make } from './element.ts';

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
const STOPPED_LATE = 'Stopped after all had been sent. The list shows whether the file is there.';
const MAX_LINKS = 3;

/** `refresh` shows the list anew; when it fails, the next page load shows it. */
export function startUpload(refresh: () => Promise<void>): void {
  const form = document.querySelector<HTMLFormElement>('form[action*="/api/uploads"]');
  if (form === null) return;
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
  /** Refuses a file over the limit without sending it. */
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
  const showAnew = (): void => void refresh().catch(() => undefined);
  const finish = ({ status: code, responseText }: XMLHttpRequest): void => {
    if (code !== 201) return end(`Not stored: ${reasonIn(responseText) ?? `status ${code}`}`, true);
    form.reset();
    suggested = '';
    const { path, operation } = JSON.parse(responseText) as { path: string; operation: string };
    const told = `${path} was ${operation}. `;
    end(told);
    // The links are optional.
    linksTo(path).then(
      (links) => status.textContent === told && status.append(...links),
      () => undefined,
    );
    showAnew();
  };
  const upload = (): void => {
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
      if (isSent) showAnew();
    });
    request.addEventListener('abort', () => {
      end(isSent ? STOPPED_LATE : 'Stopped; nothing was stored.');
      if (isSent) showAnew();
    });
    stop.onclick = () => request.abort();
    setBusy(true);
    request.send(new FormData(form));
  };

  file.addEventListener('change', noteChosen);
  // The user chose a file before this script had loaded.
  noteChosen();
  takeDrops(form, (files) => {
    file.files = files;
    noteChosen();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isTooLarge()) upload();
  });
}

function takeDrops(form: HTMLFormElement, take: (files: FileList) => void): void {
  const card = form.parentElement ?? form;
  const { classList } = form;
  card.addEventListener('dragover', (event) => {
    event.preventDefault();
    classList.add('dropping');
  });
  card.addEventListener('dragleave', () => classList.remove('dropping'));
  card.addEventListener('drop', (event) => {
    event.preventDefault();
    classList.remove('dropping');
    const files = event.dataTransfer?.files;
    if (files !== undefined && files.length > 0) take(files);
  });
}

/** A sentence for a file that is stored but not shown. Rejects when the list cannot be loaded. */
async function linksTo(file: string): Promise<(Node | string)[]> {
  const all = await askJson<Published[]>('/_svc/resources');
  const found = all.filter((one) => one.file === file).slice(0, MAX_LINKS);
  if (found.length === 0) return ['Files of this kind are stored, but not shown.'];
  return found.flatMap(({ name, href }) => [make('a', { href }, `Open ${name}`), ' ']);
}
