import type { SourceName } from '../command.ts';
import type { Flag } from './flag-arguments.ts';
import type { FlagValues } from './flag-values.ts';
import { Problem, unknownName } from './problem.ts';

export const MODEL_FLAGS: readonly Flag[] = [
  {
    name: 'model',
    type: 'text',
    default: 'events.Event',
    help: 'events.Event, audit.Entry or dataset.<name>',
  },
  { name: 'using', type: 'text', choices: ['default'], default: 'default', help: 'only default' },
  {
    name: 'filter',
    type: 'condition',
    isRepeatable: true,
    help: 'keep rows where path__lookup=value holds',
  },
  {
    name: 'exclude',
    type: 'condition',
    isRepeatable: true,
    help: 'drop rows where path__lookup=value holds',
  },
  { name: 'select', type: 'list', help: 'columns to show, or name=expression' },
  { name: 'limit', type: 'int', help: 'at most so many rows' },
];

const MODELS = ['events.Event', 'audit.Entry', 'dataset.<name>'] as const;

export function modelSource(flags: FlagValues): SourceName | null {
  const model = flags.text('model');
  if (model === null) return null;
  const place = flags.placeOf('model');
  const dot = model.indexOf('.');
  if (dot < 0) throw new Problem('bad_value', "--model must be 'app_label.ModelName'", { place });
  const family = model.slice(0, dot);
  const name = model.slice(dot + 1);
  if (family === 'dataset' && name !== '') return { kind: 'dataset', name };
  if (family === 'events' && name.toLowerCase() === 'event') return { kind: 'events' };
  if (family === 'audit' && name.toLowerCase() === 'entry') return { kind: 'audit' };
  throw new Problem('unknown_source', `Unknown model '${model}'`, {
    place,
    suggestion: unknownName(model, MODELS.slice(0, 2)).suggestion,
    allowed: MODELS,
    listsAllowed: true,
  });
}
