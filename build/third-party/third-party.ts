/**
 * Everything by others that goes into the executable, with licences: the packages the bundler took, what those brought in
 * already bundled, and Bun. The build embeds it, the bill of materials lists it.
 *
 * A package without a licence text, or under a licence that is not on the list, stops the build.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackageURL } from 'packageurl-js';
import manifest from '../../package.json' with { type: 'json' };
import type { ThirdParty } from '../../src/cli/third-party.ts';
import { root } from '../step.ts';
import { bundledPackages } from './bundled-packages.ts';
import type { BundledPackage } from './bundled-packages.ts';
import { isAllowed, licenseText } from './licences.ts';
import { runtimeParts } from './runtime-parts.ts';

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** How manifests said it before npm 2; one of them may be chosen. */
  readonly licenses?: readonly { readonly type: string }[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Sorted by name, parts after their package. Throws with every package that may not be bundled, and why. */
export async function collectThirdParty(): Promise<ThirdParty[]> {
  const bundled = await bundledPackages();
  const locked = lockedChecksums();
  const problems: string[] = [];
  const found = bundled.flatMap((one) => {
    try {
      return [packageOf(one, locked), ...partsOf(one)];
    } catch (error) {
      problems.push(`${one.folder} ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  if (problems.length > 0) throw new Error(`not to be bundled:\n${problems.join('\n')}`);
  const names = new Set(found.filter(({ partOf }) => partOf === null).map(({ name }) => name));
  const linked = found.map((one) => ({ ...one, uses: one.uses.filter((name) => names.has(name)) }));
  return [...linked, ...runtimeParts()].sort(byPackage);
}

/** Name, licence and checksum of a bundled package. Throws when its licence is missing or not allowed. */
export function packageOf(
  { folder, files }: BundledPackage,
  locked: ReadonlyMap<string, string>,
  base: string = root,
): ThirdParty {
  const path = join(base, folder);
  const described = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as PackageManifest;
  const { name, version, licenses = [] } = described;
  const license = described.license ?? licenses.map(({ type }) => type).join(' OR ');
  if (!isNamedAllowed(license))
    throw new Error(`has the licence "${license}", which is not allowed`);
  const [scope, plain] = name.startsWith('@') ? name.split('/') : [null, name];
  const patches = manifest.patchedDependencies as Readonly<Record<string, string>>;
  return {
    name,
    version,
    license,
    text: licenseText(path, files),
    purl: new PackageURL('npm', scope, plain!, version, null, null).toString(),
    sha512: locked.get(folder.replaceAll('node_modules/', '')) ?? null,
    partOf: null,
    uses: Object.keys(described.dependencies ?? {}).sort(),
    patch: patches[`${name}@${version}`] ?? null,
  };
}

function isNamedAllowed(license: string): boolean {
  try {
    return isAllowed(license);
  } catch {
    // Not an SPDX expression, so nobody can tell what it allows.
    return false;
  }
}

/** Packages that were bundled into a file of this one, by its source map; their notices stand beside that file. */
function partsOf({ folder, files }: BundledPackage): ThirdParty[] {
  const partOf = folder.split('node_modules/').at(-1)!;
  const names = new Set<string>();
  for (const file of files) {
    const map = join(root, folder, `${file}.map`);
    if (!existsSync(map)) continue;
    const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: readonly string[] };
    for (const source of sources) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1];
      if (name !== undefined && name !== partOf) names.add(name);
    }
  }
  const unknown = { version: null, license: null, text: '', sha512: null, patch: null } as const;
  return [...names].map((name) => {
    const [scope, plain] = name.startsWith('@') ? name.split('/') : [null, name];
    const purl = new PackageURL('npm', scope, plain!, null, null, null).toString();
    return { ...unknown, name, purl, partOf, uses: [] };
  });
}

/** SHA-512 of the published archives, by the path of the package in bun.lock. */
function lockedChecksums(): Map<string, string> {
  const lock = Bun.JSONC.parse(readFileSync(join(root, 'bun.lock'), 'utf8')) as {
    packages: Readonly<Record<string, readonly unknown[]>>;
  };
  const checksums = new Map<string, string>();
  for (const [path, entry] of Object.entries(lock.packages)) {
    const integrity = entry.at(-1);
    if (typeof integrity !== 'string' || !integrity.startsWith('sha512-')) continue;
    checksums.set(path, Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'));
  }
  return checksums;
}

function byPackage(a: ThirdParty, b: ThirdParty): number {
  const key = ({ name, partOf }: ThirdParty): string =>
    partOf === null ? `${name}\0` : `${partOf}\0${name}`;
  return key(a) < key(b) ? -1 : 1;
}

if (import.meta.main) await Bun.write(process.argv[2]!, JSON.stringify(await collectThirdParty()));
