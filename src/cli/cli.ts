/**
 * The command line: commands, flags, help, errors.
 *
 * Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. `svc <dir>` and bare `svc` mean
 * `serve`.
 */
import { Command as Parser, CommanderError } from 'commander';
import type { OutputConfiguration } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError, errnoOf } from '../base/errors.ts';
import { suggestion } from '../config/nearest-name.ts';
import type { Command, Outside } from './command.ts';
import { commands, versionLine } from './commands/index.ts';

const SUCCESS = 0;
const FAILURE = 1;
const USAGE = 2;
const HELP_WIDTH = 100;
const DEFAULT_COMMAND = 'serve';
const HELP_END = `
svc <folder> is short for \`svc serve <folder>\`.
A running server has the guide at /docs/guide: a tour, permissions, log shippers, backup, every setting.`;
/** SQLite's messages for a foreign or damaged file. */
const DAMAGE = /^(?:database disk image is malformed|file is not a database)$/;
/** Causes outside the program: permissions, disk, process limits. */
const REFUSALS: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOTDIR',
]);
const GLOBAL_FLAGS: ReadonlySet<string> = new Set(['--help', '-h', '--version']);

/** `argv` without the program's name. Resolves with the exit code; never rejects. */
export async function main(argv: readonly string[], outside: Outside): Promise<number> {
  try {
    const invoked = parse(withCommand(argv, outside.cwd), outside);
    return invoked === null ? SUCCESS : await invoked();
  } catch (error) {
    return report(error, outside);
  }
}

/** Inserts `serve` where the command is omitted. */
function withCommand(argv: readonly string[], cwd: string): readonly string[] {
  const [first] = argv;
  if (first === undefined) return [DEFAULT_COMMAND];
  if (GLOBAL_FLAGS.has(first)) return argv;
  if (first === 'help') requireTopic(argv.slice(1));
  if (first === 'help' || commands.some(({ name }) => name === first)) return argv;
  const isServe = first === '' || first.startsWith('-') || isDirectory(resolve(cwd, first));
  if (isServe) return [DEFAULT_COMMAND, ...argv];
  throw new AppError(
    'usage',
    `${first}: neither a command nor a directory${commandMeant(first, commands)}`,
  );
}

/** Throws `usage` for help about an unknown command, which commander answers with other help. */
function requireTopic(words: readonly string[]): void {
  let level = commands;
  let group = 'svc';
  for (const word of words) {
    if (word.startsWith('-') || level.length === 0) return;
    const found = level.find(({ name }) => name === word);
    if (found === undefined) {
      throw new AppError('usage', `${word}: no command of ${group}${commandMeant(word, level)}`);
    }
    level = found.commands ?? [];
    group += ` ${word}`;
  }
}

/** The command with a similar name on this level, else one of exactly that name a level below. */
function commandMeant(word: string, level: readonly Command[]): string {
  const shown = level.filter(({ hidden }) => hidden !== true);
  const group = shown.find((one) => one.commands?.some(({ name }) => name === word));
  if (group !== undefined) return `; did you mean '${group.name} ${word}'?`;
  return suggestion(
    word,
    shown.map(({ name }) => name),
  );
}

/** Null when only help or the version was asked for. */
function parse(argv: readonly string[], outside: Outside): (() => Promise<number>) | null {
  let invoked: (() => Promise<number>) | null = null;
  const onInvoke: OnInvoke = (command, parser) => {
    invoked = () => runToItsEnd(command, parser, outside);
  };
  const program = commandLine(onInvoke, {
    writeOut: outside.out,
    writeErr: outside.err,
    // Reported below in our own form.
    outputError: () => undefined,
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === SUCCESS) return null;
    throw new AppError('usage', usageMessage(error, chosen(program, argv)));
  }
  return invoked;
}

