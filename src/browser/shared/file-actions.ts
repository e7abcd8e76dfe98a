/** Folders and files as a whole on the start page and the pages of folders: made, renamed, moved, deleted, put back. */
import { ask, askJson, csrfHeaders, messageOf, posting } from './ask.ts';
import {
  closer,
  closestOf,
  make,
  makeForm,
  openDialog,
  openMenu,
  quietButton,
  submitter,
} from './element.ts';
import { onSite } from './site.ts';

const TYPE = 'application/x-svc-path';

/** `refresh` shows the list anew. */
export function startFileActions(refresh: () => Promise<void>): void {
  const bar = document.querySelector<HTMLElement>('.file-actions');
  if (bar === null) return;
  new FileActions(bar, refresh).start();
}

class FileActions {
  readonly #bar: HTMLElement;
  readonly #refresh: () => Promise<void>;
  readonly #status = make('p.fine', { role: 'status' });

  constructor(bar: HTMLElement, refresh: () => Promise<void>) {
    this.#bar = bar;
    this.#refresh = refresh;
  }

  get #folder(): string {
    return this.#bar.dataset['folder'] ?? '';
  }

  start(): void {
    this.#bar.after(this.#status);
    this.#press('#new-folder', () => this.#create('New folder', 'Name of the folder', false));
    this.#press('#new-text', () => this.#create('New text file', 'Name, such as notes.md', true));
    const list = document.querySelector<HTMLElement>('.resources')!;
    list.classList.add('has-actions');
    list.addEventListener('click', (event) => {
      const button = closestOf<HTMLButtonElement>(event, 'button.more');
      const row = button?.closest<HTMLElement>('[data-rel]');
      if (!button || !row) return;
      event.preventDefault();
      this.#menu(button, row);
    });
    list.addEventListener('keydown', (event) => {
      const row = closestOf(event, '[data-rel][data-move]');
      if (row === null || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === 'F2') this.#move(row);
      else if (event.key === 'Delete') this.#delete(row);
      else return;
      event.preventDefault();
    });
    this.#drag(list);
  }

  #press(selector: string, run: () => void): void {
    const button = this.#bar.querySelector<HTMLButtonElement>(selector);
    if (button === null) return;
    button.hidden = false;
    button.addEventListener('click', run);
  }

  #menu(anchor: HTMLButtonElement, { dataset }: HTMLElement): void {
    const row = anchor.closest<HTMLElement>('[data-rel]')!;
    const { edit, move } = dataset;
    openMenu(
      anchor,
      () => anchor.focus(),
      edit === undefined ? null : make('a.button.quiet.small', { href: edit }, 'Edit the text'),
      move === undefined
        ? null
        : [
            closer('Rename or move', () => this.#move(row)),
            closer('Delete', () => this.#delete(row)),
          ],
    );
  }

  #create(title: string, label: string, isText: boolean): void {
    this.#ask(title, label, '', async (name) => {
      const path = this.#folder === '' ? name : `${this.#folder}/${name}`;
      if (!isText) {
        await ask(addressOf(path), posting({ action: 'create_folder' }));
        return this.#done(`${name} is there.`);
      }
      const headers = { ...csrfHeaders(), 'If-None-Match': '*', 'Content-Type': 'text/plain' };
      await ask(addressOf(path), { method: 'PUT', headers, body: '' });
      location.assign(onSite(`/ui/${encoded(path)}?edit=1`));
    });
  }

  #move({ dataset }: HTMLElement): void {
    const from = dataset['rel']!;
    this.#ask('Rename or move', 'Its path from the top folder', from, async (to) => {
      if (to !== from) await this.#moveTo(from, to);
    });
  }

  async #moveTo(from: string, to: string): Promise<void> {
    await ask(addressOf(from), posting({ action: 'move', to }));
    const back = quietButton('Undo', () => {
      void this.#try(async () => {
        await ask(addressOf(to), posting({ action: 'move', to: from }));
        await this.#done(`${from} is where it was.`);
      });
    });
    await this.#done(`${from} is ${to} now. Rights belong to the place where a file is. `, back);
  }

  #delete({ dataset }: HTMLElement): void {
    const path = dataset['rel']!;
    const what = dataset['folder'] === undefined ? path : `${path} with all in it`;
    const dialog = openDialog(
      'Delete',
      make('p', `Move ${what} to the trash? It can be put back from there.`),
    );
    const form = makeForm(
      () => {
        dialog.close();
        void this.#try(async () => {
          const init = { method: 'DELETE', headers: csrfHeaders() };
          const { id } = await askJson<{ id: string }>(addressOf(path), init);
          const back = quietButton('Undo', () => {
            void this.#try(async () => {
              await ask(`/_svc/trash/${id}`, posting({}));
              await this.#done(`${path} is back.`);
            });
          });
          await this.#done(`${path} is in the trash. `, back);
        });
      },
      make('p.dialog-actions', submitter('Delete'), closer('Cancel')),
    );
    dialog.append(form);
    form.querySelector('button')?.focus();
  }

  /** One text; what is refused is said in the dialog, which stays. */
  #ask(title: string, label: string, value: string, run: (text: string) => Promise<void>): void {
    const input = make('input', {
      required: true,
      maxlength: 4096,
      value,
      autocomplete: 'off',
      spellcheck: 'false',
    });
    const problem = make('p.problem', { role: 'alert', hidden: true });
    const form = makeForm(
      () => {
        run(input.value.trim().replace(/^\/|\/$/g, '')).then(
          () => dialog.close(),
          (error: unknown) => {
            problem.textContent = messageOf(error);
            problem.hidden = false;
            input.focus();
          },
        );
      },
      make('label', label, input),
      problem,
      make(
        'p.dialog-actions',
        submitter(title.startsWith('New') ? 'Create' : 'Move'),
        closer('Cancel'),
      ),
    );
    const dialog = openDialog(title, form);
    input.focus();
    const start = value.lastIndexOf('/') + 1;
    const dot = value.lastIndexOf('.');
    input.setSelectionRange(start, dot > start ? dot : value.length);
  }

  async #try(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.#say(messageOf(error));
      this.#status.classList.add('problem');
    }
  }

  async #done(text: string, ...more: Node[]): Promise<void> {
    this.#say(text, ...more);
    // The next load of the page shows it.
    await this.#refresh().catch(() => undefined);
  }

  #say(text: string, ...more: Node[]): void {
    this.#status.classList.remove('problem');
    this.#status.replaceChildren(text, ...more);
  }

  /** Rows onto folders; files of this machine anywhere on the list, for the form of uploads. */
  #drag(list: HTMLElement): void {
    const form = document.querySelector<HTMLFormElement>('#upload form');
    let target: HTMLElement | null = null;
    const point = (next: HTMLElement | null): void => {
      target?.classList.remove('drop');
      target = next;
      target?.classList.add('drop');
    };
    list.addEventListener('dragstart', (event) => {
      const row = closestOf(event, '[data-rel][data-move]');
      if (row === null || event.dataTransfer === null) return;
      event.dataTransfer.setData(TYPE, row.dataset['rel']!);
      event.dataTransfer.effectAllowed = 'move';
    });
    list.addEventListener('dragover', (event) => {
      const types = event.dataTransfer?.types ?? [];
      const isOurs = types.includes(TYPE);
      const onto = isOurs ? closestOf(event, '[data-folder]:not(.file-actions)') : null;
      const isFile = !isOurs && types.includes('Files') && form !== null;
      point(onto ?? (isFile ? list : null));
      if (target !== null) event.preventDefault();
    });
    list.addEventListener('dragleave', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node) || !list.contains(relatedTarget)) point(null);
    });
    list.addEventListener('drop', (event) => {
      const onto = target;
      point(null);
      if (onto === null || event.dataTransfer === null) return;
      event.preventDefault();
      const { dataTransfer } = event;
      if (onto === list) {
        form?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
        form?.querySelector<HTMLElement>('[type=submit]')?.focus();
        return;
      }
      const from = dataTransfer.getData(TYPE);
      const folder = onto.dataset['folder']!;
      const to = `${folder}/${from.slice(from.lastIndexOf('/') + 1)}`;
      if (folder !== from && to !== from) void this.#try(() => this.#moveTo(from, to));
    });
  }
}

function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function addressOf(path: string): string {
  return `/_svc/files/${encoded(path)}`;
}
