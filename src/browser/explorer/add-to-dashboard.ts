/** The query of the page as a panel: at the end of a dashboard that the reader may write, or of a new one. */
import { ask, askJson, csrfHeaders, messageOf, posting } from '../shared/ask.ts';
import { FORMS } from '../shared/chart/forms.ts';
import { closer, make, makeForm, makeSelect, openDialog, submitter } from '../shared/element.ts';
import { onSite } from '../shared/site.ts';
import { viewChoice } from './view-choices.ts';

interface Listed {
  readonly dashboards: readonly {
    readonly resource: string;
    readonly file_name: string;
    readonly may_write: boolean;
    readonly problem: string | null;
  }[];
}
interface Shown {
  readonly dashboard: { readonly rows: readonly unknown[] };
}

const NEW = '';
const SUFFIX = '.dashboard.yaml';

export function startAdding(explorer: HTMLElement, search: HTMLFormElement): void {
  const button = explorer.querySelector<HTMLButtonElement>('#add-to-dashboard');
  if (button === null) return;
  button.hidden = false;
  button.addEventListener('click', () => void add(explorer, search, button));
}

async function add(
  explorer: HTMLElement,
  search: HTMLFormElement,
  button: HTMLButtonElement,
): Promise<void> {
  const { dashboards } = await askJson<Listed>('/_svc/dashboards').catch(() => ({
    dashboards: [],
  }));
  const own = dashboards.filter(({ may_write: mayWrite, problem }) => mayWrite && problem === null);
  const places: [string, string][] = own.map(({ resource }) => [resource, resource]);
  if (button.dataset['mayCreate'] === 'true') places.push([NEW, 'A new dashboard']);
  if (places.length === 0) {
    const text = 'There is no dashboard that you may write.';
    openDialog('Add to a dashboard', make('p', text), make('p.dialog-actions', closer('Close')));
    return;
  }
  const query = textOf(search);
  const title = make('input', { maxlength: 200, value: '', autocomplete: 'off' });
  const name = make('input', {
    required: true,
    maxlength: 200,
    autocomplete: 'off',
    placeholder: 'folder/name',
  });
  const named = make('label', 'Its name in the folder', name);
  const forms: [string, string][] = [
    ...FORMS.map(([form, label]): [string, string] => [form, label]),
    ['table', 'Table'],
    ['events', 'Events'],
  ];
  const form = makeSelect('Form', forms, formNow(explorer));
  const place = makeSelect('Dashboard', places, places[0]![0], () => choose());
  const choose = (): void => {
    named.hidden = place.value !== NEW;
    name.disabled = named.hidden;
  };
  const problem = make('p.problem', { role: 'alert', hidden: true });
  const submit = async (): Promise<void> => {
    const panel = { ...(title.value !== '' && { title: title.value }), query, form: form.value };
    try {
      const resource =
        place.value === NEW
          ? await create(name.value.trim(), title.value, panel, explorer)
          : await append(place.value, panel);
      const path = resource.split('/').map(encodeURIComponent).join('/');
      dialog.replaceChildren(
        make('h2', { id: dialog.getAttribute('aria-labelledby') }, 'Added'),
        make(
          'p',
          { role: 'status' },
          'It is the last panel of ',
          make('a', { href: onSite(`/ui/${path}/`) }, resource),
          '.',
        ),
        make('p.dialog-actions', closer('Close')),
      );
      dialog.querySelector('a')!.focus();
    } catch (error) {
      problem.textContent = messageOf(error);
      problem.hidden = false;
    }
  };
  const dialog = openDialog(
    'Add to a dashboard',
    makeForm(
      () => void submit(),
      make('label', 'Dashboard', place),
      named,
      make('label', 'Title of the panel', title),
      make('label', 'Form', form),
      problem,
      make('p.dialog-actions', submitter('Add'), closer('Cancel')),
    ),
  );
  choose();
}

/** As typed: the time is that of the dashboard. */
function textOf(search: HTMLFormElement): string {
  const typed = new FormData(search);
  return String(typed.get('q') ?? typed.get('ask') ?? '').trim() || '*';
}

function formNow(explorer: HTMLElement): string {
  const chosen = viewChoice('chart');
  if (FORMS.some(([form]) => form === chosen)) return chosen;
  const table = explorer.querySelector('#result');
  if (table === null) return 'events';
  return table.querySelector('tbody td:first-child time') === null ? 'table' : 'line';
}

async function append(resource: string, panel: object): Promise<string> {
  const address = `/_svc/dashboards/${resource.split('/').map(encodeURIComponent).join('/')}`;
  const { dashboard } = await askJson<Shown>(address);
  const last = dashboard.rows.length - 1;
  const step =
    last < 0
      ? { op: 'add', path: '/rows/-', value: { panels: [panel] } }
      : { op: 'add', path: `/rows/${last}/panels/-`, value: panel };
  await ask(address, posting([step], 'PATCH'));
  return resource;
}

/** JSON of texts is YAML too. */
async function create(
  name: string,
  title: string,
  panel: object,
  { dataset: { earliest = '', latest = '' } }: HTMLElement,
): Promise<string> {
  const resource = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
  const members = Object.entries(panel).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const text = [
    `title: ${JSON.stringify(title || resource.slice(resource.lastIndexOf('/') + 1))}`,
    'time:',
    `  earliest: ${JSON.stringify(earliest)}`,
    `  latest: ${JSON.stringify(latest)}`,
    'rows:',
    '  - panels:',
    `      - ${members.join('\n        ')}`,
    '',
  ].join('\n');
  const path = `${resource}${SUFFIX}`.split('/').map(encodeURIComponent).join('/');
  await ask(`/_svc/files/${path}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/yaml', 'If-None-Match': '*', ...csrfHeaders() },
    body: text,
  });
  return resource;
}
