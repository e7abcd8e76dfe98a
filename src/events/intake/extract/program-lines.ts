/**
 * Lines of programs that write neither JSON nor pairs: what each puts before its message.
 *
 * The groups of a pattern become members, but for `rest`, in which more is looked for. A time stands at the start of the
 * line, and these patterns begin behind it, unless they are `WHOLE`.
 */
import { typedValue } from './pairs.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

export interface ProgramLine {
  readonly format: string;
  readonly members: Members;
  /** As written, when it does not stand at the start; klog omits the year: `1120 10:00:00.123456`. */
  readonly time: string | undefined;
  /** Where other formats may lie, such as the message. */
  readonly rest: string;
}

type Patterns = readonly (readonly [format: string, pattern: RegExp])[];

/** With numbered groups, because an object of named ones costs as much as the match. */
interface Compiled {
  readonly format: string;
  readonly pattern: RegExp;
  /** Of the members, by group; undefined for groups inside others. */
  readonly names: readonly (string | undefined)[];
  /** A text without it cannot fit; looking for it takes a fifth of a match. */
  readonly needs: string;
}

const LEVELS =
  'TRACE|DEBUG|INFO|INFORMATION|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|ALERT|EMERG|PANIC|TRC|VRB|DBG|INF|WRN|FTL';
const LEVEL = `(?<level>${LEVELS})`;
const PG_LEVEL =
  '(?<level>LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DEBUG\\d?|DETAIL|HINT|STATEMENT|CONTEXT)';
const REST = '(?<rest>.*)$';
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*){0,5000})"';

function quotedAs(name: string): string {
  return QUOTED.replace('(', `(?<${name}>`);
}

