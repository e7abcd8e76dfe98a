/** Texts with placeholders, and what is refused of a definition before it is kept. */
import { describe, expect, test } from 'bun:test';
import { checkDeliveries } from '../../src/deliveries/check.ts';
import {
  faultOfTemplate,
  filledJson,
  filledText,
  filledValue,
  valuesOf,
} from '../../src/deliveries/template.ts';
import { ALERT_SAMPLE } from '../../src/findings/finding-message.ts';
import { defaultConfig } from '../../src/config/settings.ts';

const sample = valuesOf(ALERT_SAMPLE, { uid: 'u', number: 1, baseUrl: 'https://svc.example' });

describe('a template', () => {
  test('gets every value, escaped where it stands in a string of JSON', () => {
    const values = {
      ...sample,
      title: 'a "b"\\\n\u2028{{key}}',
      row: { 'src ip': '::1', n: 3, o: { p: [1] } },
    };
    const filled = filledJson(
      '{"{{key}}": "{{ title }}", "n": {{row.n}}, "o": {{row.o}}, "q": "\\"{{row.n}}"}',
      values,
    );
    expect(JSON.parse(filled)).toEqual({
      '203.0.113.9': 'a "b"\\\n\u2028{{key}}',
      n: 3,
      o: { p: [1] },
      q: '"3',
    });
    expect(filledText('{{row.src ip}} {{row.o}} {{row.none}}|{{link}}', values)).toBe(
      '::1 {"p":[1]} |https://svc.example/ui/findings/1',
    );
    expect([filledValue(' {{row.n}} ', values), filledValue('n={{row.n}}', values)]).toEqual([
      3,
      'n=3',
    ]);
    expect(filledText('{{row.__proto__}}{{constructor.name}}', values)).toBe('');
  });

  test.each([
    ['{{alert.nmae}}', false, 1, 'did you mean {{alert.name}}?'],
    ['a\nb {{severty}}', false, 2, 'did you mean {{severity}}?'],
    ['{{whatever}}', false, 1, 'there are alert.id,'],
    ['{{title', false, 1, 'begins with {{ and ends with }}'],
    ['{"a": {{title}},\n "b": }', true, 2, 'no JSON from here on'],
    ['{"a": "{{title}}"', true, 1, 'no JSON from here on'],
  ])('%p is refused', (template, isJson, line, text) => {
    expect(faultOfTemplate(template, sample, { isJson })).toEqual({
      line,
      text: expect.stringContaining(text),
    });
  });

  test.each([
    ['{{row.anything at all}} {{delivery.repeat}} {{links.events}} {{row_count}}', false],
    ['{"a": {{rows}}, "b": "{{row.x}}", "c": {"d": {"e": {{row.y}}}}}', true],
  ])('%p is taken', (template, isJson) => {
    expect(faultOfTemplate(template, sample, { isJson })).toBeNull();
    if (isJson) JSON.parse(filledJson(template, sample));
  });
});

test('each mistake of a definition is told with its place and what would be right', () => {
  const { deliveries } = defaultConfig('/a', '/b');
  const settings = {
    ...deliveries,
    allowed_hosts: ['hooks.example.org'],
    secrets: { pager: 'env:X' },
    targets: { 'ops-chat': { url: 'https://x.example/', secret: null, headers: {} } },
  };
  const told = (given: unknown) => {
    const checked = checkDeliveries(given, { settings, sample: ALERT_SAMPLE });
    return 'problems' in checked
      ? checked.problems.map(
          ({ path, text, line }) => `${path.join('.')}${line === null ? '' : `:${line}`} ${text}`,
        )
      : [];
  };
  const url = 'https://hooks.example.org/';
  expect(
    told([
      { type: 'webhook', url },
      { type: 'webhook', target: 'ops-chat', format: 'slack' },
    ]),
  ).toEqual([]);
  expect(told('x')).toEqual([' must be a list of deliveries']);
  expect(
    told([
      { type: 'webhok', url },
      { type: 'webhook', ulr: url },
      { type: 'webhook', url, target: 'ops-chat' },
      { type: 'webhook', target: 'ops-chta' },
      { type: 'webhook', url, secret: 'pagr' },
      { type: 'webhook', url: 'http://127.0.0.1/' },
      { type: 'webhook', url, template: '{\n"a": {{titel}}}' },
      { type: 'email', to: ['a@b.example', 'nobody'] },
      { type: 'dataset', dataset: 'log', row: {} },
      { type: 'dataset', dataset: 'log', row: { a: 'x\n{{rwo.a}}' } },
      { type: 'index' },
    ]),
  ).toEqual([
    "0.type must be one of webhook, email, index, dataset; did you mean 'webhook'?",
    "1.ulr has the unknown key 'ulr'; did you mean 'url'?",
    '2.url needs either url, or target with a name of deliveries.targets',
    "3.target 'ops-chta' is not in deliveries.targets of the configuration; did you mean 'ops-chat'?",
    "4.secret 'pagr' is not in deliveries.secrets of the configuration; did you mean 'pager'?",
    '5.url the host 127.0.0.1 is not among deliveries.allowed_hosts of the configuration',
    '6.template:2 there is no placeholder {{titel}}; did you mean {{title}}?',
    "7.to.1 'nobody' is no e-mail address such as ops@example.org",
    '7.type e-mail needs deliveries.smtp.host in the configuration',
    '8.row must name at least one column',
    expect.stringMatching(/^9\.row\.a:2 there is no placeholder \{\{rwo\.a\}\}/),
    '10.index is missing',
  ]);
});
