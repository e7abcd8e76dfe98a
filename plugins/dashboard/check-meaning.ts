/** What a schema cannot say: which members go together. */
import { isCollection, type Document } from 'yaml';
import type { Dashboard, DashboardPanel, DashboardVariable } from '../../src/docroot/dashboard.ts';
import { suggestion } from '../../src/config/nearest-name.ts';
import { Mistake } from './check-node.ts';

const SOURCES = ['query', 'savedsearch', 'dataset', 'text'] as const;
const OF_DATASET = ['filter', 'sort', 'columns'] as const;
/** Taken by the address of the page, or by the language for itself. */
const TAKEN_NAMES: ReadonlySet<string> = new Set(
  'earliest latest refresh timezone now today yesterday full source download raw history'.split(
    ' ',
  ),
);

/** Throws Mistake. */
export function checkMeaning({ variables = [], rows }: Dashboard, document: Document): void {
  const at = (...path: (string | number)[]): unknown => {
    const node = document.getIn(path, true);
    return node ?? document.getIn(path.slice(0, -1), true);
  };
  const times: string[] = [];
  const names = new Set<string>();
  for (const [index, variable] of variables.entries()) {
    const { name, type } = variable;
    const place = (member: string): unknown => at('variables', index, member);
    if (names.has(name)) throw new Mistake(place('name'), `a second variable is called '${name}'`);
    if (TAKEN_NAMES.has(name))
      throw new Mistake(place('name'), `no variable may be called '${name}'`);
    names.add(name);
    if (type === 'time') times.push(name);
    const reason = mistakeIn(variable);
    if (reason !== null) throw new Mistake(place(reason.member), reason.text);
  }
  for (const [index, row] of rows.entries()) {
    for (const [place, panel] of row.panels.entries()) {
      const reason = mistakeOf(panel, times);
      if (reason === null) continue;
      const node = at('rows', index, 'panels', place, reason.member);
      const panelNode = at('rows', index, 'panels', place);
      throw new Mistake(isCollection(node) ? panelNode : node, reason.text);
    }
  }
}

interface Reason {
  readonly member: string;
  readonly text: string;
}

function mistakeIn(variable: DashboardVariable): Reason | null {
  const { name, type, query, all, default: first } = variable;
  const say = (member: string, text: string): Reason => ({ member, text });
  if (type === 'choice' && query === undefined)
    return say('type', `the choice '${name}' lacks 'query', whose first column has its values`);
  if (type !== 'choice' && query !== undefined)
    return say('query', `'query' is for variables of type choice, and '${name}' is a ${type}`);
  if (type !== 'choice' && all !== undefined)
    return say('all', `'all' is for variables of type choice, and '${name}' is a ${type}`);
  if (first === undefined || (typeof first === 'object') === (type === 'time')) return null;
  return type === 'time'
    ? say('default', `the default of '${name}' must hold earliest and latest`)
    : say('default', `the default of '${name}' must be a text or a number`);
}

function mistakeOf(panel: DashboardPanel, times: readonly string[]): Reason | null {
  const say = (member: string, text: string): Reason => ({ member, text });
  const given = SOURCES.filter((name) => panel[name] !== undefined);
  const [source, second] = given;
  if (source === undefined) return say('title', `a panel lacks one of ${SOURCES.join(', ')}`);
  if (second !== undefined)
    return say(
      second,
      `a panel has one of ${SOURCES.join(', ')}, not both '${source}' and '${second}'`,
    );
  if ((source === 'text') !== ((panel.form ?? source) === 'text'))
    return source === 'text'
      ? say('form', `a panel with 'text' has the form text`)
      : panel.form === 'text'
        ? say('form', `the form text needs the member 'text', not '${source}'`)
        : null;
  const misplaced = OF_DATASET.find((name) => panel[name] !== undefined);
  if (misplaced !== undefined && source !== 'dataset')
    return say(misplaced, `'${misplaced}' is for panels with 'dataset'; a query says it itself`);
  const { time } = panel;
  if (time !== undefined && time !== 'none' && !times.includes(time))
    return say('time', `no variable of type time is called '${time}'${suggestion(time, times)}`);
  return null;
}
