/**
 * The Debian package of one executable, written by dpkg-deb so that Debian's own tool vouches for its form.
 *
 * Files belong to root without fakeroot, and their times are the commit's: the same files give the same package.
 */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import type { ThirdParty } from '../../src/cli/third-party.ts';
import { root } from '../step.ts';
import { bashCompletion, manualPage } from './manual.ts';

/** What a package is made of. */
interface DebianPackage {
  readonly executable: string;
  /** Debian's name of the processor. */
  readonly architecture: 'amd64' | 'arm64';
  readonly version: string;
  /** When the source was committed. */
  readonly committed: Date;
  readonly parties: readonly ThirdParty[];
  /** `xz` is small and takes a minute, `none` is for tests. */
  readonly compression: 'xz' | 'none';
  /** An empty folder for the files. */
  readonly scratch: string;
  /** Folder the package is put into. */
  readonly to: string;
}

/** Oldest C library that Bun runs on. */
const DEPENDS = 'adduser, libc6 (>= 2.17)';
const SCRIPTS = ['postinst', 'prerm', 'postrm'] as const;
const CONFIG = 'etc/svc/config.yaml';

/** Whether packages can be made here. */
export function canMakePackages(): boolean {
  return Bun.which('dpkg-deb') !== null;
}

/** Makes `svc_<version>_<architecture>.deb` and answers its path. Throws with what dpkg-deb says. */
export function makeDebianPackage(of: DebianPackage): string {
  const put = (path: string, content: string | Uint8Array, mode = 0o644): void => {
    const file = join(of.scratch, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
  };
  putProgram(of);
  for (const [path, content] of Object.entries(filesOf(of))) put(path, content);
  put('DEBIAN/control', control(of, installedKilobytes(of.scratch)));
  put('DEBIAN/conffiles', `/${CONFIG}\n`);
  put('DEBIAN/md5sums', checksums(of.scratch));
  for (const name of SCRIPTS) put(`DEBIAN/${name}`, readFileSync(packaging(name)), 0o755);
  openFolders(of.scratch);
  const target = join(of.to, `${manifest.name}_${of.version}_${of.architecture}.deb`);
  pack(of, target);
  return target;
}

function putProgram({ executable, scratch }: DebianPackage): void {
  const program = join(scratch, 'usr/bin/svc');
  mkdirSync(dirname(program), { recursive: true });
  try {
    linkSync(executable, program);
  } catch {
    // Another file system.
    copyFileSync(executable, program);
  }
  chmodSync(program, 0o755);
}

/** Every other file of the package by its path. */
function filesOf({
  version,
  committed,
  parties,
}: DebianPackage): Record<string, string | Uint8Array> {
  const doc = 'usr/share/doc/svc';
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  return {
    [CONFIG]: readFileSync(packaging('config.yaml')),
    [`${doc}/examples/config.yaml`]: read('systemd/svc.yaml'),
    'usr/lib/systemd/system/svc.service': packagedUnit(read('systemd/svc.service')),
    'usr/share/man/man1/svc.1.gz': packed(manualPage(version, committed)),
    'usr/share/bash-completion/completions/svc': bashCompletion(),
    'usr/share/lintian/overrides/svc': readFileSync(packaging('lintian-overrides')),
    [`${doc}/copyright`]: copyright(read('LICENSE')),
    [`${doc}/changelog.gz`]: packed(changelog(version, committed)),
    [`${doc}/CHANGELOG.md.gz`]: packed(read('CHANGELOG.md')),
    [`${doc}/README.md.gz`]: packed(read('README.md')),
    [`${doc}/third-party-licenses.gz`]: packed(licenseTexts(parties)),
  };
}

/** The unit with the executable where packages put one, for a folder that need not be there. */
export function packagedUnit(unit: string): string {
  const changes = [
    [/^# svc as a system service\.(?:.*\n#)+.*\n/m, ''],
    ['[Unit]\n', '[Unit]\nDocumentation=man:svc(1)\n'],
    ['/usr/local/bin/svc', '/usr/bin/svc'],
    ['ReadWritePaths=/srv/svc', 'ReadWritePaths=-/srv/svc'],
  ] as const;
  return changes.reduce((text, [from, to]) => {
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`the unit has no ${from}`);
    return changed;
  }, unit);
}

function control({ version, architecture }: DebianPackage, kilobytes: number): string {
  return `Package: ${manifest.name}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${manifest.author}
Installed-Size: ${kilobytes}
Depends: ${DEPENDS}
Suggests: python3-fastapi, python3-uvicorn
Section: web
Priority: optional
Description: publishes a folder as authenticated APIs and pages
 Every CSV file, worksheet and Parquet file of a folder is an API: typed,
 filtered, sorted, paged, searched, and edited in place. Documents, images and
 films are pages and downloads under the same accounts; log events are taken in
 the protocols that shippers speak.
 .
 The service listens on this machine only until /etc/svc/config.yaml says
 otherwise, and publishes /srv/svc.
`;
}

function copyright(license: string): string {
  const [, holder = ''] = /^Copyright \(c\) (.+)$/m.exec(license) ?? [];
  const terms = license.slice(license.indexOf('Permission is')).trim();
  const indented = terms.split('\n').map((line) => (line === '' ? ' .' : ` ${line}`));
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${manifest.name}
Comment: What others wrote and is inside the executable is listed with its licences in third-party-licenses.gz beside this
 file, and by \`svc licenses\`.

Files: *
Copyright: ${holder}
License: Expat
${indented.join('\n')}
`;
}

function changelog(version: string, committed: Date): string {
  return `${manifest.name} (${version}) unstable; urgency=medium

  * What changed for users stands in CHANGELOG.md.gz.

 -- ${manifest.author}  ${committed.toUTCString().replace('GMT', '+0000')}
`;
}

/** All licences as one text. */
export function licenseTexts(parties: readonly ThirdParty[]): string {
  return parties
    .filter(({ license }) => license !== null)
    .map(({ name, version, license, partOf, text }) => {
      const where = partOf === null ? '' : ` (part of ${partOf})`;
      return `${name}${version === null ? '' : ` ${version}`}${where}: ${license}\n\n${text.trim()}\n`;
    })
    .join(`\n${'-'.repeat(78)}\n\n`);
}

function packaging(name: string): string {
  return join(import.meta.dir, 'debian', name);
}

function packed(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('DEBIAN/'))
    .sort();
}

