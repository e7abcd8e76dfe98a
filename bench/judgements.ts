/**
 * Queries and what a person would want to find first, over the README files of the packages installed here and some CSV
 * files of vega-datasets. Judged by reading the texts, before any ranking was looked at.
 *
 * A target is a resource and, mostly, words its title has to begin with; rows are told by a text in them. It counts once,
 * for the first result that is it: 3 the answer itself, 2 nearly so, 1 of some use.
 */

/** One thing worth finding. */
export interface Target {
  readonly resource: string;
  /** What the title begins with; any when absent. */
  readonly title?: string;
  /** What title or text contains. */
  readonly text?: string;
  readonly gain: 1 | 2 | 3;
}

/** A query with its targets. */
export interface Judgement {
  readonly q: string;
  readonly kind: 'section' | 'name' | 'row' | 'beginning' | 'typo';
  readonly targets: readonly Target[];
}

function section(q: string, name: string, title: string, ...others: Target[]): Judgement {
  const resource = `packages/${name}`;
  return {
    q,
    kind: 'section',
    targets: [{ resource, title, gain: 3 }, { resource, gain: 1 }, ...others],
  };
}

function mistyped(q: string, name: string, title: string): Judgement {
  return { ...section(q, name, title), kind: 'typo' };
}

function beginning(q: string, name: string, title: string): Judgement {
  return { ...section(q, name, title), kind: 'beginning' };
}

function named(q: string, resource: string, title?: string): Judgement {
  return { q, kind: 'name', targets: [{ resource, ...(title && { title }), gain: 3 }] };
}

function row(q: string, resource: string, text: string, ...others: Target[]): Judgement {
  return { q, kind: 'row', targets: [{ resource, text, gain: 3 }, ...others] };
}

function other(name: string, title: string, gain: 1 | 2): Target {
  return { resource: `packages/${name}`, title, gain };
}

