/** Facets and charts of the dataset page: for those who may read the rows, of the rows that match. */
import { scenarios } from '../support/scenarios.ts';

const csv = 'name,price\ncup,1\ncup,2\nplate,10\n,\n';
const facets = '/ui/a/?summary=facets&column=name';

scenarios('the summary of a dataset', { files: { 'a.csv': csv } }, [
  { name: 'needs a sign-in', actor: 'anonymous', path: facets, status: 401, lacks: 'cup' },
  { name: 'needs a right', actor: 'stranger', path: facets, status: 403, lacks: 'cup' },
  {
    name: 'counts the values of a column',
    actor: ['reader', 'writer', 'superuser'],
    path: facets,
    status: 200,
    json: {
      rows: 4,
      blanks: 1,
      distinct: 2,
      isDistinctBound: false,
      top: [
        { value: 'cup', rows: 2 },
        { value: 'plate', rows: 1 },
      ],
      min: 'cup',
      max: 'plate',
      mean: null,
      histogram: [],
      isPartial: false,
    },
  },
  {
    name: 'is of the rows that match',
    actor: 'reader',
    path: '/ui/a/?summary=chart&type=bar&x=name&y=price&measure=sum&filter={"name":"cup"}',
    status: 200,
    json: {
      axis: 'text',
      points: [{ x: 'cup', y: 3 }],
      rows: 2,
      skipped: 0,
      note: '',
      isPartial: false,
    },
  },
  {
    name: 'takes one column for both axes',
    actor: 'reader',
    path: '/ui/a/?summary=chart&type=scatter&x=price&y=price',
    status: 200,
    contains: '{"x":10,"y":10}',
  },
  {
    name: 'refuses a column that is not there',
    actor: 'reader',
    path: '/ui/a/?summary=facets&column=nothing',
    status: 422,
    contains: "unknown column 'nothing'",
  },
  {
    name: 'refuses row ids, no column and other kinds',
    actor: 'reader',
    path: '/ui/a/?summary=facets&column=_row_id',
    status: 422,
    contains: 'a column of the file is needed',
  },
  {
    name: 'refuses charts it does not know',
    actor: 'reader',
    path: '/ui/a/?summary=chart&type=pie&x=name',
    status: 422,
    contains: 'string_pattern_mismatch',
  },
]);

const dated = 'tag,n\n31.12.2023,1\n1.2.2024,2\n,9\n15.1.2024,3\n1.2.2024,4\n';

scenarios('the summary of dates as the file spells them (DS-212)', { files: { 'd.csv': dated } }, [
  {
    name: 'has the first and the last by time, and values as they are spelled',
    actor: 'reader',
    path: '/ui/d/?summary=facets&column=tag',
    status: 200,
    contains: [
      '"min":"31.12.2023","max":"1.2.2024"',
      '"top":[{"value":"1.2.2024","rows":2}',
      '"blanks":1',
    ],
  },
  {
    name: 'has bars in the order of time',
    actor: 'reader',
    path: '/ui/d/?summary=chart&type=bar&x=tag&y=n&measure=sum',
    status: 200,
    contains: '"points":[{"x":"31.12.2023","y":1},{"x":"15.1.2024","y":3},{"x":"1.2.2024","y":6}]',
  },
  {
    name: 'has lines over time',
    actor: 'reader',
    path: '/ui/d/?summary=chart&type=line&x=tag&y=n&measure=sum',
    status: 200,
    json: {
      axis: 'time',
      points: [
        { x: Date.UTC(2023, 11, 31), y: 1 },
        { x: Date.UTC(2024, 0, 15), y: 3 },
        { x: Date.UTC(2024, 1, 1), y: 6 },
      ],
      rows: 4,
      skipped: 1,
      note: '',
      isPartial: false,
    },
  },
]);
