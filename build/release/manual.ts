/**
 * The manual page and the completion for bash, made from the command line itself, so they name what there is.
 */
import type { Command as Parser } from 'commander';
import { commandLine } from '../../src/cli/cli.ts';

const FILES = [
  ['/etc/svc/config.yaml', 'The configuration, read where no other file is named.'],
  ['/etc/svc/environment', 'Variables of the service, for secrets; made by whoever needs it.'],
  ['/var/lib/svc', 'Accounts, rights, audit, events and what svc derives.'],
  ['/srv/svc', 'The published folder.'],
] as const;
const EXIT_CODES = [
  ['0', 'Success.'],
  ['1', 'Failure.'],
  ['2', 'Wrong usage or configuration.'],
] as const;

const nothing = (): void => undefined;

function program(): Parser {
  return commandLine(nothing, { writeOut: nothing, writeErr: nothing, outputError: nothing });
}

/** The manual page `svc.1`, for groff. */
export function manualPage(version: string, date: Date): string {
  const all = commandsBelow(program());
  const lines = [
    `.TH SVC 1 "${date.toISOString().slice(0, 10)}" "svc ${version}" "User Commands"`,
    '.SH NAME',
    'svc \\- publishes a folder as authenticated APIs and pages',
    '.SH SYNOPSIS',
    '.B svc\n[\\fIcommand\\fR] [\\fIroot\\fR] [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    roff(
      'svc <folder> is short for svc serve <folder>. Without a command it serves the folder it is started in.',
    ),
    '.SH COMMANDS',
    ...all.flatMap(({ path, parser }) => commandEntry(path, parser)),
    '.SH FILES',
    ...FILES.flatMap(([path, meaning]) => entry(path, meaning)),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, meaning]) => entry(code, meaning)),
  ];
  return `${lines.join('\n')}\n`;
}

/** A completion for bash: commands and flags where they may stand, files elsewhere. */
export function bashCompletion(): string {
  const root = program();
  const groups = [{ path: 'svc', parser: root }, ...groupsBelow(root, 'svc')];
  const paths = groups.slice(1).map(({ path }) => `'${path}'`);
  const cases = groups.map(({ path, parser }) => {
    const words = [...visible(parser).map((one) => one.name()), ...flagsOf(parser)];
    return `    '${path}') words='${words.join(' ')}' ;;`;
  });
  return `# Completion of svc for bash; made from its command line.
_svc() {
  local path=svc word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${paths.join('|')}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _svc svc
`;
}

interface Described {
  /** `svc admin grant` */
  readonly path: string;
  readonly parser: Parser;
}

/** Every command that can be run, in the order of the help. */
function commandsBelow(parser: Parser): Described[] {
  return groupsBelow(parser, 'svc').filter((one) => visible(one.parser).length === 0);
}

function groupsBelow(parser: Parser, path: string): Described[] {
  return visible(parser).flatMap((below) => {
    const own = `${path} ${below.name()}`;
    return [{ path: own, parser: below }, ...groupsBelow(below, own)];
  });
}

function visible(parser: Parser): Parser[] {
  const shown = parser.createHelp().visibleCommands(parser);
  return shown.filter((command) => command.name() !== 'help');
}

function flagsOf(parser: Parser): string[] {
  return parser
    .createHelp()
    .visibleOptions(parser)
    .flatMap(({ long }) => long ?? []);
}

function commandEntry(path: string, parser: Parser): string[] {
  const help = parser.createHelp();
  const words = parser.registeredArguments.map((argument) => help.argumentTerm(argument));
  const usage = [
    path,
    ...parser.registeredArguments.map((one, at) => optional(words[at]!, one.required)),
  ];
  const details = [
    ...help
      .visibleArguments(parser)
      .map((one) => [help.argumentTerm(one), help.argumentDescription(one)]),
    ...help
      .visibleOptions(parser)
      .filter(({ long }) => long !== '--help')
      .map((option) => [help.optionTerm(option), help.optionDescription(option)]),
  ];
  return [
    `.SS ${roff(usage.join(' '))}`,
    roff(parser.description()),
    ...details.flatMap(([term, meaning]) => entry(term!, meaning!)),
  ];
}

function optional(word: string, isRequired: boolean): string {
  return isRequired ? `<${word}>` : `[${word}]`;
}

function entry(term: string, meaning: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(meaning)];
}

/** Text that groff prints as it stands. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/\s+/g, ' ');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
