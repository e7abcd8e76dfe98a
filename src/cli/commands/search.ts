import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { commands } from '../../language/commands/index.ts';
import { commandHelp } from '../../language/reference.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { foreignCommand } from '../../language/syntax/foreign-words.ts';
import { openApp } from '../../app.ts';
import { BadSearchRequest, readSearchRequest } from '../../operations/events/search-request.ts';
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
  const { root, query } = readPositionals(invocation);
  const { config } = await loadInvocation({
    ...invocation,
    positionals: root === null ? [] : [root],
  });
  return runQuery(config, invocation, query);
}

function readPositionals({ positionals, outside }: Invocation): {
  root: string | null;
  query: string;
} {
  const query = positionals.at(-1);
  const isFolder = positionals.length === 1 && existsSync(`${resolve(outside.cwd, query ?? '')}/.`);
  if (query === undefined || isFolder) {
    const after = isFolder ? ` after ${query}` : '';
    throw new AppError('usage', `a query is needed${after}, such as 'from events | head 5'`);
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

async function runQuery(
  config: Config,
  { options, outside }: Invocation,
  query: string,
): Promise<string> {
  const isCsv = options['csv'] === true;
  const app = await openApp(config, commandLog(config, outside), {
    exclusive: false,
    readsAhead: false,
  });
  try {
    const request = readSearchRequest(
      { query, params: parametersOf(options['param']), timezone: options['timezone'] ?? null },
      isCsv ? 'csv' : 'json',
      config,
    );
    const caller = await callerOf(app.db, options['as']);
    const result = await runSearch(app, caller, { clientAddress: null }, request);
    if (result.kind === 'problem')
      throw new AppError('bad-request', pointedAt(query, result.problem));
    const text = await new Response(result.body).text();
    await result.leave();
    if (isCsv) return text;
    if (options['json'] === true) return `${text}\n`;
    return tableOf(text, (notice) => outside.err(`${notice}\n`));
  } catch (error) {
    if (error instanceof BadSearchRequest)
      throw new AppError('usage', error.message, { cause: error });
    throw error;
  } finally {
    await app.close();
  }
}

function parametersOf(given: unknown): Record<string, string | number> {
  const entries = ((given ?? []) as readonly string[]).map((one): [string, string | number] => {
    const at = one.indexOf('=');
    if (at < 1) throw new AppError('usage', `--param: is <name>=<value>, not '${one}'`);
    const value = one.slice(at + 1);
    return [one.slice(0, at), String(Number(value)) === value ? Number(value) : value];
  });
  return Object.fromEntries(entries);
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
