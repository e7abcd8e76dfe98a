/** The form of an alert: a definition as fields, and back. */
import type { AlertDefinition } from '../../alerts/definition.ts';
import { AppError } from '../../base/errors.ts';

export type AlertFields = Readonly<Record<string, string>>;

/** What stands in the form as JSON: lists that have no fields of their own. */
const LISTS = ['mute', 'deliveries'] as const;
const TEXTS = [
  'title',
  'description',
  'query',
  'savedsearch',
  'schedule',
  'timezone',
  'window',
  'delay',
  'severity',
  'throttle',
] as const;
const COUNTS = ['for', 'resolve'] as const;

export function fieldsOf(definition: AlertDefinition): AlertFields {
  const fields: Record<string, string> = {};
  for (const name of [...TEXTS, ...COUNTS]) {
    const value = definition[name];
    if (value !== undefined) fields[name] = String(value);
  }
  for (const name of LISTS) {
    const value = definition[name];
    if (value !== undefined) fields[name] = JSON.stringify(value, null, 2);
  }
  if (definition.by !== undefined) fields['by'] = definition.by.join(', ');
  const { when } = definition;
  if (when === undefined) return fields;
  fields['when'] = when.type;
  for (const [name, value] of Object.entries(when)) {
    if (name === 'column') fields['column'] = String(value);
    else if (name === 'direction') fields['direction'] = String(value);
    else if (name === 'percent') fields['percent'] = value === true ? 'on' : '';
    else if (name !== 'type') {
      fields['test'] = name;
      fields['value'] = String(value);
    }
  }
  return fields;
}

/** As a request would bring it; checked by the operation. Throws `bad-request` for a list that is no JSON. */
export function definitionOf(fields: ReadonlyMap<string, string>): unknown {
  const field = (name: string): string => (fields.get(name) ?? '').trim();
  const made: Record<string, unknown> = {};
  for (const name of TEXTS)
    if (field(name) !== '') made[name] = field(name).replaceAll('\r\n', '\n');
  for (const name of COUNTS) if (field(name) !== '') made[name] = numberIn(field(name));
  for (const name of LISTS) if (field(name) !== '') made[name] = listIn(name, field(name));
  if (field('by') !== '')
    made['by'] = field('by')
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);
  if (field('when') !== '') made['when'] = conditionOf(field);
  else delete made['severity'];
  return made;
}

function conditionOf(field: (name: string) => string): unknown {
  const type = field('when');
  if (type === 'no data') return { type };
  const column = type !== 'rows' && field('column') !== '' ? { column: field('column') } : {};
  if (type === 'change') {
    const direction = field('direction');
    return {
      type,
      ...column,
      more_than: numberIn(field('value')),
      ...(field('percent') === 'on' && { percent: true }),
      ...(direction !== '' && { direction }),
    };
  }
  return { type, ...column, [field('test')]: numberIn(field('value')) };
}

/** What is no number stays a text: that may be meant, or is refused in words. */
function numberIn(text: string): string | number {
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : number;
}

function listIn(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw new AppError('bad-request', `${name} must be a list in JSON: ${reason}`);
  }
}
