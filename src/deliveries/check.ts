/** What is wrong with the deliveries of a definition, before it is kept. */
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import { suggestion, unknownKey } from '../config/nearest-name.ts';
import type { Config } from '../config/settings.ts';
import { isMailAddress } from '../config/values.ts';
import type { Message } from './message.ts';
import { checkedUrl, RefusedDelivery } from './outgoing.ts';
import { type Channel, type DeliveryTarget, deliverySchemas, type TargetOf } from './target.ts';
import { faultOfTemplate, valuesOf } from './template.ts';

const MAX_DELIVERIES = 20;

export interface DeliveryProblem {
  /** From the list of deliveries on: a position, then names. */
  readonly path: readonly (string | number)[];
  readonly text: string;
  /** Of the text at that place, from 1; null where the whole value is meant. */
  readonly line: number | null;
}

interface Context {
  readonly settings: Config['deliveries'];
  /** A message with every name that templates may use. */
  readonly sample: Message;
}

/** The list when it is right, else every problem. */
export function checkDeliveries(
  given: unknown,
  context: Context,
):
  | { readonly deliveries: readonly DeliveryTarget[] }
  | { readonly problems: readonly DeliveryProblem[] } {
  if (!Array.isArray(given)) return { problems: [problem([], 'must be a list of deliveries')] };
  if (given.length > MAX_DELIVERIES)
    return { problems: [problem([], `must hold at most ${MAX_DELIVERIES} deliveries`)] };
  const problems = given.flatMap((one: unknown, index) =>
    problemsOf(one, context).map(({ path, ...rest }) => ({ path: [index, ...path], ...rest })),
  );
  return problems.length > 0 ? { problems } : { deliveries: given as DeliveryTarget[] };
}

function problemsOf(given: unknown, context: Context): DeliveryProblem[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [problem([], 'must be a map with a type')];
  const { type } = given as { type?: unknown };
  const types = Object.keys(deliverySchemas);
  if (typeof type !== 'string' || !Object.hasOwn(deliverySchemas, type)) {
    const near = typeof type === 'string' ? suggestion(type, types) : '';
    return [problem(['type'], `must be one of ${types.join(', ')}${near}`)];
  }
  const schema = deliverySchemas[type as Channel];
  const known = new Set(Object.keys(schema.properties));
  const found: DeliveryProblem[] = [];
  for (const { path, message, type: kind } of Value.Errors(schema, given)) {
    const names = path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (found.some((one) => one.path.join('/') === names.join('/'))) continue;
    if (kind === ValueErrorType.ObjectAdditionalProperties)
      found.push(problem(names, unknownKey(names.at(-1), known)));
    else if (kind === ValueErrorType.ObjectRequiredProperty)
      found.push(problem(names, 'is missing'));
    else found.push(problem(names, `is wrong: ${message}`));
  }
  if (found.length > 0) return found;
  const target = given as DeliveryTarget;
  switch (target.type) {
    case 'webhook':
      return problemsOfWebhook(target, context);
    case 'email':
      return problemsOfEmail(target, context);
    case 'index':
      return templateFaults(target, context.sample);
    case 'dataset':
      return Object.keys(target.row).length === 0
        ? [problem(['row'], 'must name at least one column')]
        : templateFaults(target, context.sample);
  }
}

function problemsOfWebhook(target: TargetOf<'webhook'>, context: Context): DeliveryProblem[] {
  const { settings } = context;
  const found: DeliveryProblem[] = [];
  const { url, target: name, secret, format, template } = target;
  if ((url === undefined) === (name === undefined))
    found.push(problem(['url'], 'needs either url, or target with a name of deliveries.targets'));
  if (name !== undefined) found.push(...unknownName('target', name, settings.targets));
  if (secret !== undefined) found.push(...unknownName('secret', secret, settings.secrets));
  if (secret !== undefined && name !== undefined)
    found.push(problem(['secret'], 'belongs to a url; a target has its own in the configuration'));
  if (format !== undefined && template !== undefined)
    found.push(problem(['format'], 'is of no use beside a template'));
  if (url !== undefined) {
    try {
      checkedUrl(url, { hosts: settings.allowed_hosts });
    } catch (error) {
      if (!(error instanceof RefusedDelivery)) throw error;
      found.push(problem(['url'], error.message));
    }
  }
  return [...found, ...templateFaults(target, context.sample)];
}

function problemsOfEmail(target: TargetOf<'email'>, context: Context): DeliveryProblem[] {
  const found = target.to.flatMap((address, index) =>
    isMailAddress(address)
      ? []
      : [problem(['to', index], `'${address}' is no e-mail address such as ops@example.org`)],
  );
  if (context.settings.smtp.host === '')
    found.push(problem(['type'], 'e-mail needs deliveries.smtp.host in the configuration'));
  return [...found, ...templateFaults(target, context.sample)];
}

function unknownName(
  member: string,
  name: string,
  known: Readonly<Record<string, unknown>>,
): DeliveryProblem[] {
  if (Object.hasOwn(known, name)) return [];
  const names = Object.keys(known);
  const there = names.length === 0 ? ', which is empty' : suggestion(name, names);
  return [
    problem([member], `'${name}' is not in deliveries.${member}s of the configuration${there}`),
  ];
}

/** What needs no configuration: mistakes in templates, with their lines. */
export function templateFaults(target: DeliveryTarget, sample: Message): DeliveryProblem[] {
  switch (target.type) {
    case 'webhook':
      return faultsIn({ template: target.template }, sample, [], true);
    case 'email':
      return faultsIn({ subject: target.subject, text: target.text }, sample);
    case 'index':
      return faultsIn({ message: target.message }, sample);
    case 'dataset':
      return faultsIn(target.row, sample, ['row']);
  }
}

function faultsIn(
  templates: Readonly<Record<string, string | undefined>>,
  sample: Message,
  path: readonly string[] = [],
  isJson = false,
): DeliveryProblem[] {
  const values = valuesOf(sample, { uid: '', number: 1, baseUrl: '' });
  return Object.entries(templates).flatMap(([name, template]) => {
    const fault = template === undefined ? null : faultOfTemplate(template, values, { isJson });
    return fault === null ? [] : [{ path: [...path, name], ...fault }];
  });
}

function problem(path: readonly (string | number)[], text: string): DeliveryProblem {
  return { path, text, line: null };
}
