/** The editor of texts: saved by Ctrl+S, previewed without leaving, and not left by mistake. */
import { messageOf, refusalOf } from './shared/ask.ts';
import { onSite } from './shared/site.ts';

const form = document.querySelector<HTMLFormElement>('#editor');
if (form !== null) start(form);

function start(form: HTMLFormElement): void {
  const area = form.querySelector<HTMLTextAreaElement>('[name=text]')!;
  const status = form.querySelector<HTMLElement>('[role=status]')!;
  const save = form.querySelector<HTMLButtonElement>('[value=save]')!;
  const preview = form.querySelector<HTMLButtonElement>('[value=preview]');
  let isSent = false;
  const isChanged = (): boolean => area.value !== area.defaultValue;

  form.addEventListener('submit', (event) => {
    if (event.submitter !== preview || preview === null) {
      isSent = true;
      return;
    }
    event.preventDefault();
    void show();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey)
      return;
    event.preventDefault();
    form.requestSubmit(save);
  });
  addEventListener('beforeunload', (event) => {
    if (!isSent && isChanged()) event.preventDefault();
  });

  async function show(): Promise<void> {
    status.textContent = '…';
    try {
      const body = new URLSearchParams();
      for (const [name, value] of new FormData(form)) body.append(name, String(value));
      body.set('do', 'preview');
      const init = { method: 'POST', body, headers: { Accept: 'text/html' } };
      const response = await fetch(onSite(form.getAttribute('action')!), init);
      if (!response.ok) throw await refusalOf(response);
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const part = page.querySelector('#preview');
      if (part !== null) document.querySelector('#preview')?.replaceWith(document.adoptNode(part));
      status.textContent = '';
    } catch (error) {
      status.textContent = messageOf(error);
    }
  }
}
