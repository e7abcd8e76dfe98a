/** The section `deliveries` of a configuration: mistakes have their line, secrets that are missing are told. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const check = async (yaml: string, files: Readonly<Record<string, string>> = {}) => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'data'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const text = yaml.replaceAll('FOLDER', folder.path);
  writeFileSync(join(folder.path, 'a.yaml'), text);
  const { code, out, err } = await run(['check', 'data', '--config', 'a.yaml'], {
    cwd: folder.path,
    env: { FULL_KEY: 'x' },
  });
  return { code, text: `${out}${err}`.replaceAll(folder.path, 'FOLDER') };
};

test.each([
  ['allowed_hosts: [https://x.example/]', 2, /a host name without scheme, port or path/],
  ['private_networks: [10.0.0.0/99]', 2, /an IP address or a CIDR block/],
  ['secrets: { pager: sesame }', 2, /under 'pager' env:<variable> or file:<\/absolute\/path>/],
  ['secrets: { pager: file:key }', 2, /under 'pager' env:/],
  [
    'targets: { chat: { ulr: https://x.example/ } }',
    2,
    /unknown key 'ulr' under 'chat'; did you mean 'url'\?/,
  ],
  ['targets: { chat: { url: x.example } }', 2, /needs under 'chat' a url/],
  [
    'targets: { chat: { url: https://x.example/, headers: { Svc-Repeat: env:A } } }',
    2,
    /cannot set the header 'Svc-Repeat'/,
  ],
  ['smtp: { host: mail.example }', 2, /deliveries\.smtp\.host needs deliveries\.smtp\.from/],
  ['smtp: { host: mail.example, from: nobody }', 2, /an e-mail address such as/],
  ['smtp: { host: m.example, from: a@b.example, username: u }', 2, /belong together/],
  [
    'smtp: { host: m.example, from: a@b.example, username: u, password: env:A, security: none }',
    2,
    /in the clear/,
  ],
  ['smtp: { password: sesame }', 2, /must be env:<variable> or file:/],
  ['allowed_host: [x.example]', 2, /did you mean 'deliveries\.allowed_hosts'\?/],
])('%s', async (line, code, text) => {
  const found = await check(`deliveries:\n  ${line}\n`);
  expect(found.text).toMatch(text);
  expect(found.text).toContain('a.yaml:2');
  // What was given may be the secret.
  expect(found.text).not.toContain('sesame');
  expect(found.code).toBe(code);
});

test('svc check warns of secrets that are not there, without telling where they should be', async () => {
  const yaml = `deliveries:
  secrets: { full: env:FULL_KEY, empty: env:EMPTY_KEY, file: file:FOLDER/key, none: file:FOLDER/none }
`;
  const { code, text } = await check(yaml, { key: 'k\n' });
  const warnings = text.split('\n').filter((line) => line.startsWith('WARNING'));
  expect([code, warnings]).toEqual([
    0,
    [
      'WARNING: deliveries.secrets.empty of the configuration is empty: the variable EMPTY_KEY holds nothing',
      'WARNING: deliveries.secrets.none of the configuration stands in a file that cannot be read',
    ],
  ]);
});
