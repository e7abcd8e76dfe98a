import type { Query, Stage, Word } from './ast.ts';
import { fillText, type Parameters } from './placeholder.ts';
import { Problem } from './problem.ts';
import type { RightSide } from '../run/right-side.ts';

/** A name that depends on a missing value is left out. */
interface Mentions {
  readonly datasets: Set<string>;
  readonly savedSearches: Set<string>;
  readonly usesAudit: boolean;
}

export function mentionsOf(query: Query, parameters: Parameters): Mentions {
  const mentions = {
    datasets: new Set<string>(),
    savedSearches: new Set<string>(),
    usesAudit: false,
  };
  const nameOf = ({ text, place }: Word): string | null => {
    try {
      return fillText(text, parameters, place);
    } catch (error) {
      // A placeholder without a value is reported when the query is checked.
      if (error instanceof Problem) return null;
      throw error;
    }
  };
  const addSource = (word: Word): void => {
    const name = nameOf(word);
    if (name === 'audit') mentions.usesAudit = true;
    else if (name !== null && name !== 'events') mentions.datasets.add(name);
  };
  const visit = ({ command, arguments: args }: Stage): void => {
    if (args.form === 'flag') {
      const model = args.flags['model']?.at(-1);
      const name = model ? nameOf(model) : null;
      if (name?.startsWith('dataset.')) mentions.datasets.add(name.slice('dataset.'.length));
      if (name?.startsWith('audit.')) mentions.usesAudit = true;
      if (command === 'run_saved_search' && args.words[0]) {
        const search = nameOf(args.words[0]);
        if (search !== null) mentions.savedSearches.add(search);
      }
      return;
    }
    if (command === 'from') addSource(args.args as Word);
    if (command === 'lookup') addSource((args.args as { name: Word }).name);
    if (command === 'savedsearch') {
      const search = nameOf((args.args as { name: Word }).name);
      if (search !== null) mentions.savedSearches.add(search);
    }
    if (command === 'join') visitRight((args.args as { right: RightSide }).right);
    if (command === 'append') visitRight(args.args as RightSide);
  };
  const visitRight = (right: RightSide): void => {
    if (right.kind === 'source') addSource(right.name);
    else right.query.stages.forEach(visit);
  };
  query.stages.forEach(visit);
  return mentions;
}

export function textsOf(query: Query): string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const stage of query.stages) collect(stage.arguments);
  return texts;
}
