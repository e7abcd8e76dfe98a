/**
 * The upload form of the start page with a suggested name, progress and a way to stop. Without this script the form is sent
 * as it is and answered by a page.
 */
const form = document.querySelector('form[action="/api/uploads"]');
const [name, file, progress, status, send, stop] = [
  '[name=filename]',
  '[type=file]',
  'progress',
  '[role=status]',
  '[type=submit]',
  '[type=button]',
].map((selector) => form.querySelector(selector));
let suggested = '';

file.addEventListener('change', () => {
  const chosen = file.files[0];
  if (chosen === undefined) return;
  if (name.value === '' || name.value === suggested) name.value = suggested = chosen.name;
  const limit = Number(form.dataset.limit);
  say(chosen.size > limit ? 'This file is larger than an upload may be.' : '');
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open('POST', form.action);
  request.responseType = 'text';
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    progress.value = total > 0 ? loaded / total : 0;
    say(`${Math.floor(progress.value * 100)} % sent`);
  });
  request.upload.addEventListener('load', () => say('Sent; it is being read.'));
  request.addEventListener('load', () => finish(request));
  request.addEventListener('error', () => end('The connection was lost; nothing was stored.'));
  request.addEventListener('abort', () => end('Stopped; nothing was stored.'));
  stop.onclick = () => request.abort();
  setBusy(true);
  request.send(new FormData(form));
});

function finish(request) {
  const answer = parsed(request.responseText);
  if (request.status !== 201) {
    const detail = typeof answer?.detail === 'string' ? answer.detail : `status ${request.status}`;
    end(`Not stored: ${detail}`);
    return;
  }
  form.reset();
  suggested = '';
  end(`${answer.path} was ${answer.operation}. `);
  const link = document.createElement('a');
  link.href = '/';
  link.textContent = 'Show it in the list';
  status.append(link);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function end(text) {
  setBusy(false);
  say(text);
}

function setBusy(isBusy) {
  send.disabled = isBusy;
  progress.hidden = stop.hidden = !isBusy;
  progress.value = 0;
}

function say(text) {
  status.textContent = text;
}