const WHOLE: Patterns = [
  [
    'klog',
    /^(?<level>[IWEF])(?<time>\d{4} \d\d:\d\d:\d\d\.\d{6}) +(?<pid>\d+) (?<caller>[^\s\]]+:\d+)\] (?<rest>.*)$/s,
  ],
  [
    'python',
    new RegExp(`^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?<logger>[\\w.]+):${REST}`, 's'),
  ],
  [
    'uvicorn',
    /^(?<level>INFO|WARNING|ERROR): {2,}(?:(?<clientip>[\d.a-f:]+):(?<client_port>\d+) - "(?<method>[A-Z]+) (?<uri>\S+) (?<protocol>HTTP\/[\d.]+)" (?<status>\d{3}))?(?<rest>.*)$/s,
  ],
  [
    'dotnet',
    /^(?<level>trce|dbug|info|warn|fail|crit): (?<logger>[\w.`+]+)\[(?<event_id>\d+)\]\s*(?<rest>.*)$/s,
  ],
  [
    'log4j',
    new RegExp(
      `^\\d\\d:\\d\\d:\\d\\d[.,]\\d{3} \\[(?<thread>[^\\]]+)\\] ${LEVEL} +(?<logger>[A-Za-z_][\\w.$/-]*) +[-–] ${REST}`,
      's',
    ),
  ],
  [
    'haproxy',
    /^(?<clientip>[\d.a-fA-F:]+):(?<client_port>\d+) \[(?<time>\d\d\/[A-Z][a-z]{2}\/\d{4}:[\d:.]+)\] (?<frontend>\S+) (?<backend>[^\s/]+)\/(?<server>\S+) (?<timers>[-\d/+]+) (?:(?<status>-?\d+) )?(?<bytes>\+?\d+) (?:\S+ \S+ )?(?<termination_state>\S{2,4}) [\d/+]+ \d+\/\d+(?: \{[^}]*\}){0,2}(?: "(?<method>[A-Z]+) (?<uri>[^\s"]+)[^"]*")?(?<rest>)/,
  ],
  [
    'rails',
    /^Started (?<method>[A-Z]+) "(?<uri>[^"]*)" for (?<clientip>\S+) at (?<time>\d{4}-.{10,25})$(?<rest>)/,
  ],
];

const WHOLE_START =
  /^(?:[IWEF]\d{4} |\d\d:\d\d:\d\d[.,]|[A-Z]{4,8}:|[a-z]{4}: |Started |[\da-fA-F:.]+:\d+ \[)/;

/**
 * `starts`: what the text begins with; `A` and `a` are letters, `0` digits. Telling them apart first halves the time of a
 * line that none of them fits, and so does again what every such line holds.
 */
const AFTER_TIME: readonly (readonly [
  starts: string,
  format: string,
  pattern: RegExp,
  needs?: string,
])[] = [
  ['a', 'cri', /^(?<stream>stdout|stderr) (?<logtag>[FP]) (?<rest>.*)$/s, 'std'],
  [
    '[',
    'nginx_error',
    /^\[(?<level>\w+)\] (?<pid>\d+)#(?<tid>\d+): (?:\*(?<connection>\d+) )?(?<rest>.*)$/s,
    '#',
  ],
  [
    '[',
    'apache_error',
    /^\[(?:(?<module>\w+):)?(?<level>\w+)\] \[pid (?<pid>\d+)(?::tid (?<tid>\d+))?\](?: \[client (?<client>[^\]]+)\])? (?<rest>.*)$/s,
    '[pid ',
  ],
  [
    '0',
    'mysql',
    /^(?<thread>\d+) \[(?<level>\w+)\] (?:\[(?<code>MY-\d+)\] \[(?<subsystem>\w+)\] )?(?<rest>.*)$/s,
  ],
  [
    '[',
    'postgres',
    new RegExp(
      `^\\[(?<pid>\\d+)\\](?:-\\d+)?:? (?:(?:(?<user>[\\w.\\[\\]-]+)@(?<database>[\\w.\\[\\]-]+) )?)${PG_LEVEL}:  ?${REST}`,
      's',
    ),
  ],
  [
    'A',
    'spring',
    new RegExp(
      `^${LEVEL} +(?<pid>\\d+) --- (?:\\[(?<application>[^\\]]*)\\] )?\\[ *(?<thread>[^\\]]+)\\] (?<logger>\\S+) *: ${REST}`,
      's',
    ),
    ' --- ',
  ],
  [
    '[',
    'elasticsearch',
    /^\[(?<level>[A-Z]+) *\]\[(?<logger>[\w.$-]+) *\] ?\[(?<node>[^\]]+)\] ?(?<rest>.*)$/s,
    '][',
  ],
  [
    '[A',
    'log4j',
    new RegExp(
      `^(?:\\[(?<thread>[^\\]]+)\\] )?\\[?${LEVEL}(?: *\\])? +(?<logger>[A-Za-z_][\\w.$/-]*)(?::\\d+)? +[-–] ${REST}`,
      's',
    ),
  ],
  [
    'A',
    'log4j',
    new RegExp(
      `^${LEVEL} +\\[(?<thread>[^\\]]+)\\] +(?<logger>[A-Za-z_][\\w.$/-]*) +[-–] ${REST}`,
      's',
    ),
  ],
  [
    'A',
    'jboss',
    new RegExp(`^${LEVEL} +\\[(?<logger>[\\w.$-]+)\\] \\((?<thread>[^)]+)\\) ${REST}`, 's'),
    '] (',
  ],
  [
    'A',
    'tomcat',
    new RegExp(`^${LEVEL} \\[(?<thread>[^\\]]+)\\] (?<logger>[\\w$]+\\.[\\w.$<>]+) ${REST}`, 's'),
    ' [',
  ],
  [
    'A',
    'kafka',
    new RegExp(`^${LEVEL} (?<rest>.*) \\((?<logger>[\\w$]+\\.[\\w.$]+)\\)\\s*$`, 's'),
    ' (',
  ],
  [
    'Aa-',
    'python',
    new RegExp(`^[-|]? ?(?<logger>[A-Za-z_][\\w.]*) +[-|] +${LEVEL} +[-|] +${REST}`, 's'),
  ],
  [
    'Aa',
    'fail2ban',
    new RegExp(`^(?<logger>[\\w.]+)\\s+\\[(?<pid>\\d+)\\]: ${LEVEL}\\s+${REST}`, 's'),
    ']: ',
  ],
  [
    'Aa',
    'zap',
    /^(?<level>[a-zA-Z]+)\t(?:(?<logger>[\w.-]+)\t)?(?:(?<caller>[\w./@-]+:\d+)\t)?[^\t]*(?:\t(?<rest>.*))?$/s,
    '\t',
  ],
  [
    'A',
    'tracing',
    new RegExp(`^${LEVEL} +(?<logger>[A-Za-z_]\\w*(?:::\\w+)*)(?:\\]|:) ${REST}`, 's'),
  ],
  [
    'a',
    'bind',
    /^(?<category>[a-z][\w-]*): (?<level>info|notice|warning|error|critical|debug \d+): (?<rest>.*)$/s,
    ': ',
  ],
  ['a', 'unbound', /^unbound\[(?<pid>\d+):\d+\] (?<level>\w+): (?<rest>.*)$/s, 'unbound['],
  ['A', 'etcd', /^(?<level>[DINWEC]) \| (?<logger>[\w./-]+): (?<rest>.*)$/s, ' | '],
  ['[', 'gunicorn', /^\[(?<pid>\d+)\] \[(?<level>[A-Z]+)\] (?<rest>.*)$/s, '] ['],
  ['#', 'ruby', /^#(?<pid>\d+)\] +(?<level>[A-Z]+) -- (?<program>[^:]*): (?<rest>.*)$/s],
  [
    'A',
    'mongodb',
    /^(?<level>[DIWEF]) (?<component>[A-Z]+) +\[(?<context>[^\]]+)\] (?<rest>.*)$/s,
    ' [',
  ],
  ['#-*.', 'redis', /^(?<level>[.\-*#]) (?<rest>.*)$/s],
  [
    '[',
    'clickhouse',
    /^\[ (?<thread>\d+) \] \{(?<query_id>[^}]*)\} <(?<level>\w+)> (?<logger>[^:]+): (?<rest>.*)$/s,
    ' ] {',
  ],
  [
    '[',
    'suricata',
    /^\[\*\*\] \[(?<signature_id>[\d:]+)\] (?<signature>.*?) \[\*\*\] (?:\[Classification: (?<classification>[^\]]*)\] )?\[Priority: (?<priority>\d+)\] \{(?<proto>\w+)\} (?<src>\S+) -> (?<dst>\S+)(?<rest>)$/s,
    '[**] [',
  ],
  [
    '"',
    'envoy',
    new RegExp(
      `^"(?<method>[A-Z]+) (?<uri>\\S+) (?<protocol>HTTP/[\\d.]+)" (?<status>\\d+) (?<response_flags>\\S+)(?: \\S+ \\S+ ${QUOTED})? (?<bytes_received>\\d+) (?<bytes>\\d+) (?<duration>\\d+) (?<upstream_time>\\d+|-) ${quotedAs('forwarded_for')} ${quotedAs('useragent')} ${quotedAs('request_id')} ${quotedAs('authority')} ${quotedAs('upstream')}${REST}`,
      's',
    ),
    'HTTP/',
  ],
  [
    '"',
    'django',
    /^"(?<method>[A-Z]+) (?<uri>\S+) (?<protocol>HTTP\/[\d.]+)" (?<status>\d{3}) (?<bytes>\d+)(?<rest>)$/,
    'HTTP/',
  ],
];

const BY_START: ReadonlyMap<string, readonly Compiled[]> = new Map(
  [...'Aa0[]"#-*.'].map((start) => [
    start,
    AFTER_TIME.filter(([starts]) => starts.includes(start)).map(([, format, pattern, needs]) =>
      compiled(format, pattern, needs),
    ),
  ]),
);
const NONE: readonly Compiled[] = [];

function compiled(format: string, { source, flags }: RegExp, needs = ''): Compiled {
  const groups = source.matchAll(/\\.|\[(?:[^\]\\]|\\.)*\]|\((?:\?<(\w+)>|(?!\?))/g);
  const names = Array.from(groups)
    .filter(([part]) => part.startsWith('('))
    .map(([, name]) => name);
  const pattern = new RegExp(source.replaceAll(/\(\?<\w+>/g, '('), flags);
  return { format, pattern, names, needs };
}

/** The parts an nginx error ends in. */
const NGINX_PARTS =
  /, (client|server|request|upstream|referrer): ("[^"\\]*(?:\\.[^"\\]*){0,5000}"|[^,]*)/g;
const REDIS_LEVELS: Readonly<Record<string, string>> = {
  ...{ '.': 'debug', '-': 'verbose', '*': 'notice', '#': 'warning' },
};
const KLOG_LEVELS: Readonly<Record<string, string>> = {
  ...{ I: 'info', W: 'warning', E: 'error', F: 'fatal', D: 'debug', N: 'notice', C: 'critical' },
};

/** Lines that begin with something else than a time. */
export function wholeLine(text: string): ProgramLine | null {
  return WHOLE_START.test(text) ? firstOf(COMPILED_WHOLE, text) : null;
}

const COMPILED_WHOLE = WHOLE.map(([format, pattern]) => compiled(format, pattern));

/** `text`: what follows the time. */
export function lineAfterTime(text: string): ProgramLine | null {
  const line = firstOf(BY_START.get(startOf(text)) ?? NONE, text);
  if (line?.format !== 'nginx_error') return line;
  for (const [, name, value] of line.rest.matchAll(NGINX_PARTS)) {
    const from = value!.startsWith('"') ? 1 : 0;
    line.members[name!] = value!.slice(from, value!.endsWith('"') ? -1 : undefined);
  }
  return { ...line, rest: '' };
}

function startOf(text: string): string {
  const first = text.charAt(0);
  if (first >= 'a' && first <= 'z') return 'a';
  if (first >= 'A' && first <= 'Z') return 'A';
  return first >= '0' && first <= '9' ? '0' : first;
}

function firstOf(patterns: readonly Compiled[], text: string): ProgramLine | null {
  for (const { format, pattern, names, needs } of patterns) {
    const match = needs === '' || text.includes(needs) ? pattern.exec(text) : null;
    if (match === null) continue;
    const members = memberSet();
    let time: string | undefined;
    let rest = '';
    for (let at = 0; at < names.length; at += 1) {
      const [name, value] = [names[at], match[at + 1]];
      if (name === undefined || value === undefined) continue;
      if (name === 'rest') rest = value;
      else if (name === 'time') time = value;
      else if (value !== '' && (value !== '-' || name === 'level'))
        members[name] = typedValue(name === 'level' ? levelOf(format, value) : value.trim());
    }
    return { format, members, time, rest };
  }
  return null;
}

function levelOf(format: string, level: string): string {
  if (format === 'redis') return REDIS_LEVELS[level] ?? level;
  return (level.length === 1 && KLOG_LEVELS[level]) || level;
}

const WORD = new RegExp(
  `(?:^|[\\s\\[(<|])(?:${LEVELS})(?=[\\s\\]):>|,]|$)|[\\[<(](?:${LEVELS.toLowerCase()}) *[\\])>]|^(?:${LEVELS.toLowerCase()})(?=[\\s:])`,
);
const LEVEL_WORDS: ReadonlySet<string> = new Set([
  ...LEVELS.split('|'),
  ...LEVELS.toLowerCase().split('|'),
]);
/** A level stands close behind the time. */
const LEVEL_WITHIN = 64;

/** The word that says how grave a line is. */
export function levelIn(rest: string): string | null {
  return levelAtStart(rest) ?? levelWithin(rest.slice(0, LEVEL_WITHIN));
}

function levelWithin(start: string): string | null {
  const found = WORD.exec(start)?.[0];
  return found === undefined ? null : found.replace(/[^A-Za-z]/g, '');
}

/** Most often it is the first word. */
function levelAtStart(rest: string): string | null {
  let end = 0;
  while (end < 12 && isLetter(rest.charCodeAt(end))) end += 1;
  if (rest.charCodeAt(end) !== 0x20) return null;
  const word = rest.slice(0, end);
  return LEVEL_WORDS.has(word) ? word : null;
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}