/** All of them. */
export const judgements: readonly Judgement[] = [
  section('required option', 'commander', 'Required option'),
  section('variadic option', 'commander', 'Variadic option'),
  section('default option value', 'commander', 'Default option value'),
  section('custom option processing', 'commander', 'Custom option processing'),
  section('life cycle hooks', 'commander', 'Life cycle hooks'),
  section('display help after errors', 'commander', 'Display help after errors'),
  section('action handler', 'commander', 'Action handler'),
  section('allowed css classes', 'sanitize-html', 'Allowed CSS Classes'),
  section('allowed css styles', 'sanitize-html', 'Allowed CSS Styles'),
  section('iframe filters', 'sanitize-html', 'Iframe Filters'),
  section('allowed url schemes', 'sanitize-html', 'Allowed URL schemes'),
  section('restricting deep nesting', 'sanitize-html', 'Restricting deep nesting'),
  section(
    'disallowed tags',
    'sanitize-html',
    'Choose what to do with disallowed tags',
    other('sanitize-html', 'Discarding the entire contents of a disallowed tag', 2),
  ),
  section('parsing feeds', 'htmlparser2', 'Parsing feeds'),
  section('parser options', 'htmlparser2', 'Parser options'),
  section('searching the dom', 'htmlparser2', 'Searching the DOM'),
  section('web workers', 'highlight.js', 'Using Web Workers'),
  section('supported languages', 'highlight.js', 'Supported Languages'),
  section('build from source', 'highlight.js', 'Build from Source'),
  section('cover art', 'music-metadata', 'Access cover art'),
  section('parse errors metadata', 'music-metadata', 'Handling Parse Errors'),
  section('audio file types', 'music-metadata', 'Support for audio file types'),
  section(
    'extracting tarball',
    'tar-stream',
    'Extracting',
    other('tar-stream', 'Modifying existing tarballs', 2),
  ),
  section('saving tarball to fs', 'tar-stream', 'Saving tarball to fs'),
  section('add worksheet', 'exceljs', 'Add a Worksheet'),
  section('remove worksheet', 'exceljs', 'Remove a Worksheet'),
  section('merged cells', 'exceljs', 'Merged Cells'),
  section('conditional formatting', 'exceljs', 'Conditional Formatting'),
  section('data validations', 'exceljs', 'Data Validations'),
  section('reading csv', 'exceljs', 'Reading CSV'),
  section('writing xlsx', 'exceljs', 'Writing XLSX', other('exceljs', 'Streaming XLSX Writer', 1)),
  section('password protection worksheet', 'exceljs', 'Sheet Protection'),
  section('binary columns parquet', 'hyparquet', 'Binary columns'),
  section('reading metadata parquet', 'hyparquet', 'Reading Metadata'),
  section('explicit schema', 'hyparquet-writer', 'Explicit Schema'),
  section('linear time matching', 're2js', 'RE2JS is the JavaScript port'),
  section('escaping special characters', 're2js', 'Escaping Special Characters'),
  section('lookbehinds linear', 're2js', 'Lookbehinds'),
  section(
    'replacing matches',
    're2js',
    'Replacing Matches',
    other('re2js', 'Safe Replacements', 2),
  ),
  section('client credentials grant', 'openid-client', 'Client Credentials Grant'),
  section('device authorization', 'openid-client', 'Device Authorization Grant'),
  section('encrypted json web tokens', 'jose', 'Encrypted JSON Web Tokens'),
  section('json web encryption', 'jose', 'JSON Web Encryption'),
  section('vector and hybrid search', 'orama', 'Vector and Hybrid Search Support'),
  section('why migrate fast check', 'fast-check', 'Why should I migrate'),
  section('yaml stringify', 'yaml', 'YAML.stringify', other('yaml', 'Parse & Stringify', 2)),
  section('sanitize output html', 'marked', 'Warning', {
    resource: 'packages/sanitize-html',
    gain: 1,
  }),
  named('papaparse', 'packages/papaparse'),
  named('github slugger', 'packages/github-slugger', 'github-slugger'),
  named('oidc provider', 'packages/oidc-provider', 'oidc-provider'),
  named('htmlparser2', 'packages/htmlparser2', 'htmlparser2'),
  named('airports', 'data/airports', 'airports'),
  named('seattle weather', 'data/seattle-weather', 'seattle-weather'),
  named('nonfarm manufacturing', 'data/us-employment', 'us-employment'),
  named('income health population region', 'data/gapminder-health-income', 'gapminder'),
  row('seattle tacoma', 'data/airports', 'Seattle-Tacoma'),
  row('boeing field', 'data/airports', 'Boeing Field'),
  row('san francisco international', 'data/airports', 'San Francisco International'),
  row('SFO', 'data/airports', 'iata: SFO'),
  row('JFK', 'data/airports', 'iata: JFK'),
  row('honolulu international', 'data/airports', 'Honolulu International'),
  row('livingston tx', 'data/airports', 'Livingston Municipal'),
  row('afghanistan', 'data/gapminder-health-income', 'country: Afghanistan'),
  row('new zealand', 'data/gapminder-health-income', 'country: New Zealand'),
  row('cesar aguilar', 'data/la-riots', 'Aguilar'),
  row('chinatown riot', 'data/la-riots', 'Alvarez', {
    resource: 'data/la-riots',
    title: 'la-riots',
    gain: 1,
  }),
  row('wind 2001', 'data/iowa-electricity', '2001-01-01'),
  beginning('restricting deep nest', 'sanitize-html', 'Restricting deep nesting'),
  beginning('client cred', 'openid-client', 'Client Credentials Grant'),
  beginning('variadic opt', 'commander', 'Variadic option'),
  mistyped('requierd option', 'commander', 'Required option'),
  mistyped('iframe filtres', 'sanitize-html', 'Iframe Filters'),
  mistyped('conditonal formatting', 'exceljs', 'Conditional Formatting'),
  mistyped('encripted json web tokens', 'jose', 'Encrypted JSON Web Tokens'),
  mistyped('lookbehynds', 're2js', 'Lookbehinds'),
  mistyped('saving tarbal to fs', 'tar-stream', 'Saving tarball to fs'),
  {
    q: 'aiports',
    kind: 'typo',
    targets: [{ resource: 'data/airports', title: 'airports', gain: 3 }],
  },
  {
    q: 'seatle weather',
    kind: 'typo',
    targets: [{ resource: 'data/seattle-weather', title: 'seattle-weather', gain: 3 }],
  },
  {
    q: 'gapmindr',
    kind: 'typo',
    targets: [{ resource: 'data/gapminder-health-income', title: 'gapminder', gain: 3 }],
  },
];
