/**
 * The shape of the source: who imports whom, what has to be listed, how files are named.
 *
 * Read from the files themselves, so a rule holds for code nobody has written a test for.
 */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dir, '..');
const sources = [...new Bun.Glob('{src,plugins}/**/*.{ts,tsx}').scanSync({ cwd: root })].sort();

interface Import {
  readonly file: string;
  /** A file of the project relative to its root, or the name of a package. */
  readonly target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const loader = file.endsWith('x') ? 'tsx' : 'ts';
  const scanned = new Bun.Transpiler({ loader }).scanImports(text).map(({ path }) => path);
  // The scanner leaves out what exists for types only.
  const statements = text.matchAll(/^(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const inTypes = text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g);
  const written = [...statements, ...inTypes].map((match) => match[1]!);
  return [...new Set([...scanned, ...written])].map((path) => ({
    file,
    target: path.startsWith('.') ? relative(root, resolve(root, dirname(file), path)) : path,
  }));
}

const imports = sources.flatMap(importsOf);

function offending(isWrong: (one: Import) => boolean): string[] {
  return imports.filter(isWrong).map(({ file, target }) => `${file} imports ${target}`);
}

describe('who may import whom', () => {
  // Lowest first: a part may import any part of the rows before its own; within a row nobody sees anybody.
  const rows = [
    ['base'],
    ['config', 'columns'],
    ['store', 'processes'],
    ['tables', 'accounts'],
    ['deliveries'],
    ['findings'],
    ['alerts'],
    ['docroot', 'events', 'language', 'fulltext', 'handlers'],
    ['backup', 'feed', 'event-queries.ts'],
    ['app.ts', 'workers.ts'],
    ['operations'],
    ['http'],
    ['api'],
    ['pages'],
    ['mcp', 'syslog'],
    ['routes.ts'],
    ['serve.ts'],
    ['cli'],
    ['browser'],
    ['main.ts'],
  ];

  const partOf = (path: string): string | null => /^src\/([^/]+)/.exec(path)?.[1] ?? null;
  const rowOf = (part: string): number => rows.findIndex((row) => row.includes(part));

  test('every part of src/ has a place in the order', () => {
    const parts = new Set(sources.map(partOf).filter((part) => part !== null));
    expect([...parts].filter((part) => rowOf(part) < 0)).toEqual([]);
  });

  test('imports point downwards', () => {
    const wrong = offending(({ file, target }) => {
      const from = partOf(file);
      const to = partOf(target);
      if (from === null || to === null || from === to) return false;
      return rowOf(to) >= rowOf(from);
    });
    expect(wrong).toEqual([]);
  });

  test("the browser's scripts share only small tools, values of datasets, the grid's terms and the shape of dashboards with the server", () => {
    const wrong = offending(
      ({ file, target }) =>
        file.startsWith('src/browser/') &&
        target.startsWith('src/') &&
        !/^src\/(?:(?:browser|base|tables|pages\/grid)\/|docroot\/dashboard\.ts$)/.test(target),
    );
    expect(wrong).toEqual([]);
  });

  test('plugins see base, tables, the nearest name and the plugin contract, and only app.ts and workers.ts see plugins', () => {
    const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');
    const wrong = offending(({ file, target }) => {
      const isPlugin = file.startsWith('plugins/');
      if (target.startsWith('plugins/')) {
        const isOwn = folderOf(file) === folderOf(target) || file === 'plugins/index.ts';
        return isPlugin ? !isOwn : !/^src\/(?:app|workers)\.ts$/.test(file);
      }
      if (!isPlugin || !target.startsWith('src/')) return false;
      return !/^src\/(?:base\/|tables\/|config\/nearest-name\.ts$|docroot\/(?:kind|dashboard)\.ts$|alerts\/definition\.ts$)/.test(
        target,
      );
    });
    expect(wrong).toEqual([]);
  });

  test('elysia is imported by the doors and in the host of handlers only', () => {
    const wrong = offending(
      ({ file, target }) =>
        /^(?:elysia|@elysiajs)(?:\/|$)/.test(target) &&
        !/^src\/(?:(?:http|api|pages|mcp|handlers\/host)\/|routes\.ts$)/.test(file),
    );
    expect(wrong).toEqual([]);
  });

  test('no files reach each other in a circle, also not by types', () => {
    const targets = Map.groupBy(imports, ({ file }) => file);
    const done = new Set<string>();
    const circles: string[] = [];
    const follow = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' > '));
      if (done.has(file)) return;
      done.add(file);
      for (const { target } of targets.get(file) ?? []) follow(target, [...way, file]);
    };
    for (const file of sources) follow(file, []);
    expect(circles).toEqual([]);
  });

  test('imports name the file they mean, with its extension, and it exists', () => {
    const wrong = offending(
      ({ target }) => /^(?:src|plugins)\//.test(target) && !existsSync(join(root, target)),
    );
    expect(wrong).toEqual([]);
  });

  test('no file imports itself by way of others', () => {
    // What imports nothing of the rest is in no circle, again and again; what stays is in one or leads to one.
    const left = new Set(sources);
    for (let size = -1; size !== left.size;) {
      size = left.size;
      const bound = new Set(imports.flatMap(({ file, target }) => (left.has(target) ? file : [])));
      for (const file of left) if (!bound.has(file)) left.delete(file);
    }
    expect([...left]).toEqual([]);
  });

  test('the program imports nothing of its tests, tools and benchmarks', () => {
    expect(offending(({ target }) => /^(?:test|build|bench)\//.test(target))).toEqual([]);
  });
});

