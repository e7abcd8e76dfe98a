/**
 * A person who knows SPL and nothing of this language: what they type works, or the answer names what does (SL-172).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

let svc: Service;
let root: Client;

const STATUSES = [200, 200, 500, 503, 404];
const HOSTS = ['alpha', 'beta', 'gamma', 'delta'];

beforeAll(async () => {
  svc = await startService({
    files: { 'assets.csv': 'host,owner\nalpha,soc\nbeta,web\n' },
    config: { events: { min_free_bytes: 1, throttle: { search: '' } } },
  });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
  const events = Array.from({ length: 200 }, (_, at) => ({
    index: at % 3 === 0 ? 'auth' : 'web',
    host: HOSTS[at % HOSTS.length],
    sourcetype: 'json',
    data: JSON.stringify({
      status: STATUSES[at % STATUSES.length],
      bytes: at * 10,
      user: `u${at % 7}`,
      clientip: `10.0.0.${at % 9}`,
      tags: ['a', 'b'],
    }),
  }));
  const sent = await root.fetch('/api/events/', { method: 'POST', body: JSON.stringify(events) });
  expect(sent.status).toBe(201);
  await sent.body?.cancel();
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Answer {
  readonly rows?: Record<string, unknown>[];
  readonly meta?: { readonly notices: string[] };
  readonly error?: string;
}

async function run(query: string): Promise<Answer> {
  const response = await root.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Answer;
}

test('the ten hosts with most failures of the last day are found as an SPL user would ask', async () => {
  const failing = [
    { host: 'beta', count: 14 },
    { host: 'alpha', count: 13 },
    { host: 'delta', count: 13 },
    { host: 'gamma', count: 13 },
  ];
  const ways = [
    'search index=web status>=500 earliest=-1d | stats count by host | sort -count | head 10',
    'index=web status>=500 earliest=-24h@h latest=now | stats count by host | sort - count | head 10',
    'search index=web status>=500 earliest=-1d | top limit=10 host | fields - percent',
    'index=web status>=500 earliest=-1d | top 10 host showperc=f',
    'index=web (status=500 OR status=503) earliest=-1d | stats count by host | sort 10 -count',
    'index=web earliest=-1d | where status>=500 | top host limit=10 | table host count',
    'index=web earliest=-1d | stats count(eval(status>=500)) as count by host | sort -count, host',
  ];
  for (const way of ways) {
    const { rows = [], meta, error } = await run(way);
    const sorted = [...rows].sort((a, b) => Number(b['count']) - Number(a['count']));
    expect({ way, rows: sorted, error, notices: meta?.notices }).toEqual({
      way,
      rows: failing,
      error: undefined,
      notices: [],
    });
  }
});

describe('the same spelling works', () => {
  const cases: [query: string, first: Record<string, unknown>][] = [
    [
      'index=web | rex field=_raw "clientip\\":\\"(?<ip>[0-9.]+)" | table ip | head 1',
      { ip: '10.0.0.1' },
    ],
    ['index=web | rex "clientip\\":\\"(?P<ip>[^\\"]+)" | table ip | head 1', { ip: '10.0.0.1' }],
    ['index=web _raw=*10.0.0.1* | stats count', { count: 23 }],
    ['index=web | where like(host,"al%") | stats count', { count: 33 }],
    ['index=web | where NOT like(host,"al%") | stats count', { count: 100 }],
    [
      'index=web | eval c=case(status>=500,"bad",true(),"ok") | stats count by c',
      { c: 'bad', count: 53 },
    ],
    ['index=web | eval x=host."-".status | table x | head 1', { x: 'delta-404' }],
    ['index=web | eval x="a".host.("b") | table x | head 1', { x: 'adeltab' }],
    ['index=web | timechart span=1y count by host limit=1 useother=f', { beta: 34 }],
    ['index=web | timechart count span=1y', { count: 133 }],
    ['index=web | bin _time span=1y | stats count by _time', { count: 133 }],
    ['index=web | top host by status limit=1', { status: 200, host: 'beta', count: 14 }],
    [
      'index=web | dedup host | rename host as "the host" | table "the host" | head 1',
      { 'the host': 'delta' },
    ],
    ['index=web | fields - data | fields + host status | head 1', { host: 'delta', status: 404 }],
    ['index=web | stats dc(user) as users, perc95(bytes) | table users', { users: 7 }],
    ['| from assets | head 1', { host: 'alpha', owner: 'soc' }],
    [
      'index=web | lookup assets.csv host OUTPUT owner | where owner="soc" | stats count',
      { count: 33 },
    ],
  ];
  test.each(cases)('%s', async (query, first) => {
    const { rows, error, meta } = await run(query);
    expect({ error, notices: meta?.notices }).toEqual({ error: undefined, notices: [] });
    expect(rows![0]).toMatchObject(first);
  });
});

describe('the error names the right spelling', () => {
  const cases: [query: string, text: string][] = [
    ['* | bucket _time span=1h', "Unknown command: bucket; did you mean 'bin'?"],
    ['* | chart count by host', "did you mean 'stats <aggregate> BY <field>'?"],
    ['* | spath', "did you mean 'extract json'?"],
    ['* | mvexpand tags', "did you mean 'event_split --field=<field>'?"],
    ['* | regex host="^a"', `did you mean 'where match(<field>,"<pattern>")'?`],
    ['* | uniq', "did you mean 'dedup'?"],
    ['SELECT host FROM assets', "did you mean 'from assets | table host'?"],
    ['from assets | select host', "Unknown command: select; did you mean 'table <field>, …'?"],
    ['* | inputlookup assets', "did you mean 'from <dataset>'?"],
    ['* | eval x=ceiling(bytes)', "Unknown function 'ceiling'; did you mean 'ceil'?"],
    ['* | stats count by host | sort count desc', 'put - before a field to sort it downwards'],
    ['* | stats count by host | sort by count', 'sort takes its fields alone'],
    ['* | dedup host sortby -_time', 'use sort before dedup'],
    ['* | rex field=user mode=sed "s/a/b/"', 'use eval <field>=replace(<field>,"<re>","<to>")'],
    ['* | lookup assets host OUTPUTNEW owner', "Expected OUTPUT, found 'OUTPUTNEW'"],
    ['* | rename host to server', "Expected AS, found 'to'"],
    ['* | head limit=5', "'head' expects a whole number, got 'limit=5'"],
    ['* | top host countfield=n', "Unexpected text, found 'countfield=n'"],
    ['* | sort -bytes limit=5', "found 'limit=5'"],
    ['* | transaction host', 'Unknown command: transaction [stage 2, column 5]'],
  ];
  test.each(cases)('%s', async (query, text) => {
    expect((await run(query)).error).toContain(text);
  });
});

describe('what is read otherwise than meant says so', () => {
  const cases: [query: string, notice: string][] = [
    ['| inputlookup assets', "'inputlookup' was searched as text; did you mean 'from <dataset>'?"],
    ['| tstats count where index=web by host', "'tstats' was searched as text"],
    ['SELECT 1', "did you mean 'from <dataset> | table <column>, …'?"],
    ['index=web _raw="*10.0.0.1\\"*"', 'without the quotes it stands for any text'],
    ['web or auth', "'or' was searched as a word; write OR in capitals for rows with either side"],
    ['index=web | stats sum(user)', 'sum(user) left out 133 values that are text and no numbers'],
    ['index=web `macro`', "there are no macros; did you mean 'savedsearch <name>'?"],
    [
      'search index=web --limit 5',
      "'--limit' was searched as text: flags stand right behind the command",
    ],
    ['index=web | top limit=0 host', "'top' with limit=0 keeps no rows; leave it out to keep all"],
    [
      'index=web | sort bytes desc',
      "'desc' was read as a field; put - before a field to sort it downwards",
    ],
  ];
  test.each(cases)('%s', async (query, notice) => {
    const { meta, error } = await run(query);
    expect(error).toBeUndefined();
    expect(meta!.notices.join('\n')).toContain(notice);
  });

  test('a field of its own called so is no surprise', async () => {
    const { rows, meta } = await run(
      'index=web | eval desc=bytes | sort -desc | table desc | head 1',
    );
    expect([rows, meta!.notices]).toEqual([[{ desc: 1990 }], []]);
  });
});

test('the help on the command line has the query for it, and knows foreign names', async () => {
  const overview = await svc.command(['search', '--help']);
  expect(overview.stdout).toContain('earliest=-24h status>=500 | top limit=10 host');
  const foreign = await svc.command(['search', '--help', 'spath']);
  expect(foreign.stderr).toContain("did you mean 'extract json'?");
});
