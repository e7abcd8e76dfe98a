/** Nodes of YAML against a schema: the value without YAML's nodes, or the first mistake and its place. */
import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { TSchema } from '@sinclair/typebox';
import { suggestion } from '../../src/config/nearest-name.ts';

/** `at`: the offset in the text. */
export class Mistake extends Error {
  readonly at: number;

  constructor(node: unknown, message: string) {
    super(message);
    this.at = (node as Node | null)?.range?.[0] ?? 0;
  }
}

/** Of the kinds of schema that a dashboard uses. */
interface Rules {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly pattern?: string;
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

/** Of values that may be anything; what is deeper is no filter. */
const MAX_DEPTH = 20;

/** `path` is how messages call the value: `rows`, `width`; `''` for the whole. Throws Mistake. */
export function checkNode(node: unknown, schema: TSchema, path: string): unknown {
  const rules = schema as Rules;
  requireNoAlias(node);
  if (rules.anyOf !== undefined) return oneOf(node, rules.anyOf, path);
  switch (rules.type) {
    case 'object':
      return isMap(node)
        ? members(node, rules, path)
        : fail(node, path, 'must hold `key: value` pairs');
    case 'array':
      if (!isSeq(node)) return fail(node, path, 'must be a list (lines that begin with -)');
      if (node.items.length > (rules.maxItems ?? Infinity))
        return fail(node, path, `has ${rules.maxItems} entries at most`);
      return node.items.map((item) => checkNode(item, rules.items!, `an entry of ${path}`));
    case 'string':
      return text(node, rules, path);
    case 'number':
    case 'integer':
      return number(node, rules, path);
    case 'boolean': {
      const value = scalarOf(node);
      return typeof value === 'boolean' ? value : fail(node, path, 'must be true or false');
    }
    default:
      return anything(node, 0);
  }
}

function members(map: YAMLMap, rules: Rules, path: string): Record<string, unknown> {
  const { properties = {}, patternProperties, required = [] } = rules;
  const any = patternProperties === undefined ? null : Object.values(patternProperties)[0]!;
  const known = Object.keys(properties);
  const found: [string, unknown][] = [];
  for (const { key, value } of map.items) {
    requireNoAlias(key);
    const plain = scalarOf(key);
    if (plain === undefined || plain === null || typeof plain === 'object')
      return fail(key, path, 'has a name that is no plain text');
    const name = String(plain);
    const schema = any ?? (Object.hasOwn(properties, name) ? properties[name] : undefined);
    if (schema === undefined) {
      const near = suggestion(name, known);
      const right = near === '' ? `; known are ${known.join(', ')}` : near;
      throw new Mistake(key, `unknown member '${name}'${path === '' ? '' : ` in ${path}`}${right}`);
    }
    // An empty member is as good as none.
    if (scalarOf(value) === null && !required.includes(name)) continue;
    found.push([name, checkNode(value ?? key, schema, name)]);
  }
  for (const name of required) {
    if (!found.some(([one]) => one === name))
      throw new Mistake(map, `${path === '' ? 'the dashboard' : path} lacks '${name}'`);
  }
  return Object.fromEntries(found);
}

function oneOf(node: unknown, choices: readonly TSchema[], path: string): unknown {
  const words = choices.map((choice) => (choice as Rules).const);
  if (words.every((word) => typeof word === 'string')) {
    // `off` and the like are texts in YAML 1.2; a number or truth value is none of the words.
    const value = scalarOf(node);
    if (words.includes(value as string)) return value;
    const told = typeof value === 'string' ? `'${value}' is none of ` : 'must be one of ';
    return fail(node, path, `${told}${words.join(', ')}${suggestion(String(value), words)}`);
  }
  let first: Mistake | null = null;
  for (const choice of choices) {
    try {
      return checkNode(node, choice, path);
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      // What was meant is told by the shape.
      const isMeant = isMap(node) === ((choice as Rules).type === 'object');
      if (first === null && isMeant) first = error;
    }
  }
  throw first ?? new Mistake(node, `${path} has a value of the wrong kind`);
}

function text(node: unknown, rules: Rules, path: string): string {
  const value = scalarOf(node);
  // 404 as a title is meant as written.
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'boolean'
        ? sourceOf(node, value)
        : fail(node, path, 'must be a text');
  const { minLength = 0, maxLength = Infinity, pattern } = rules;
  if (text.length < minLength) return fail(node, path, 'is empty');
  if (text.length > maxLength) return fail(node, path, `has ${maxLength} characters at most`);
  if (pattern !== undefined && !new RegExp(pattern).test(text))
    return fail(node, path, `'${text}' is not possible: ${rules.description ?? pattern}`);
  return text;
}

function number(node: unknown, rules: Rules, path: string): number {
  const value = scalarOf(node);
  const { minimum = -Infinity, maximum = Infinity, type } = rules;
  const isRight =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= minimum &&
    value <= maximum &&
    (type !== 'integer' || Number.isInteger(value));
  if (isRight) return value;
  const what = type === 'integer' ? 'a whole number' : 'a number';
  const range =
    maximum < Infinity
      ? ` from ${minimum} to ${maximum}`
      : minimum > -Infinity
        ? ` from ${minimum} on`
        : '';
  return fail(node, path, `must be ${what}${range}`);
}

function anything(node: unknown, depth: number): unknown {
  requireNoAlias(node);
  if (depth > MAX_DEPTH) throw new Mistake(node, 'is nested too deeply');
  if (isSeq(node)) return node.items.map((item) => anything(item, depth + 1));
  if (!isMap(node)) return scalarOf(node) ?? null;
  return Object.fromEntries(
    node.items.map(({ key, value }) => [String(scalarOf(key)), anything(value, depth + 1)]),
  );
}

function requireNoAlias(node: unknown): void {
  if (isAlias(node))
    throw new Mistake(node, `aliases are not read: write out what *${node.source} means`);
}

/** Undefined for what is no scalar; null for nothing. */
function scalarOf(node: unknown): unknown {
  if (node === null || node === undefined) return null;
  return isScalar(node) ? node.value : undefined;
}

function sourceOf(node: unknown, value: unknown): string {
  return (isScalar(node) && node.source) || String(value);
}

function fail(node: unknown, path: string, reason: string): never {
  throw new Mistake(node, `${path === '' ? 'the dashboard' : path} ${reason}`);
}
