/**
 * pipeline: the twelve patterns of the search language (SL-160) against the SQL a person would write for each, over the
 * same store. The last day is the last day of the data. Both sides are warm: of short answers a round takes the median of
 * many, because a single one measures how much of the code the runtime has compiled yet.
 */
import { type Bench, type Benchmark, type Finding, median } from '../benchmark.ts';
import { EVENTS, eventData, LAST_DAY, NEEDLE } from '../event-data.ts';
import { asked, selected, startSql, startWithEvents } from '../event-queries.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';

/** Answers up to this long are asked for so many times a round. */
const SHORT_MS = 20;
const TIMES = 40;

interface Pattern {
  readonly name: string;
  readonly query: string;
  readonly sql: string;
}

const DAY = String(Date.parse(LAST_DAY) * 1000);
const IP = `substr(data, instr(data, 'from ') + 5, instr(substr(data, instr(data, 'from ') + 5), ' ') - 1)`;

export const patterns: readonly Pattern[] = [
  {
    name: 'P1 newest of an index',
    query: 'index=web | head 100 | table _time, host, data',
    sql: `SELECT time, host, data FROM events WHERE "index" = 'web' ORDER BY time DESC, id DESC LIMIT 100`,
  },
  {
    name: 'P2 rare text',
    query: `"${NEEDLE}" | head 100 | table id, data`,
    sql: `SELECT id, data FROM events WHERE data LIKE '%${NEEDLE}%' ORDER BY time DESC, id DESC LIMIT 100`,
  },
  {
    name: 'P3 newest of a host',
    query: `search --filter='host=h7' --filter='created__gte={last_day}' --select='["id","created","data"]' --order-by='["-id"]' --limit=100`,
    sql: `SELECT id, created, data FROM events WHERE host = 'h7' AND created >= ${DAY} ORDER BY id DESC LIMIT 100`,
  },
  {
    name: 'P4 count by host',
    query: '* | stats count BY host | sort -count | head 15',
    sql: 'SELECT host, count(*) AS count FROM events GROUP BY host ORDER BY count DESC, host LIMIT 15',
  },
  {
    name: 'P5 count by a member',
    query: `search | groupby --keys='["extracted_fields__status"]' | rename --mapping='{"extracted_fields__status":"status"}' | sort --fields='["-count"]' | head --n=15`,
    sql: `SELECT fields ->> '$.status' AS status, count(*) AS count FROM events GROUP BY status ORDER BY count DESC, status LIMIT 15`,
  },
  {
    name: 'P6 mean by host',
    query: `search --filter='index=web' | groupby --keys='["host","Avg(extracted_fields__bytes)"]' --out=avg_bytes`,
    sql: `SELECT host, avg(fields ->> '$.bytes') AS avg_bytes FROM events WHERE "index" = 'web' GROUP BY host ORDER BY host`,
  },
  {
    name: 'P7 count by hour',
    query: `search --filter='created__gte={last_day}' | annotate --set='t=TruncHour(created)' | groupby --keys='["t"]' | sort --fields='["t"]'`,
    sql: `SELECT created - created % 3600000000 AS t, count(*) AS count FROM events WHERE created >= ${DAY} GROUP BY t ORDER BY t`,
  },
  {
    name: 'P8 chart by index',
    query: `earliest=${LAST_DAY} | timechart span=15m count BY index`,
    sql: `SELECT time - time % 900000000 AS t, sum("index" = 'web') AS web, sum("index" = 'app') AS app, sum("index" = 'auth') AS auth FROM events WHERE time >= ${DAY} GROUP BY t ORDER BY t`,
  },
  {
    name: 'P9 top hosts with failures',
    query: `earliest=${LAST_DAY} status>=500 | top limit=10 host`,
    sql: `SELECT host, count(*) AS count FROM events WHERE time >= ${DAY} AND fields ->> '$.status' >= 500 GROUP BY host ORDER BY count DESC, host LIMIT 10`,
  },
  {
    name: 'P10 some with a level',
    query: `search --filter='extracted_fields__level__in=["error","fatal"]' --exclude='host="h1"' --select='["id","host","data"]' --limit=100`,
    sql: `SELECT id, host, data FROM events WHERE fields ->> '$.level' IN ('error', 'fatal') AND host <> 'h1' ORDER BY id LIMIT 100`,
  },
  {
    name: 'P11 failures by owner',
    query:
      'index=web status>=500 | stats count BY host | lookup assets host OUTPUT owner | stats sum(count) AS n BY owner | sort -n',
    sql: `SELECT owner, sum(count) AS n FROM (SELECT host, count(*) AS count FROM events WHERE "index" = 'web' AND fields ->> '$.status' >= 500 GROUP BY host) LEFT JOIN assets USING (host) GROUP BY owner ORDER BY n DESC`,
  },
  {
    name: 'P12 addresses of failed logins',
    query:
      'index=auth "Failed login" | rex "from (?<ip>[^ ]+)" | stats count, dc(user) AS users BY ip | where count>=5 | sort -count',
    sql: `SELECT ${IP} AS ip, count(*) AS count, count(DISTINCT fields ->> '$.user') AS users FROM events WHERE "index" = 'auth' AND data LIKE '%failed login%' GROUP BY ip HAVING count >= 5 ORDER BY count DESC, ip`,
  },
];

export const pipeline: Benchmark = {
  name: 'pipeline',
  work: `the twelve patterns of the search language over ${EVENTS.toLocaleString('en-US')} events`,
  async run(bench) {
    const data = await eventData(EVENTS);
    await using service = await startWithEvents(bench, data);
    await using sql = await startSql(bench, data);
    const findings: Finding[] = [];
    for (const pattern of patterns) {
      findings.push(
        await measured(bench, pattern, {
          svc: () => asked(service, pattern.query),
          sqlite: () => selected(sql, pattern.sql),
        }),
      );
    }
    return findings;
  },
};

type Rows = Awaited<ReturnType<typeof asked>>;

async function measured(
  bench: Bench,
  { name }: Pattern,
  sides: { readonly svc: () => Promise<Rows>; readonly sqlite: () => Promise<Rows> },
): Promise<Finding> {
  const [given, wanted] = [(await sides.svc()).rows, (await sides.sqlite()).rows];
  requireEqual(`${name}: rows`, given.map(figures), wanted.map(figures));
  bench.say(name);
  const rounds = await inTurns(bench, {
    svc: () => milliseconds(sides.svc),
    sqlite: () => milliseconds(sides.sqlite),
  });
  return {
    part: name,
    subject: { name: 'svc', unit: 'ms', values: rounds.svc },
    reference: { name: 'SQLite behind Bun.serve', unit: 'ms', values: rounds.sqlite },
    goal: { of: 'ratio', atMost: 1.5 },
  };
}

export async function milliseconds(ask: () => Promise<Rows>): Promise<number> {
  const { ms } = await ask();
  if (ms > SHORT_MS) return ms;
  const taken: number[] = [];
  while (taken.length < TIMES) taken.push((await ask()).ms);
  return median(taken);
}

/** What both sides write alike: not the times, and not the share that `top` adds. */
export function figures({
  percent: _percent,
  ...row
}: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(row).flatMap(([name, value]) =>
    ['t', 'time', '_time', 'created'].includes(name) ? [] : [value],
  );
}
