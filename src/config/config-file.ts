/**
 * YAML 1.2, core schema, one document. Only known keys are followed, to the depth of the table, and aliases are
 * resolved one by one up to MAX_ALIASES, so the cost is bounded by the file's size.
 */
import { open } from 'node:fs/promises';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, Pair, YAMLMap } from 'yaml';
import { errnoOf } from '../base/errors.ts';
import { suggestion } from './nearest-name.ts';
import { objectionsTo } from './setting.ts';
import { settingAt, settingKeys } from './settings.ts';
import type { SettingKey } from './settings.ts';
import type { RawValue } from './setting.ts';

/** A thousand times a file with every setting. */
const MAX_CONFIG_BYTES = 2 ** 20;
/** Resolving an alias scans the file once. */
const MAX_ALIASES = 100;
/** A list of maps of maps; an alias may point at a node around it. */
const MAX_VALUE_DEPTH = 3;
/** One broken bracket can yield thousands of follow-up errors. */
const MAX_SYNTAX_FINDINGS = 10;

interface FileValue {
  readonly value: unknown;
  readonly line: number;
}

/** `<file>:<line>: <message>` */
interface FileSettings {
  readonly values: ReadonlyMap<SettingKey, FileValue>;
  readonly findings: readonly string[];
}

/** The text, null when there is no file, or why it cannot be read. */
export async function readConfigFile(
  path: string,
): Promise<{ text: string } | { problem: string } | null> {
  let handle;
  try {
    handle = await open(path, 'r');
    const buffer = Buffer.alloc(MAX_CONFIG_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    if (length > MAX_CONFIG_BYTES) return { problem: 'is larger than 1 MiB' };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    if (errno === 'EISDIR') return { problem: 'is a folder, not a file' };
    if (errno === 'EACCES') {
      return { problem: 'cannot be read by this user; run as the one the server runs as' };
    }
    if (errno !== undefined) return { problem: `cannot be read (${errno})` };
    if (error instanceof TypeError) return { problem: 'is not UTF-8 text' };
    throw error;
  } finally {
    await handle?.close();
  }
}

export function parseConfig(text: string, name: string): FileSettings {
  const lines = new LineCounter();
  let document: Document;
  try {
    document = parseDocument(text, {
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
      lineCounter: lines,
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { values: new Map(), findings: [`${name}:1: is nested too deeply`] };
  }
  const reading = new Reading(document, lines, name);
  reading.syntax();
  if (reading.findings.length === 0) reading.root();
  return reading;
}

class Reading implements FileSettings {
  readonly values = new Map<SettingKey, FileValue>();
  readonly findings: string[] = [];
  private aliases = 0;

  constructor(
    private readonly document: Document,
    private readonly lines: LineCounter,
    private readonly name: string,
  ) {}

  syntax(): void {
    const all = [...this.document.errors, ...this.document.warnings];
    for (const error of all.slice(0, MAX_SYNTAX_FINDINGS)) {
      const message =
        error.code === 'MULTIPLE_DOCS' ? 'holds more than one document' : error.message;
      this.report(this.lines.linePos(error.pos[0]).line, message);
    }
    if (all.length > MAX_SYNTAX_FINDINGS) {
      const last = this.lines.linePos(all[MAX_SYNTAX_FINDINGS]!.pos[0]).line;
      this.report(last, `${all.length - MAX_SYNTAX_FINDINGS} more syntax errors from here on`);
    }
  }

  root(): void {
    const { contents } = this.document;
    if (contents === null || (isScalar(contents) && contents.value === null)) return;
    if (isMap(contents)) this.section(contents, '');
    else this.report(this.lineOf(contents, 1), 'must hold `key: value` pairs');
  }

  private section(map: YAMLMap, prefix: string): void {
    const firstLines = new Map<string, number>();
    for (const pair of map.items) {
      const line = this.lineOf(pair.key as Node | null, 1);
      const name = this.keyOf(pair);
      if (name === null) {
        this.report(line, 'keys must be plain names');
        continue;
      }
      const key = prefix + name;
      const first = firstLines.get(name);
      if (first === undefined) firstLines.set(name, line);
      if (first !== undefined) this.report(line, `duplicate key '${key}', first on line ${first}`);
      else this.entry(key, name, pair.value as Node | null, line);
    }
  }

  private entry(key: string, name: string, node: Node | null, line: number): void {
    if (name.includes('.'))
      return this.report(line, `unknown key '${key}'; nest it instead of using dots`);
    const setting = settingKeys.find((known) => known === key);
    if (setting !== undefined) return this.setting(setting, node, line);
    if (!settingKeys.some((known) => known.startsWith(`${key}.`))) {
      return this.report(line, `unknown key '${key}'${meant(key, name)}`);
    }
    const value = this.resolved(node);
    if (isMap(value)) this.section(value, `${key}.`);
    else if (!isEmpty(value)) this.report(line, `${key} must hold nested keys`);
  }

  private setting(key: SettingKey, node: Node | null, line: number): void {
    const setting = settingAt(key);
    if (setting.environmentOnly !== undefined)
      return this.report(line, `${key} ${setting.environmentOnly}`);
    const value = this.resolved(node);
    const parsed = setting.parseRaw(this.plain(value, key));
    if (parsed.ok) {
      this.values.set(key, { value: parsed.value, line });
      return;
    }
    for (const { problem, index } of objectionsTo(parsed)) {
      const item = index === undefined ? null : itemAt(value, index);
      this.report(this.lineOf(item, line), `${key} ${problem}`);
    }
  }

  /** Without YAML's nodes; undefined below the depth of any setting. */
  private plain(node: Node | null, key: string, depth = MAX_VALUE_DEPTH): RawValue {
    const value = this.resolved(node);
    if (isEmpty(value)) return null;
    if (isScalar(value)) {
      return typeof value.value === 'object' ? undefined : (value.value as RawValue);
    }
    if (depth === 0) return undefined;
    if (isSeq(value)) {
      return value.items.map((item) => this.plain(item as Node | null, key, depth - 1));
    }
    if (!isMap(value)) return undefined;
    const entries = new Map<string, RawValue>();
    for (const pair of value.items) {
      const name = this.keyOf(pair);
      const line = this.lineOf(pair.key as Node | null, 1);
      if (name === null) this.report(line, 'keys must be plain names');
      else if (entries.has(name)) this.report(line, `duplicate key '${key}.${name}'`);
      else entries.set(name, this.plain(pair.value as Node | null, `${key}.${name}`, depth - 1));
    }
    return entries;
  }

  private resolved(node: Node | null): Node | null {
    if (!isAlias(node)) return node;
    this.aliases += 1;
    if (this.aliases === MAX_ALIASES + 1) {
      this.report(this.lineOf(node, 1), `uses more than ${MAX_ALIASES} aliases`);
    }
    if (this.aliases > MAX_ALIASES) return null;
    const target = node.resolve(this.document);
    if (target === undefined)
      this.report(this.lineOf(node, 1), `alias '*${node.source}' has no anchor`);
    return target ?? null;
  }

  private keyOf(pair: Pair): string | null {
    return isScalar(pair.key) && typeof pair.key.value === 'string' ? pair.key.value : null;
  }

  private lineOf(node: Node | null, otherwise: number): number {
    return node?.range ? this.lines.linePos(node.range[0]).line : otherwise;
  }

  private report(line: number, message: string): void {
    this.findings.push(`${this.name}:${line}: ${message}`);
  }
}

function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function itemAt(node: Node | null, index: number): Node | null {
  if (isSeq(node)) return (node.items[index] as Node | null) ?? null;
  if (isMap(node)) return (node.items[index]?.key as Node | null) ?? null;
  return null;
}

/** A right key in the wrong section is found by its last name. */
function meant(key: string, name: string): string {
  const misplaced = settingKeys.find((known) => known.endsWith(`.${name}`));
  if (misplaced !== undefined) return `; did you mean '${misplaced}'?`;
  const sections = settingKeys.flatMap((known) => {
    const names = known.split('.').slice(0, -1);
    return names.map((_, index) => names.slice(0, index + 1).join('.'));
  });
  return suggestion(key, [...settingKeys, ...new Set(sections)]);
}
