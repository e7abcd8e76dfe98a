import type {
  CallToolResult,
  ContentBlock,
  Tool as ToolDescription,
} from '@modelcontextprotocol/server';
import type { Caller, Principal } from '../accounts/rights/principal.ts';
import { AppError, type ValidationIssue } from '../base/errors.ts';
import type { Origin } from '../operations/access.ts';
import { jsonPieces, JsonText } from './json-text.ts';
import { type Members, isObject } from './message.ts';
import type { ServerServices } from '../http/context.ts';
import { JsonNumber } from '../base/json/json.ts';

/** The arguments are already checked against the tool's schema. */
export interface ToolCall {
  readonly services: ServerServices;
  readonly caller: Principal;
  readonly origin: Origin;
  readonly signal: AbortSignal;
  readonly arguments: Members;
}

export interface ToolResult {
  readonly structured: JsonText;
  /** Blocks, or the JSON array of them, in place of one block with the JSON. */
  readonly content?: readonly ContentBlock[] | JsonText;
  /** Rows in it, for the message when the result is too large. */
  readonly rows?: number;
  /** Confirms a change, so it is never refused for its size. */
  readonly isReceipt?: boolean;
}

export interface Tool {
  readonly description: ToolDescription & { readonly title: string };
  /** Throws AppError with a message for the caller. */
  readonly call: (call: ToolCall) => Promise<ToolResult>;
}

/** Of one kind; an agent chooses badly among more. */
export const MAX_TOOLS = 100;

export const READER = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

const AUTHENTICATION_REQUIRED =
  'Authentication required: send X-API-Key, Authorization: Bearer, or a session cookie';

/** The caller may be anonymous and the arguments unchecked. */
interface CallRequest extends Omit<ToolCall, 'caller' | 'arguments'> {
  readonly caller: Caller;
  readonly arguments: Members;
  readonly onBug: (error: unknown) => void;
}

/** Never throws except for an aborted call: a failure is a result with its message. */
export async function callTool(
  tool: Tool,
  { caller, onBug, ...request }: CallRequest,
): Promise<CallToolResult | { readonly content: unknown; readonly structuredContent: JsonText }> {
  const { name, inputSchema } = tool.description;
  try {
    const principal = requireCaller(caller);
    checkArguments(inputSchema, request.arguments);
    const result = await tool.call({ ...request, caller: principal });
    requireSize(result, request.services.config.limits.mcp_result_bytes);
    const { structured, content = [textBlock(structured.text)] } = result;
    return { content, structuredContent: structured };
  } catch (error) {
    if (request.signal.aborted) throw error;
    const reason = failureText(error);
    if (reason === null) onBug(error);
    const text = `Error executing tool ${name}${reason === null ? '' : `: ${reason}`}`;
    return { content: [textBlock(text)], isError: true };
  }
}

/** Throws `not-authenticated`. */
export function requireCaller(caller: Caller): Principal {
  if (caller !== null) return caller;
  throw new AppError('not-authenticated', AUTHENTICATION_REQUIRED);
}

export function textBlock(text: string): ContentBlock & { readonly type: 'text' } {
  return { type: 'text', text };
}

export function jsonResult(value: unknown, rows?: number): ToolResult {
  const structured = new JsonText(jsonPieces(value));
  return rows === undefined ? { structured } : { structured, rows };
}

/** Null for a bug, whose message stays in the log. */
export function failureText(error: unknown): string | null {
  if (!(error instanceof AppError) || error.code === 'internal') return null;
  return error.issues?.map(issueText).join('; ') ?? error.message;
}

/** Throws `too-large`; a result is never cut. */
function requireSize({ structured, rows, isReceipt = false }: ToolResult, maxBytes: number): void {
  if (isReceipt || structured.size <= maxBytes) return;
  throw tooLarge(rows ?? null);
}

/** `rows` null: a result without rows. */
export function tooLarge(rows: number | null): AppError {
  const text =
    rows === null
      ? 'Result too large: ask for less'
      : `Result too large: ${rows} rows; use limit, offset or filter`;
  return new AppError('too-large', text);
}

function issueText({ loc, msg }: ValidationIssue): string {
  return `Argument '${loc.slice(1).join('.')}': ${msg}`;
}

interface ArgumentSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
}

const NAMES: Readonly<Record<string, string>> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  object: 'an object',
  array: 'an array',
  boolean: 'a boolean',
  null: 'null',
};

/**
 * Knows the part of JSON Schema that the tools use; ranges and columns are checked by the operation, whose messages are then
 * those of HTTP. Throws `invalid-request` naming the first argument that is unknown, missing or of a wrong type.
 */
function checkArguments(
  schema: { readonly properties?: object; readonly required?: readonly string[] },
  given: Members,
): void {
  const known = new Map(Object.entries(schema.properties ?? {}) as [string, ArgumentSchema][]);
  for (const name of Object.keys(given)) {
    if (known.has(name)) continue;
    const names = [...known.keys()].join(', ') || 'none';
    throw wrong(`Unknown argument '${name.slice(0, 100)}'; known are: ${names}`);
  }
  for (const [name, expected] of known) {
    const value = given[name];
    if (value !== undefined) checkValue(name, value, expected);
    else if (schema.required?.includes(name)) throw wrong(`Missing argument '${name}'`);
  }
}

function checkValue(name: string, value: unknown, schema: ArgumentSchema): void {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    const expected = types.map((type) => NAMES[type] ?? type).join(' or ');
    throw wrong(`Argument '${name}' must be ${expected}`);
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    throw wrong(`Argument '${name}' must be one of ${schema.enum.join(', ')}`);
  }
  const { maxLength } = schema;
  if (maxLength !== undefined && typeof value === 'string' && value.length > maxLength) {
    throw wrong(`Argument '${name}' must have at most ${maxLength} characters`);
  }
  if (hasProto(value)) throw wrong(`Argument '${name}' must not have a member '__proto__'`);
}

/** At any depth; bodies are bounded in depth and in values. */
function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'number':
      return ['number', 'bigint'].includes(typeof value) || value instanceof JsonNumber;
    case 'integer':
      return (
        Number.isInteger(value instanceof JsonNumber ? value.value : value) ||
        typeof value === 'bigint'
      );
    default:
      return typeof value === type;
  }
}

function wrong(text: string): AppError {
  return new AppError('invalid-request', text);
}
