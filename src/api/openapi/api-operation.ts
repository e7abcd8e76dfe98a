import type { JsonObject } from './models.ts';
import {
  choicesOf,
  type Components,
  exampleOf,
  isObject,
  resolved,
  type SchemaLine,
  schemaLines,
  textOf,
  typeText,
} from './schema-text.ts';

export interface OperationField {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly description: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Null: any text may be typed. */
  readonly choices: readonly string[] | null;
  readonly preset: string;
}

export interface OperationBody {
  readonly mediaType: string;
  /** `text` is typed, `file` is chosen, `form` has fields. */
  readonly entry: 'text' | 'file' | 'form';
  /** A valid body; `''` when nothing is known. */
  readonly example: string;
  readonly lines: readonly SchemaLine[];
  /** Members of a `form`; those in `files` are file inputs. */
  readonly fields: readonly string[];
  readonly files: readonly string[];
}

export interface OperationAnswer {
  readonly status: string;
  readonly description: string;
  readonly mediaTypes: readonly string[];
  readonly lines: readonly SchemaLine[];
}

export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly fields: readonly OperationField[];
  /** The preferred one first. */
  readonly bodies: readonly OperationBody[];
  readonly answers: readonly OperationAnswer[];
}

interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

export function operationOf(named: NamedOperation, components: Components): ApiOperation {
  const { method, path, operation } = named;
  const { summary, parameters, requestBody, responses } = operation;
  return {
    method,
    path,
    summary: textOf(summary) || `${method} ${path}`,
    fields: (Array.isArray(parameters) ? parameters : []).flatMap((one) =>
      fieldOf(resolved(one, components), components),
    ),
    bodies: contentsOf(resolved(requestBody, components)).map(([mediaType, content]) =>
      bodyOf(mediaType, content['schema'], components),
    ),
    answers: Object.entries(isObject(responses) ? responses : {}).map(([status, answer]) =>
      answerOf(status, resolved(answer, components), components),
    ),
  };
}

const PLACES: readonly unknown[] = ['path', 'query', 'header'];

/** Null for a parameter that no page can send, such as a cookie. */
function fieldOf(parameter: JsonObject, components: Components): OperationField[] {
  const { name, in: place, description, required } = parameter;
  if (typeof name !== 'string' || !PLACES.includes(place)) return [];
  const schema = resolved(parameter['schema'], components);
  const choices = schema['type'] === 'boolean' ? [true, false] : choicesOf(schema);
  return [
    {
      name,
      place: place as OperationField['place'],
      description: textOf(description),
      type: typeText(parameter['schema'], components),
      isRequired: required === true || place === 'path',
      choices: choices?.map(String) ?? null,
      preset: schema['default'] === undefined ? '' : String(schema['default']),
    },
  ];
}

function bodyOf(mediaType: string, schema: unknown, components: Components): OperationBody {
  const lines = schemaLines(schema, components);
  const members = lines.filter(({ depth }) => depth === 0);
  const { properties } = resolved(schema, components);
  const files = members
    .map(({ name }) => name)
    .filter((name) => {
      const member = isObject(properties) ? resolved(properties[name], components) : {};
      return member['format'] === 'binary';
    });
  const entry = entryOf(mediaType, members.length);
  return {
    mediaType,
    entry,
    example: entry === 'text' && schema !== undefined ? exampleText(schema, components) : '',
    lines,
    fields: members.map(({ name }) => name).filter((name) => !files.includes(name)),
    files,
  };
}

function entryOf(mediaType: string, members: number): OperationBody['entry'] {
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)$/.test(mediaType);
  if (isForm && members > 0) return 'form';
  return /json|^text\/|urlencoded|xml/.test(mediaType) ? 'text' : 'file';
}

function exampleText(schema: unknown, components: Components): string {
  return JSON.stringify(exampleOf(schema, components), null, 2);
}

function answerOf(status: string, answer: JsonObject, components: Components): OperationAnswer {
  const contents = contentsOf(answer);
  const described = contents.find(([, content]) => content['schema'] !== undefined);
  return {
    status,
    description: textOf(answer['description']),
    mediaTypes: contents.map(([mediaType]) => mediaType),
    lines: schemaLines(described?.[1]['schema'], components),
  };
}

function contentsOf({ content }: JsonObject): [string, JsonObject][] {
  if (!isObject(content)) return [];
  return Object.entries(content).map(([type, one]) => [type, isObject(one) ? one : {}]);
}
