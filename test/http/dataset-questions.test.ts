/** Questions about one dataset on a page of its own: the search language without a span of time (DS-219, SL-40). */
import { scenarios } from '../support/scenarios.ts';

const FILES = {
  'shop/sales.csv': 'region,qty,price\nnorth,2,1.5\nsouth,3,2\nnorth,4,0.5\nwest,n/a,1\n',
  'shop/sales/ask.csv': 'x\n1\n',
  'my {x} file.csv': 'x\n1\n',
  '<b>.csv': 'x\n1\n',
};
const headers = { Accept: 'text/html' };
const ask = (query: string, rest = ''): string =>
  `/ui/shop/sales/?ask=${encodeURIComponent(query)}${rest}`;

scenarios('the page of questions about a dataset', { files: FILES }, [
  {
    name: 'needs somebody',
    actor: 'anonymous',
    path: ask(''),
    status: 401,
    lacks: ['north', 'region'],
  },
  {
    name: 'needs the right to read the dataset, and does not tell whether it is there',
    actor: 'stranger',
    path: ask('from shop/sales'),
    headers,
    status: 403,
    lacks: ['north', 'region'],
  },
  {
    name: 'begins with all its rows and questions that fit its columns',
    actor: ['reader', 'superuser'],
    path: ask(''),
    headers,
    status: 200,
    contains: [
      'from shop/sales | </textarea>',
      'action="/ui/shop/sales/"',
      'name="ask"',
      'Ask about sales',
      'stats count BY region | sort -count | head 10',
      'stats sum(price), avg(price) BY region',
    ],
    lacks: ['name="earliest"', 'Between two times'],
  },
  {
    name: 'answers, tells what was left out, and offers the answer as files',
    actor: 'reader',
    path: ask('from shop/sales | stats sum(qty) AS n, sum(qty*price) AS worth BY region'),
    headers,
    status: 200,
    contains: [
      /north[^]*<data value="6">6<\/data>[^]*<data value="5">5<\/data>/,
      'sum(qty) left out 1 value that is text and no number',
      /href="\/events\?q=from\+shop%2Fsales[^"]*&amp;earliest=&amp;format=parquet"/,
    ],
    lacks: 'For example',
  },
  {
    name: 'shows what is wrong and leads to what is right',
    actor: 'reader',
    path: ask('SELECT region, SUM(qty) FROM "shop/sales" GROUP BY region'),
    headers,
    status: 200,
    contains: [
      'SQL is not understood here',
      'href="/ui/shop/sales/?ask=from+shop%2Fsales+%7C+stats+sum%28qty%29+BY+region"',
    ],
  },
  {
    name: 'asks other datasets only with the right to read them',
    actor: 'stranger',
    path: ask('from shop/sales/ask'),
    headers,
    status: 403,
  },
  {
    name: 'shadows nothing: a dataset of that name has its own page',
    actor: 'reader',
    path: '/ui/shop/sales/ask/',
    headers,
    status: 200,
    contains: '<title>ask · svc</title>',
  },
  {
    name: 'quotes names, and braces in them are no placeholder',
    actor: 'reader',
    path: '/ui/my%20%7Bx%7D%20file/?ask=',
    headers,
    status: 200,
    contains: [/from &quot;my \{\{x\}\} file&quot; \| <\/textarea>/, 'scanned · '],
  },
  {
    name: 'escapes names',
    actor: 'reader',
    path: '/ui/%3Cb%3E/?ask=%3Cscript%3E',
    headers,
    status: 200,
    contains: '&lt;script&gt;</textarea>',
    lacks: '<script>',
  },
]);
