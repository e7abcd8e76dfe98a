/**
 * What people who know SPL write, and how it is written here. Every query of the right column is run by a test.
 */

/** SPL and ours, side by side. */
export const SPL_PAIRS: readonly (readonly [spl: string, ours: string])[] = [
  [
    'search index=web status>=500 earliest=-1d | stats count by host | sort -count | head 10',
    'search index=web status>=500 earliest=-1d | stats count by host | sort -count | head 10',
  ],
  [
    'index=web status>=500 earliest=-24h | top limit=10 host',
    'index=web status>=500 earliest=-24h | top limit=10 host',
  ],
  [
    '... | stats avg(bytes) as mean, dc(user) by host',
    '* | stats avg(bytes) AS mean, dc(user) BY host',
  ],
  [
    '... | stats count(eval(status>=500)) as bad, count as all by host',
    '* | stats count(eval(status>=500)) AS bad, count AS all BY host | eval pct=round(100*bad/all,1)',
  ],
  ['... | chart count by host', '* | stats count BY host'],
  ['... | timechart span=1h count by index', '* | timechart span=1h count BY index'],
  [
    '... | bucket _time span=1h | stats count by _time',
    '* | bin span=1h _time | stats count BY _time',
  ],
  ['... | eval kb=round(bytes/1024,1)', '* | eval kb=round(bytes/1024,1)'],
  [
    '... | eval level=case(status>=500,"bad",true(),"ok")',
    '* | eval level=case(status>=500,"bad",true,"ok")',
  ],
  ['... | where like(host,"al%")', '* | where host LIKE "al%"'],
  ['... | regex host="^al"', '* | where match(host,"^al")'],
  ['... | rex field=_raw "from (?<ip>\\S+)"', '* | rex field=data "from (?<ip>[^ ]+)"'],
  ['... | spath', '* | extract json'],
  ['... | mvexpand tags', '* | event_split --field=tags'],
  ['... | sort 0 -bytes', '* | sort -bytes'],
  ['... | dedup host sortby -_time', '* | sort -_time | dedup host'],
  [
    '... | rename host as machine | table _time, machine',
    '* | rename host AS machine | table _time, machine',
  ],
  ['... | fields - data', '* | fields - data'],
  ['... | lookup assets host OUTPUT owner', '* | lookup assets host OUTPUT owner'],
  ['| inputlookup assets', 'from assets'],
  ['... | join host [search index=auth]', '* | join host [ index=auth ]'],
  ['... | savedsearch "by host"', 'savedsearch "by host" idx=web'],
];
