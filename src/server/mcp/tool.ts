/**
 * The contract of a tool: what a model reads about it, and the call that goes through the same operations as REST
 * (DS-179 to DS-181).
 */
import type {
  CallToolResult,
  ContentBlock,
  Tool as ToolDescription,
} from '@modelcontextprotocol/sdk/types.js';
import type { Caller, Principal } from '../../auth/principal.ts';
import { AppError, type ValidationIssue } from '../../base/errors.ts';
import type { Origin } from '../../operations/access.ts';
import type { ServerServices } from '../dependencies.ts';
import { checkArguments } from './arguments.ts';
import { jsonPieces, JsonText } from './json-text.ts';
import type { Members } from './message.ts';

/** Who calls, with what; the arguments fit the tool's schema. */
export interface ToolCall {
  readonly services: ServerServices;
  readonly caller: Principal;
  readonly origin: Origin;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly arguments: Members;
}

/** What a call gives. */
export interface ToolResult {
  readonly structured: JsonText;
  /** Blocks, or the JSON array of them; instead of one block with the JSON. */
  readonly content?: readonly ContentBlock[] | JsonText;
  /** Rows in it, for the text of a result that is too large. */
  readonly rows?: number;
  /** Tells what was done, and so is never refused for its size. */
  readonly isReceipt?: boolean;
}

/** A tool. */
export interface Tool {
  readonly description: ToolDescription & { readonly title: string };
  /** Throws AppError with a text for the caller. */
  readonly call: (call: ToolCall) => Promise<ToolResult>;
}

/** Annotations of a tool that only reads. */
export const READER = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

const AUTHENTICATION_REQUIRED =
  'Authentication required: send X-API-Key, Authorization: Bearer, or a session cookie';

/** A caller who need not be signed in, with what the caller sent. */
interface CallRequest extends Omit<ToolCall, 'caller' | 'arguments'> {
  readonly caller: Caller;
  readonly arguments: Members;
  /** Hears of a failure that is a bug. */
  readonly onBug: (error: unknown) => void;
}

/** The result of `tools/call`: what the tool gives, or why it failed. Never throws but for an aborted call. */
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

/** The caller, when somebody is. Throws `not-authenticated` in the words of DS-181. */
export function requireCaller(caller: Caller): Principal {
  if (caller !== null) return caller;
  throw new AppError('not-authenticated', AUTHENTICATION_REQUIRED);
}

/** A block of text. */
export function textBlock(text: string): ContentBlock & { readonly type: 'text' } {
  return { type: 'text', text };
}

/** A result that is written here. */
export function jsonResult(value: unknown, rows?: number): ToolResult {
  const structured = new JsonText(jsonPieces(value));
  return rows === undefined ? { structured } : { structured, rows };
}

/** The text of a failure for a caller; null for a bug, of which nothing is told. */
export function failureText(error: unknown): string | null {
  if (!(error instanceof AppError) || error.code === 'internal') return null;
  return error.issues?.map(issueText).join('; ') ?? error.message;
}

/** Throws `too-large`; a result is never cut (DS-180). */
function requireSize({ structured, rows, isReceipt = false }: ToolResult, maxBytes: number): void {
  if (isReceipt || structured.size <= maxBytes) return;
  throw tooLarge(rows ?? null);
}

/** The refusal of a result; `rows` null for one without. */
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
