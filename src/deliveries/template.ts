/**
 * Texts with placeholders: `{{alert.name}}`, nothing else. A name is a member of the message, or `row.<column>`, which
 * only a run knows and which is empty where there is no such column.
 */
import { nearestName } from '../config/nearest-name.ts';
import { jsonErrorOffset } from '../base/json/json-error.ts';
import type { Message } from './message.ts';

export interface TemplateProblem {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** What an attempt adds to its message. */
export interface Attempt {
  readonly uid: string;
  /** From 1. */
  readonly number: number;
  /** Scheme and host of this server, without a trailing slash. */
  readonly baseUrl: string;
}

export type Values = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const ROW = 'row.';

export function valuesOf(message: Message, { uid, number, baseUrl }: Attempt): Values {
  const { title, text, severity, data } = message;
  const links = Object.fromEntries(
    Object.entries(message.links).map(([name, path]) => [name, `${baseUrl}${path}`]),
  );
  return {
    ...data,
    type: message.kind,
    title,
    text,
    severity,
    link: Object.values(links)[0] ?? '',
    links,
    delivery: { id: uid, attempt: number, repeat: number > 1 },
  };
}

/** Strings as they are, nothing for null, JSON of everything else. */
export function filledText(template: string, values: Values): string {
  return template.replace(PLACEHOLDER, (_whole, name: string) => textOf(valueOf(values, name)));
}

/** Inside a string of the template the text, escaped; elsewhere the value as JSON. */
export function filledJson(template: string, values: Values): string {
  return replacedInJson(template, (name, isInString) => {
    const value = valueOf(values, name);
    return isInString
      ? JSON.stringify(textOf(value)).slice(1, -1)
      : (JSON.stringify(value) ?? 'null');
  });
}

/** The value itself where the whole template is one placeholder. */
export function filledValue(template: string, values: Values): unknown {
  const only = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(template);
  return only === null ? filledText(template, values) : (valueOf(values, only[1]!) ?? null);
}

/** Null for a template that can be filled in. `sample` has every name there is. */
export function faultOfTemplate(
  template: string,
  sample: Values,
  { isJson }: { readonly isJson: boolean },
): TemplateProblem | null {
  const names = namesOf(sample);
  for (const match of template.matchAll(PLACEHOLDER)) {
    const name = match[1]!.trim();
    if (names.includes(name) || (name.startsWith(ROW) && name.length > ROW.length)) continue;
    const near = nearestName(name, names);
    const advice =
      near === null
        ? `there are ${names.join(', ')} and row.<column>`
        : `did you mean {{${near}}}?`;
    return problemAt(template, match.index, `there is no placeholder {{${name}}}; ${advice}`);
  }
  const stray = template.replace(PLACEHOLDER, (whole) => ' '.repeat(whole.length)).indexOf('{{');
  if (stray >= 0)
    return problemAt(
      template,
      stray,
      'a placeholder begins with {{ and ends with }}, as {{title}}',
    );
  if (!isJson) return null;
  // Of the same length, so that the place of a mistake is the same.
  const plain = replacedInJson(template, (name, isInString) =>
    (isInString ? 'x' : '0').padEnd(name.length + 4),
  );
  try {
    JSON.parse(plain);
    return null;
  } catch {
    const text =
      'the template is no JSON from here on (a value in quotes is text, one without is JSON)';
    return problemAt(template, jsonErrorOffset(plain), text);
  }
}

function namesOf(sample: Values): string[] {
  return Object.entries(sample).flatMap(([name, value]) => {
    if (name === 'row') return [];
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((member) => `${name}.${member}`)
      : [name];
  });
}

function problemAt(template: string, at: number, text: string): TemplateProblem {
  return { text, line: template.slice(0, at).split('\n').length };
}

function valueOf(values: Values, given: string): unknown {
  const name = given.trim();
  const dot = name.indexOf('.');
  const value = own(values, dot < 0 ? name : name.slice(0, dot));
  if (dot < 0) return value;
  return typeof value === 'object' && value !== null
    ? own(value as Values, name.slice(dot + 1))
    : undefined;
}

function own(values: Values, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function replacedInJson(
  template: string,
  replace: (name: string, isInString: boolean) => string,
): string {
  let isInString = false;
  // A placeholder, an escaped character, or a quote.
  return template.replace(/\{\{([^{}]*)\}\}|\\[^]|"/g, (whole, name: string | undefined) => {
    if (name !== undefined) return replace(name, isInString);
    if (whole === '"') isInString = !isInString;
    return whole;
  });
}
