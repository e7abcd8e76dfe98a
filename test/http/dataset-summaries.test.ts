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
