import { expect, test } from 'bun:test';
import { nearestName, suggestion } from '../../src/config/nearest-name.ts';

const names = ['host', 'port', 'public_url', 'readonly'];

test.each([
  ['prot', 'port'],
  ['HOST', 'host'],
  ['publicurl', 'public_url'],
  ['read_only', 'readonly'],
  ['hos', 'host'],
])('%s means %s', (typed, meant) => {
  expect(nearestName(typed, names)).toBe(meant);
});

test.each([
  ['the empty text', ''],
  ['a letter', 'x'],
  ['another word', 'elephant'],
  ['a very long text', 'x'.repeat(10_000)],
])('%s means nothing known', (_, typed) => {
  expect(nearestName(typed, names)).toBeNull();
  expect(suggestion(typed, names)).toBe('');
});

test('a suggestion ends a message', () => {
  expect(suggestion('prot', names)).toBe("; did you mean 'port'?");
});
