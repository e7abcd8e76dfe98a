/**
 * One line per call, JSON or text, RFC 3339 UTC milliseconds.
 *
 * Control characters are escaped, so no value can start a new line or steer a terminal. Fields named like credentials
 * are written as `***` at any depth, as a second line of defence.
 */
import { timestamp } from './clock.ts';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
export type LogFormat = 'json' | 'text';
export type LogFields = Record<string, unknown>;

export interface Log {
  /** Calls below it cost one comparison; may be changed while running. */
  level: LogLevel;
  format: LogFormat;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Gets each line with its line feed. Failures are ignored: logging never fails a request. */
  readonly write: (line: string) => void;
  /** Epoch milliseconds; default: the machine's clock. */
  readonly now?: () => number;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warning: 2, error: 3 };
const RESERVED: ReadonlySet<string> = new Set(['time', 'level', 'message']);
const SECRET_NAME =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-csrf-token|password|new_password|secret|token)$/i;
// What JSON leaves alone but a terminal or a line reader acts on: DEL, C1 and the Unicode line ends.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029]/g;
// Printable ASCII but for the quote and the backslash.
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const BARE_VALUE = /^[\w./:@+-]+$/;

/** A log that writes through `write`. */
export function createLog(options: LogOptions): Log {
  const now = options.now ?? Date.now;
  const log: Log = {
    level: options.level,
    format: options.format,
    debug: (message, fields) => emit('debug', message, fields),
    info: (message, fields) => emit('info', message, fields),
    warning: (message, fields) => emit('warning', message, fields),
    error: (message, fields) => emit('error', message, fields),
  };
  function emit(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (RANK[level] < RANK[log.level]) return;
    const time = timestamp(now());
    const line = (log.format === 'json' ? jsonLine : textLine)(time, level, message, fields);
    try {
      options.write(line);
    } catch {
      // A closed or full stderr must not fail the request that wanted to log.
    }
  }
  return log;
}

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  let line = `{"time":"${time}","level":"${level}","message":${plainJson(message) ?? toJson(message)}`;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    const { lead, isSecret } = memberOf(name);
    const isHidden = isSecret && value !== null;
    line += lead + ((isHidden ? null : plainJson(value)) ?? toJson(redact(name, value)));
  }
  return `${line}}\n`;
}

interface Member {
  readonly lead: string;
  readonly isSecret: boolean;
}

/** Field names are in the code, a few dozen; this only bounds a mistake. */
const MAX_MEMBERS = 256;
const members = new Map<string, Member>();

function memberOf(name: string): Member {
  const known = members.get(name);
  if (known !== undefined) return known;
  const shownName = RESERVED.has(name) ? `field_${name}` : name;
  const lead = `,${plainJson(shownName) ?? toJson(shownName)}:`;
  const member = { lead, isSecret: SECRET_NAME.test(name) };
  if (members.size < MAX_MEMBERS) members.set(name, member);
  return member;
}

function textLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  let line = `${time} ${level.toUpperCase().padEnd(7)} ${escapeControls(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const shown = redact(name, value);
    const bare = typeof shown === 'string' && BARE_VALUE.test(shown);
    line += ` ${escapeControls(name)}=${bare ? shown : toJson(shown)}`;
  }
  return `${line}\n`;
}

function escapeControls(text: string): string {
  return toJson(text).slice(1, -1).replaceAll('\\"', '"');
}

/** For values without escapes: twenty times as fast. Null for others. */
function plainJson(value: unknown): string | null {
  if (typeof value === 'string') return PLAIN_TEXT.test(value) ? `"${value}"` : null;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  return value === null ? 'null' : null;
}

function toJson(value: unknown): string {
  let json: string;
  try {
    json = JSON.stringify(value, redact) ?? 'null';
  } catch (error) {
    // A cycle or a throwing getter: the rest of the line still matters.
    json = JSON.stringify(`[not loggable: ${error instanceof Error ? error.message : 'unknown'}]`);
  }
  return json.replace(
    UNSAFE_IN_JSON,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function redact(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name) && value !== null && value !== undefined) return '***';
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return describeError(value);
  return value;
}

function describeError(error: Error): LogFields {
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}
