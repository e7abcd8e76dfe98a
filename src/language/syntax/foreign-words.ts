/**
 * For SPL words when none of our names is near. A word without an equivalent is in no table, so that its error does
 * not mislead.
 */

const COMMANDS: Readonly<Record<string, string>> = {
  addtotals: 'eval <name>=<field>+<field>',
  appendcols: 'join',
  bucket: 'bin',
  chart: 'stats <aggregate> BY <field>',
  convert: 'eval <name>=strftime(<time>,"<format>")',
  foreach: 'eval',
  inputcsv: 'from <dataset>',
  inputlookup: 'from <dataset>',
  kv: 'extract kv',
  makemv: 'eval <field>=split(<field>,"<separator>")',
  mvcombine: 'stats values(<field>) BY <field>',
  mvexpand: 'event_split --field=<field>',
  nomv: 'eval <field>=mvjoin(<field>,"<separator>")',
  group: 'stats <aggregate> BY <field>',
  limit: 'head <n>',
  order: 'sort <field>',
  regex: 'where match(<field>,"<pattern>")',
  replace: 'eval <field>=replace(<field>,"<pattern>","<text>")',
  reverse: 'sort',
  select: 'table <field>, …',
  spath: 'extract json',
  strcat: 'eval <name>=<field> . <field>',
  tstats: 'stats <aggregate> BY <field>',
  uniq: 'dedup',
  xmlkv: 'extract',
};

const FUNCTIONS: Readonly<Record<string, string>> = {
  ceiling: 'ceil',
  in: '<field> IN (…)',
  isbool: 'typeof',
  isint: 'typeof',
  isnum: 'typeof',
  isstr: 'typeof',
  length: 'len',
  mvappend: 'concat',
  power: 'pow',
  searchmatch: 'contains',
  spath: 'json_extract',
  time: 'now',
  toupper: 'upper',
  tolower: 'lower',
};

/** Here such a word would be searched for as text. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  dbinspect: 'from audit',
  inputcsv: 'from <dataset>',
  inputlookup: 'from <dataset>',
  loadjob: 'savedsearch <name>',
  makeresults: 'from <dataset>',
  metadata: '* | stats count BY host',
  metasearch: 'search',
  mstats: '* | stats',
  rest: 'from audit',
  select: 'from <dataset> | table <column>, …',
  tstats: '* | stats count BY <field>',
};

export function foreignCommand(name: string): string | null {
  return entryOf(COMMANDS, name);
}

export function foreignFunction(name: string): string | null {
  return entryOf(FUNCTIONS, name);
}

/** For a word hardly meant as text: an SPL command, a macro, a flag without its command. */
export function strayWordNotice(word: string, isFirst: boolean): string | null {
  const beginning = isFirst ? entryOf(BEGINNINGS, word) : null;
  if (beginning !== null) return `'${word}' was searched as text; did you mean '${beginning}'?`;
  if (word.length > 1 && word.startsWith('`'))
    return `'${word}' was searched as text: there are no macros; did you mean 'savedsearch <name>'?`;
  if (/^--[a-z]/.test(word))
    return `'${word}' was searched as text: flags stand right behind the command`;
  return null;
}

function entryOf(table: Readonly<Record<string, string>>, name: string): string | null {
  const known = name.toLowerCase();
  return Object.hasOwn(table, known) ? table[known]! : null;
}
