/** One panel in a dialog, with what it would show beside it. */
import type { DashboardPanel } from '../../docroot/dashboard.ts';
import { messageOf } from '../shared/ask.ts';
import {
  closer,
  debounced,
  make,
  makeForm,
  makeSelect,
  openDialog,
  submitter,
} from '../shared/element.ts';
import type { PanelView } from './panel-view.ts';
import type { Place } from './state.ts';

interface PanelDialog {
  readonly forms: readonly string[];
  readonly colors: readonly string[];
  readonly preview: (panel: DashboardPanel) => Promise<Place>;
  readonly show: (place: Place) => PanelView;
  readonly save: (panel: DashboardPanel, place: Place) => void;
}

const PAUSE_MS = 500;
const SOURCES = [
  ['query', 'Query of the search language'],
  ['savedsearch', 'Saved search, by its name'],
  ['dataset', 'Rows of a dataset, by its name'],
  ['text', 'Text in Markdown'],
] as const;
type Source = (typeof SOURCES)[number][0];

export function editPanel(panel: DashboardPanel, dialog: PanelDialog): void {
  const source: Source = SOURCES.find(([name]) => panel[name] !== undefined)?.[0] ?? 'query';
  const { options = {} } = panel;
  const box = (value: string, attributes: Record<string, string | number> = {}): HTMLInputElement =>
    make('input', { value, autocomplete: 'off', spellcheck: 'false', ...attributes });
  const title = box(panel.title ?? '', { maxlength: 200 });
  const kind = makeSelect('What it shows', SOURCES, source, () => changed());
  const text = make('textarea.code', {
    rows: 5,
    spellcheck: 'false',
    'aria-label': 'Query, name or text',
  });
  text.value = panel[source] ?? '';
  const form = makeSelect(
    'Form',
    dialog.forms.filter((one) => one !== 'text').map((one) => [one, labelOf(one)]),
    panel.form === 'text' ? 'table' : (panel.form ?? 'table'),
    () => changed(),
  );
  const unit = box(options.unit ?? '', { maxlength: 32 });
  const decimals = box(String(options.decimals ?? ''), { type: 'number', min: 0, max: 12 });
  const thresholds = box(
    (options.thresholds ?? []).map(({ from, color }) => `${from} ${color}`).join(', '),
    { placeholder: '100 warn, 500 error' },
  );
  const colors = box(
    Object.entries(options.colors ?? {})
      .map(([name, color]) => `${name} ${color}`)
      .join(', '),
    { placeholder: 'paid green, open amber' },
  );
  const drilldown = make('input', {
    type: 'checkbox',
    checked: options.drilldown !== undefined && options.drilldown !== false,
  });
  const problem = make('p.problem', { role: 'alert', hidden: true });
  const sample = make('div.panel-preview', { 'aria-label': 'Preview', role: 'region' });
  let place: Place | null = null;
  let asked = 0;

  const panelNow = (): DashboardPanel => {
    const { query: _q, savedsearch: _s, dataset: _d, text: _t, form: _f, ...rest } = panel;
    const kept = kind.value === 'dataset' ? rest : withoutRows(rest);
    const chosen = kind.value as Source;
    return {
      ...kept,
      ...(title.value !== '' ? { title: title.value } : { title: undefined }),
      [chosen]: text.value,
      ...(chosen !== 'text' && { form: form.value as never }),
      options: optionsNow(),
    };
  };
  const optionsNow = (): DashboardPanel['options'] => {
    const made = {
      ...options,
      unit: unit.value || undefined,
      decimals: decimals.value === '' ? undefined : Number(decimals.value),
      thresholds: pairsIn(thresholds.value).map(([from, color]) => ({ from: Number(from), color })),
      colors: Object.fromEntries(pairsIn(colors.value)),
      drilldown: drilldown.checked ? (options.drilldown ?? true) : undefined,
    };
    const kept = Object.entries(made).filter(([, one]) => !isEmpty(one));
    return kept.length === 0 ? undefined : (Object.fromEntries(kept) as DashboardPanel['options']);
  };
  /** As it is sent: what is undefined is no member. */
  const plain = (): DashboardPanel => JSON.parse(JSON.stringify(panelNow())) as DashboardPanel;
  const tell = (words: string): void => {
    problem.textContent = words;
    problem.hidden = words === '';
  };
  const preview = async (): Promise<void> => {
    const turn = ++asked;
    try {
      const made = await dialog.preview(plain());
      if (turn !== asked) return;
      place = made;
      tell('');
      const view = dialog.show(made);
      view.element.classList.add('working');
      // Drawn where it will be seen, over what is shown, so that nothing is blank meanwhile.
      sample.append(view.element);
      await view.refresh(0);
      if (turn === asked) sample.replaceChildren(view.element);
      else view.element.remove();
    } catch (error) {
      if (turn !== asked) return;
      place = null;
      tell(messageOf(error));
    }
  };
  const later = debounced(PAUSE_MS, () => void preview());
  const changed = (): void => {
    form.disabled = kind.value === 'text';
    later();
  };
  const submit = async (): Promise<void> => {
    later.cancel();
    await preview();
    if (place === null) return;
    opened.close();
    dialog.save(plain(), place);
  };
  const opened = openDialog(
    panel.title === '' ? 'Add a panel' : 'Edit the panel',
    makeForm(
      () => void submit(),
      { class: 'panel-form' },
      make(
        'div.panel-fields',
        make('label', 'Title', title),
        make('label', 'It shows', kind),
        make('label', 'Query, name or text', text),
        make('label', 'Form', form),
        make('details', make('summary', 'Options'), [
          make('label', 'Unit', unit),
          make('label', 'Decimals', decimals),
          make('label', 'Colours from a value on', thresholds),
          make('label', 'Colours of values', colors),
          make('p.fine', `Colours: ${dialog.colors.join(', ')}`),
          make('label.check', drilldown, ' A click on a value leads to its rows'),
        ]),
      ),
      sample,
      problem,
      make('p.dialog-actions', submitter('Done'), closer('Cancel')),
    ),
  );
  opened.classList.add('wide');
  opened.addEventListener('input', () => changed());
  changed();
}

function withoutRows<T extends { filter?: unknown; sort?: unknown; columns?: unknown }>(
  panel: T,
): Omit<T, 'filter' | 'sort' | 'columns'> {
  const { filter: _f, sort: _s, columns: _c, ...rest } = panel;
  return rest;
}

/** `100 warn, 500 error`: what a colour is for, and its name behind the last space. */
function pairsIn(text: string): [string, string][] {
  return text.split(',').flatMap((part): [string, string][] => {
    const [, what, color] = /^\s*(.+?)\s+(\S+)\s*$/.exec(part) ?? [];
    return what === undefined || color === undefined ? [] : [[what, color]];
  });
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}

function labelOf(form: string): string {
  const words = form.replaceAll('-', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}