describe('adding one thing in one place', () => {
  const lists = [
    'plugins',
    'src/cli/commands',
    'src/accounts/identity/methods',
    'src/store/migrations',
    'src/pages/admin/nouns',
    'src/language/commands',
    'src/events/intake/dialects',
    'src/mcp/tools',
  ];

  test.each(lists)('the list of %s names every sibling', (folder) => {
    if (!existsSync(join(root, folder))) return;
    const list = `${folder}/index.ts`;
    const named = imports
      .filter(({ file }) => file === list)
      .map(({ target }) => target.split('/'));
    const names = new Set(named.map((path) => path[folder.split('/').length]));
    const siblings = readdirSync(join(root, folder)).filter((name) => name !== 'index.ts');
    expect(siblings.filter((name) => !names.has(name))).toEqual([]);
  });

  test('nothing is exported on behalf of another file', () => {
    const reExports = /^export\s+(?:\*|(?:type\s+)?\{[^}]*\})\s*(?:from|;|$)/m;
    const wrong = sources.filter((file) => reExports.test(read(file)));
    expect(wrong).toEqual([]);
  });
});

describe('what every file says about itself', () => {
  test('files are named in kebab-case by a noun that means something', () => {
    const vague = /^(?:utils?|helpers?|common|misc|managers?|services?)$/;
    const wrong = sources.filter((file) => {
      const name = basename(file).replace(/(?:\.d)?\.tsx?$/, '');
      return !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || vague.test(name);
    });
    expect(wrong).toEqual([]);
  });

  test('rules of the contract are cited in tests; the source gives the reason itself', () => {
    expect(sources.filter((file) => /\b(?:DS|EV|SL)-\d/.test(read(file)))).toEqual([]);
  });

  test('what is exported is used elsewhere', () => {
    const wrong = sources.flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?(?:const|let|function\*?) (\w+)/gm)]
        .map((match) => match[1]!)
        .filter((name) => usersOf(name).every((user) => user === file))
        .map((name) => `${file} ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('exports are named', () => {
    expect(sources.filter((file) => /^export default\b/m.test(read(file)))).toEqual([]);
  });

  test('only main.ts ends the process', () => {
    const enders = sources.filter((file) => /\bprocess\.exit\(/.test(read(file)));
    expect(enders.filter((file) => file !== 'src/main.ts')).toEqual([]);
  });
});

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

let users: Map<string, string[]> | null = null;

/** The files, those of tests and tools too, in whose code the name stands. */
function usersOf(name: string): readonly string[] {
  if (users === null) {
    users = new Map();
    const files = new Bun.Glob('{src,plugins,test,bench,build}/**/*.{ts,tsx}').scanSync({
      cwd: root,
    });
    for (const file of files) {
      const code = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      for (const word of new Set(code.match(/\w+/g))) {
        const known = users.get(word);
        if (known === undefined) users.set(word, [file]);
        else known.push(file);
      }
    }
  }
  return users.get(name) ?? [];
}

/** `file:line name` of each export without a docstring directly above; overloads share the one of the first. */
