import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { commands } from '../../language/commands/index.ts';
import { commandHelp } from '../../language/reference.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { foreignCommand } from '../../language/syntax/foreign-words.ts';
import { openApp } from '../../app.ts';
import { type Format, FORMATS } from '../../tables/read/format.ts';
import {
  BadSearchRequest,
  readSearchRequest,
  readSqlRequest,
  type SearchRequest,
} from '../../operations/events/search-request.ts';
import { runSearch } from '../../operations/events/searches.ts';
import { findUser } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../store/database.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';
import { textTable } from '../printer.ts';

const EXAMPLE = `The ten hosts with most failures of the last day:
  svc search 'earliest=-24h status>=500 | top limit=10 host'`;

export async function search(invocation: Invocation): Promise<string> {
  const { help } = invocation.options;
  if (help === true) return overview(invocation.usage());
  if (help !== undefined) return referenceOf(String(help));
  const { options } = invocation;
  const format = options['csv'] === true ? 'csv' : options['json'] === true ? 'json' : null;
  return runQuery(invocation, 'a query', `'from events | head 5'`, {
    format,
    request: (query, params, config) =>
      readSearchRequest(
        { query, params, timezone: options['timezone'] ?? null },
        format ?? 'json',
        config,
      ),
  });
}

/** `svc sql`: a statement over datasets. */
export async function sql(invocation: Invocation): Promise<string> {
  const { format: asked, output } = invocation.options;
  const named = FORMATS.find((one) => one === asked) ?? null;
  if (asked !== undefined && named === null)
    throw new AppError(
      'usage',
      `--format: is one of ${FORMATS.join(', ')}, not '${String(asked)}'`,
    );
  const isFile = named === 'xlsx' || named === 'parquet';
  if (isFile && output === undefined)
    throw new AppError('usage', `--format ${named} needs --output <file>`);
  const queries = pairsOf('with', invocation.options['with']);
  return runQuery(invocation, 'a statement', `'select 1'`, {
    format: named ?? (output === undefined ? null : 'json'),
    request: (statement, params, config) =>
      readSqlRequest(
        { sql: statement, params, with: Object.fromEntries(queries) },
        named ?? 'json',
        config,
      ),
  });
}

function readPositionals(
  { positionals, outside }: Invocation,
  what: string,
  example: string,
): {
  root: string | null;
  query: string;
} {
  const query = positionals.at(-1);
  const isFolder = positionals.length === 1 && existsSync(`${resolve(outside.cwd, query ?? '')}/.`);
  if (query === undefined || isFolder) {
    const after = isFolder ? ` after ${query}` : '';
    throw new AppError('usage', `${what} is needed${after}, such as ${example}`);
  }
  return { root: positionals.length > 1 ? positionals[0]! : null, query };
}

/** Usage, the language's commands, and a first query. */
function overview(usage: string): string {
  const table = textTable(
    ['command', 'what it does'],
    commands.map(({ name, summary }) => [name, summary]),
  );
  return `${usage}\n${EXAMPLE}\n\n${table}\nsvc search --help <command> tells more of one.\n`;
}

function referenceOf(name: string): string {
  const command = commands.find((one) => one.name === name);
  if (command) return `${commandHelp(command).join('\n')}\n`;
  const names = commands.map((one) => one.name);
  const nearest = nearestName(name, names) ?? foreignCommand(name);
  const meant = nearest === null ? '' : `; did you mean '${nearest}'?`;
  throw new AppError('usage', `'${name}' is no command of the search language${meant}`);
}

interface Asked {
  /** Null: a table for people. */
  readonly format: Format | null;
  readonly request: (query: string, params: Parameters, config: Config) => SearchRequest;
}

async function runQuery(
  invocation: Invocation,
  what: string,
  example: string,
  { format, request: requestOf }: Asked,
): Promise<string> {
  const { options, outside } = invocation;
  const { root, query } = readPositionals(invocation, what, example);
  const { config } = await loadInvocation({
    ...invocation,
    positionals: root === null ? [] : [root],
  });
  const app = await openApp(config, commandLog(config, outside), {
    exclusive: false,
    readsAhead: false,
  });
  try {
    const request = requestOf(query, parametersOf(options['param']), config);
    const caller = await callerOf(app.db, options['as']);
    const result = await runSearch(app, caller, { clientAddress: null }, request);
    if (result.kind === 'problem')
      throw new AppError('bad-request', pointedAt(query, result.problem));
    const answer = new Response(result.body);
    if (typeof options['output'] === 'string') {
      const file = resolve(outside.cwd, options['output']);
      const bytes = await Bun.write(file, answer).finally(() => result.leave());
      return `${file}: ${bytes} bytes\n`;
    }
    const text = await answer.text();
    await result.leave();
    if (format !== null) return format === 'json' ? `${text}\n` : text;
    return tableOf(text, (notice) => outside.err(`${notice}\n`));
  } catch (error) {
    if (error instanceof BadSearchRequest)
      throw new AppError('usage', error.message, { cause: error });
    throw error;
  } finally {
    await app.close();
  }
}

type Parameters = Readonly<Record<string, string | number>>;

function parametersOf(given: unknown): Parameters {
  const entries = pairsOf('param', given).map(([name, value]): [string, string | number] => [
    name,
    String(Number(value)) === value ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function pairsOf(option: string, given: unknown): [name: string, value: string][] {
  return ((given ?? []) as readonly string[]).map((one) => {
    const at = one.indexOf('=');
    if (at < 1) throw new AppError('usage', `--${option}: is <name>=<value>, not '${one}'`);
    return [one.slice(0, at), one.slice(at + 1)];
  });
}

async function callerOf(db: Database, name: unknown): Promise<Principal> {
  const common = { credential: 'basic', sessionId: null, apiKeyId: null, scopes: null } as const;
  if (typeof name !== 'string') {
    // The operator has no account, so no saved searches.
    return { userId: -1, username: 'operator', isSuperuser: true, ...common };
  }
  const user = await findUser(db, name);
  if (!user) throw new AppError('usage', `--as: there is no user '${name}'`);
  return { userId: user.id, username: user.username, isSuperuser: user.isSuperuser, ...common };
}

/** Marks the position of the error below the query. */
function pointedAt(
  query: string,
  { error, offset, length }: { error: string; offset: number; length: number },
): string {
  const shown = [...query].map((character) => (/\s/.test(character) ? ' ' : character)).join('');
  const before = [...shown].slice(0, offset).join('');
  return `${error}\n  ${shown}\n  ${' '.repeat(Bun.stringWidth(before))}${'^'.repeat(length)}`;
}

function tableOf(text: string, say: (notice: string) => void): string {
  const { rows, meta } = JSON.parse(text) as {
    rows: Record<string, unknown>[];
    meta: { count: number; elapsed_ms: number; notices: string[]; columns: { name: string }[] };
  };
  for (const notice of meta.notices) say(notice);
  const names = meta.columns.map(({ name }) => name);
  const cell = (value: unknown): string =>
    value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const table =
    names.length === 0
      ? ''
      : textTable(
          names,
          rows.map((row) => names.map((name) => cell(row[name]))),
        );
  return `${table}${meta.count} row(s), ${meta.elapsed_ms} ms\n`;
}
