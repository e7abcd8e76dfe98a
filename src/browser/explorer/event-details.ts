/** What one can do with an event that is open: copy it, and look at it as a tree where it is JSON. */
import { closestOf, make, quietButton } from '../shared/element.ts';

/** Deeper ones are opened by the reader. */
const OPEN_DEPTH = 2;
/** More members of one object or list are told as a number. */
const MAX_MEMBERS = 500;

/** For the lines of `list`, also those that come later. */
export function startEventDetails(list: HTMLElement): void {
  list.addEventListener(
    'toggle',
    (event) => {
      const details = event.target;
      const isLine =
        details instanceof HTMLDetailsElement && details.matches('.lines > li > details');
      if (isLine && details.open) addActions(details);
    },
    { capture: true },
  );
  for (const details of list.querySelectorAll<HTMLDetailsElement>('li > details[open]'))
    addActions(details);
  // Selecting text of an open event does not close it.
  list.addEventListener('click', (event) => {
    const summary = closestOf(event, 'li > details[open] > summary');
    if (summary !== null && !(getSelection()?.isCollapsed ?? true)) event.preventDefault();
  });
}

function addActions(details: HTMLDetailsElement): void {
  const text = details.querySelector('.line')?.textContent ?? '';
  if (details.querySelector('.event-tools') !== null) return;
  const tools = make(
    'div.event-tools',
    make('button.quiet.small', { type: 'button', 'data-copy': 'text', 'data-text': text }, 'Copy'),
  );
  const link = details.querySelector<HTMLAnchorElement>('.event-actions a');
  if (link !== null) {
    const copied = { type: 'button', 'data-copy': 'text', 'data-text': link.href };
    tools.append(make('button.quiet.small', copied, 'Copy the link'));
  }
  const value = objectIn(text);
  if (value !== null) tools.append(treeButton(details, value));
  const actions = details.querySelector('.event-actions');
  if (actions === null) details.querySelector('summary')!.after(tools);
  else {
    tools.append(...actions.childNodes);
    actions.replaceWith(tools);
  }
}

/** Null for what is no object or list. */
function objectIn(text: string): object | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}

function treeButton(details: HTMLElement, value: object): HTMLElement {
  let tree: HTMLElement | null = null;
  const button = quietButton(
    'As a tree',
    () => {
      const fields = details.querySelector<HTMLElement>('.event-fields');
      tree ??= make(
        'div.json-tree',
        { role: 'group', 'aria-label': 'The event as a tree' },
        branch(value, 0),
      );
      const isShown = !tree.isConnected;
      if (isShown) fields?.before(tree);
      else tree.remove();
      if (fields !== null) fields.hidden = isShown;
      button.textContent = isShown ? 'As fields' : 'As a tree';
    },
    { 'aria-pressed': 'false' },
  );
  button.removeAttribute('aria-pressed');
  return button;
}

function branch(value: object, depth: number): HTMLElement {
  const members = Object.entries(value);
  const left = members.length - MAX_MEMBERS;
  return make(
    'ul',
    members.slice(0, MAX_MEMBERS).map(([name, member]: [string, unknown]) => {
      if (typeof member !== 'object' || member === null) {
        return make('li', make('span.name', name), ' ', leaf(member));
      }
      const count = Object.keys(member).length;
      const kind = Array.isArray(member) ? `[${count}]` : `{${count}}`;
      return make(
        'li',
        make(
          'details',
          { open: depth + 1 < OPEN_DEPTH },
          make('summary', make('span.name', name), ' ', make('small', kind)),
          branch(member, depth + 1),
        ),
      );
    }),
    left > 0 ? make('li', make('small', `and ${left} more`)) : null,
  );
}

function leaf(value: unknown): HTMLElement {
  if (typeof value === 'string') return make('code.string', JSON.stringify(value));
  return make('code.number', String(value));
}
