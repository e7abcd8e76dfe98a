/**
 * What Bun itself brings into every executable: the libraries it links and the packages it embeds.
 *
 * Read from the page that comes with Bun's types in the same version. It names the licences and holds no texts, so the
 * standard text of each licence stands in; copyright lines of the parts are known to Bun alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import texts from 'spdx-license-list/full';
import type { ThirdParty } from '../../src/cli/third-party.ts';
import { root } from '../step.ts';

const PAGE = 'node_modules/bun-types/docs/project/license.mdx';
const MANIFEST = 'node_modules/bun-types/package.json';
const RELINKING = `Bun links JavaScriptCore and tinycc, which are under the LGPL. Who changes them can build a Bun with the change,
as told below, and from the source of svc the same program over it: bun build --compile --compile-executable-path=<bun>.`;

/** What the page calls a licence, and its SPDX expression. A part under any other name stops the build. */
const LICENSES: Readonly<Record<string, string>> = {
  'Apache 2.0': 'Apache-2.0',
  'Apache 2.0 licensed': 'Apache-2.0',
  'BSD 2-Clause': 'BSD-2-Clause',
  'BSD 2-Clause (portions derived from libpng, PNG Reference Library License v2)':
    'BSD-2-Clause AND libpng-2.0',
  'BSD 3-Clause': 'BSD-3-Clause',
  'BSD 3-Clause / IJG / zlib': 'BSD-3-Clause AND IJG AND Zlib',
  'ICU license': 'Unicode-3.0',
  'LGPL v2.1': 'LGPL-2.1-only',
  MIT: 'MIT',
  'MIT (bundled xxhash is BSD 2-Clause)': 'MIT AND BSD-2-Clause',
  'MIT (portions derived from Chromium proto-quic, BSD 3-Clause)': 'MIT AND BSD-3-Clause',
  'MIT licensed': 'MIT',
  'dual-licensed under CC0 1.0 or the BSD 2-Clause License': 'CC0-1.0 OR BSD-2-Clause',
  'dual-licensed under the BSD License or GPLv2 license': 'BSD-3-Clause OR GPL-2.0-only',
  'dual-licensed under the Perl License or the MIT License': 'MIT OR Artistic-1.0-Perl',
  'public domain': 'blessing',
  // BoringSSL and libarchive: files under different ones of the permissive licences.
  'several licenses': 'LicenseRef-several',
  zlib: 'Zlib',
};

/** Names under which `process.versions` knows a part that the page calls otherwise. */
const VERSION_KEYS: Readonly<Record<string, string>> = {
  'c-ares': 'ares',
  JavaScriptCore: 'webkit',
  libicu: 'icu',
  libuv: 'uv',
  'lol-html': 'lolhtml',
  'ls-hpack': 'lshpack',
  picohttp: 'picohttpparser',
  uSockets: 'usockets',
  uWebsockets: 'uwebsockets',
  'zlib-ng': 'zlib',
};

/** Bun and its parts, as far as known. Throws when the page is of another version, or names a licence nobody looked at. */
export function runtimeParts(): ThirdParty[] {
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST), 'utf8')) as { version: string };
  if (manifest.version !== Bun.version) {
    throw new Error(`bun-types is ${manifest.version}, but this is Bun ${Bun.version}`);
  }
  const page = readFileSync(join(root, PAGE), 'utf8')
    .replace(/^---\n.*?\n---\n/s, '')
    .trim();
  const whole: ThirdParty = {
    name: 'bun',
    version: Bun.version,
    license: 'MIT',
    text: `${standardText('MIT')}\n\n${RELINKING}\n\n${page}`,
    purl: `pkg:npm/bun@${Bun.version}`,
    sha512: null,
    partOf: null,
    uses: [],
    patch: null,
  };
  return [whole, part('JavaScriptCore', 'LGPL-2.0-or-later', ''), ...tableParts(page)];
}

function tableParts(page: string): ThirdParty[] {
  const rows = [...page.matchAll(/^\| (?<name>\S.*?) +\| (?<license>\S.*?) +\|$/gm)]
    .map(({ groups }) => ({ name: groups!['name']!, license: groups!['license']! }))
    .filter(({ name }) => !['Library', 'Package'].includes(name) && !name.startsWith('---'));
  if (rows.length < 40)
    throw new Error(`${PAGE} has another form: only ${rows.length} parts found`);
  return rows.map(({ name: label, license: phrase }) => {
    const [, words, url] = /\[(.+?)\]\((.+?)\)/.exec(label) ?? [null, label, ''];
    const said = phrase.replace(/\[(.+?)\]\(.+?\)/g, '$1');
    const expression = LICENSES[said];
    if (expression === undefined) throw new Error(`${PAGE}: licence of ${label} is "${said}"`);
    return part(words!.replaceAll('`', ''), expression, [url, ...linksOf(phrase)].join('\n'));
  });
}

function linksOf(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((.+?)\)/g)].map((match) => match[1]!);
}

function part(name: string, license: string, links: string): ThirdParty {
  const known = process.versions as Readonly<Record<string, string | undefined>>;
  const texts = [...license.matchAll(/[\w.-]+/g)]
    .map(([word]) => word)
    .filter((word) => word !== 'AND' && word !== 'OR' && !word.startsWith('LicenseRef-'));
  return {
    name,
    version: known[VERSION_KEYS[name] ?? name] ?? null,
    license,
    text: [links, ...texts.map(standardText)].join('\n\n').trim(),
    purl: null,
    sha512: null,
    partOf: 'bun',
    uses: [],
    patch: null,
  };
}

function standardText(id: string): string {
  const known = texts[id];
  if (known === undefined) throw new Error(`there is no standard text of ${id}`);
  return `${known.name} (standard text)\n\n${known.licenseText.trim()}`;
}