function installedKilobytes(folder: string): number {
  const bytes = filesBelow(folder).map((path) => statSync(join(folder, path)).size);
  return bytes.reduce((sum, size) => sum + Math.ceil(size / 1024), 0);
}

function checksums(folder: string): string {
  return filesBelow(folder)
    .filter((path) => path !== CONFIG)
    .map((path) => {
      const digest = new Bun.CryptoHasher('md5').update(readFileSync(join(folder, path)));
      return `${digest.digest('hex')}  ${path}\n`;
    })
    .join('');
}

/** Folders as Debian wants them, whatever the umask was. */
function openFolders(folder: string): void {
  chmodSync(folder, 0o755);
  for (const found of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (found.isDirectory()) chmodSync(join(found.parentPath, found.name), 0o755);
  }
}

function pack({ scratch, compression, committed }: DebianPackage, target: string): void {
  const level = compression === 'xz' ? ['-z6'] : [];
  const args = ['--root-owner-group', `-Z${compression}`, ...level, '--build', scratch, target];
  const { exitCode, stderr } = Bun.spawnSync(['dpkg-deb', ...args], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(committed.getTime() / 1000)) },
    stdout: 'ignore',
    stderr: 'pipe',
  });
  if (exitCode !== 0) throw new Error(`dpkg-deb: ${stderr.toString().trim()}`);
}