async function runToItsEnd(command: Command, parser: Parser, outside: Outside): Promise<number> {
  const last: (() => void)[] = [];
  try {
    return await command.run({
      positionals: parser.args,
      options: parser.opts(),
      outside,
      atEnd: (work) => void last.push(work),
      usage: () => parser.helpInformation(),
    });
  } finally {
    for (const work of last) work();
  }
}

type OnInvoke = (command: Command, parser: Parser) => void;

/** Used to parse a command line and to describe all commands. */
export function commandLine(onInvoke: OnInvoke, output: OutputConfiguration): Parser {
  const program = new Parser('svc')
    .description('Publishes a folder as authenticated APIs and pages.')
    .usage('[command] [root] [flags]')
    .version(versionLine, '--version', 'Print the version.')
    .helpOption('-h, --help', 'Show this help.')
    .helpCommand('help [command]', 'Show the help of a command.')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .addHelpText('after', HELP_END)
    .configureOutput(output)
    .exitOverride();
  for (const command of commands) register(program, command, onInvoke);
  return program;
}

function register(parent: Parser, command: Command, onInvoke: OnInvoke): void {
  const parser = parent.command(command.name, { hidden: command.hidden === true });
  parser
    .helpOption('-h, --help', 'Show this help.')
    .description(command.summary)
    .allowExcessArguments(false);
  command.describe(parser);
  for (const below of command.commands ?? []) register(parser, below, onInvoke);
  if (command.commands !== undefined) return;
  parser.action(() => onInvoke(command, parser));
}

/** Commander's message, as `--x: <message>` where it concerns a flag. */
function usageMessage({ code, message }: CommanderError, parser: Parser): string {
  const text = message.replace(/^error: /, '');
  const group = `svc ${parser.name()}`;
  if (code === 'commander.help') return `${group}: a command is missing; see the help above`;
  const command = /^unknown command '([^']*)'/.exec(text)?.[1];
  if (command !== undefined) {
    const names = parser.commands.map((below) => below.name());
    return `${command}: no command of ${group}${suggestion(command, names)}`;
  }
  // What follows `=` may be a password.
  const unknown = /^unknown option '([^'=]*)/.exec(text)?.[1];
  const takesRoot = parser.registeredArguments.some((argument) => argument.name() === 'root');
  if (unknown === '--root' && takesRoot)
    return `--root: unknown flag; the folder is named without one: ${fullName(parser)} <folder>`;
  if (unknown !== undefined)
    return `${unknown}: unknown flag${suggestion(unknown, flagsOf(parser))}`;
  const [, flag, problem] = /option '(--[\w-]+)[^']*' (.*)$/.exec(text) ?? [];
  if (flag === undefined) return text;
  return `${flag}: ${problem === 'not specified' ? 'is required' : problem}`;
}

function fullName(parser: Parser): string {
  return parser.parent === null ? parser.name() : `${fullName(parser.parent)} ${parser.name()}`;
}

function chosen(program: Parser, argv: readonly string[]): Parser {
  let parser = program;
  for (const word of argv) {
    const next = parser.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    parser = next;
  }
  return parser;
}

function flagsOf(parser: Parser): string[] {
  return parser.options.flatMap(({ long }) => long ?? []);
}

function report(error: unknown, outside: Outside): number {
  if (error instanceof AppError) {
    outside.err(`${error.message}\n`);
    return error.code === 'usage' ? USAGE : FAILURE;
  }
  outside.err(`svc: ${unexpected(error)}\n`);
  return FAILURE;
}

/**
 * System refusals are reported by their message alone; anything else is a bug and gets its stack.
 */
function unexpected(error: unknown): string {
  if (!(error instanceof Error)) return `internal error: ${String(error)}`;
  const { message, stack = message } = error;
  if (REFUSALS.has(errnoOf(error) ?? '')) return message;
  if (!DAMAGE.test(message)) return `internal error: ${stack}`;
  return `a database of the state directory is damaged (${message}); svc check tells which one`;
}

function isDirectory(path: string): boolean {
  // Only a directory has a `.`; one that cannot be read counts as none.
  return existsSync(`${path}/.`);
}
