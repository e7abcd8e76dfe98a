/**
 * What people who know SPL write, and how it is written here. Every query of the right column is run by a test.
 */

/** SPL and ours, side by side. */
export const SPL_PAIRS: readonly (readonly [spl: string, ours: string])[] = [
  ['index=web status>=500 earliest=-24h', 'index=web status>=500 earliest=-24h'],
  [
    'status>=500 earliest=-24h | top limit=10 host',
    'status>=500 earliest=-24h | top limit=10 host',
  ],
  ['index=web | stats count by host', 'index=web | stats count BY host'],
  [
    '... | stats avg(bytes) as mean, dc(user) by host',
    '* | stats avg(bytes) AS mean, dc(user) BY host',
  ],
  ['... | timechart span=5m count by index', '* | timechart span=5m count BY index'],
  ['... | eval kb=round(bytes/1024,1)', '* | eval kb=round(bytes/1024,1)'],
  ['... | where like(host,"al%")', '* | where host LIKE "al%"'],
  ['... | rex "from (?<ip>\\S+)"', '* | rex "from (?<ip>[^ ]+)"'],
  ['... | lookup assets host OUTPUT owner', '* | lookup assets host OUTPUT owner'],
  ['| inputlookup assets', 'from assets'],
  ['... | join host [search index=auth]', '* | join host [ index=auth ]'],
  ['... | dedup host | sort -_time', '* | dedup host | sort -_time'],
  ['... | savedsearch "by host"', 'savedsearch "by host" idx=web'],
];
