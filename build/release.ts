/**
 * A release in build/out/release/: executables for every system, Debian packages, bill of materials, licences, checksums.
 *
 * Made from a commit and nothing else, so it refuses a changed tree. What cannot be made here is named at the end, and the
 * exit code is 1; what is there is whole. `bun run release linux-x64 …` makes only the systems named.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import type { ThirdParty } from '../src/cli/third-party.ts';
import { buildVersion, compile, withScratch, writeThirdParty } from './build.ts';
import { billOfMaterials } from './release/bill-of-materials.ts';
import { canMakePackages, licenseTexts, makeDebianPackage } from './release/debian-package.ts';
import { debianVersion, identityOf } from './release/identity.ts';
import type { SourceCommit } from './release/identity.ts';
import { isSignedWell, signAdHoc } from './release/mach-o-signature.ts';
import { executableKind, executableName, targets } from './release/targets.ts';
import type { Target } from './release/targets.ts';
import { tryToRun } from './release/trial.ts';
import { root } from './step.ts';

const RELEASE = join(root, 'build', 'out', 'release');
const { version } = manifest;

interface Outcome {
  readonly name: string;
  /** Null when it was made. */
  readonly problem: string | null;
  readonly note: string;
}

async function release(chosen: readonly Target[]): Promise<boolean> {
  const identity = identityOf(version);
  rmSync(RELEASE, { recursive: true, force: true });
  mkdirSync(RELEASE, { recursive: true });
  const outcomes: Outcome[] = [];
  await withScratch('release-parts', async (scratch) => {
    const thirdPartyFile = await writeThirdParty(scratch);
    const parties = (await Bun.file(thirdPartyFile).json()) as ThirdParty[];
    await Bun.write(join(RELEASE, `svc-${version}.cdx.json`), billOfMaterials(identity, parties));
    await Bun.write(join(RELEASE, `svc-${version}-licenses.txt`), licenseTexts(parties));
    for (const target of chosen) outcomes.push(await executable(target, thirdPartyFile));
    const made = chosen.filter((_, at) => outcomes[at]!.problem === null);
    for (const target of made) {
      if (target.debian !== null) outcomes.push(await debian(target, identity, parties));
    }
  });
  await writeChecksums();
  report(outcomes);
  return outcomes.every(({ problem }) => problem === null);
}

async function executable(target: Target, thirdPartyFile: string): Promise<Outcome> {
  const name = executableName(target, version);
  const to = join(RELEASE, name);
  try {
    await compile({ target: target.runtime, thirdPartyFile, to });
  } catch (error) {
    return { name, problem: `not built: ${messageOf(error)}`, note: '' };
  }
  const kind = executableKind(to);
  if (kind !== target.kind) {
    rmSync(to);
    return { name, problem: `built, but as ${kind}`, note: '' };
  }
  if (kind.startsWith('Mach-O') && !isSignedWell(to)) signAdHoc(to, 'svc');
  return { name, problem: null, note: `${kind}; ${tryToRun(to, `svc ${buildVersion()}`)}` };
}

async function debian(
  target: Target,
  identity: SourceCommit,
  parties: readonly ThirdParty[],
): Promise<Outcome> {
  const architecture = target.debian!;
  const name = `svc_${debianVersion(identity)}_${architecture}.deb`;
  if (!canMakePackages()) return { name, problem: 'not built: there is no dpkg-deb', note: '' };
  try {
    await withScratch(`debian-${architecture}`, async (scratch) =>
      makeDebianPackage({
        executable: join(RELEASE, executableName(target, version)),
        architecture,
        version: debianVersion(identity),
        committed: identity.committed,
        parties,
        compression: 'xz',
        scratch,
        to: RELEASE,
      }),
    );
    return { name, problem: null, note: '' };
  } catch (error) {
    return { name, problem: `not built: ${messageOf(error)}`, note: '' };
  }
}

/** The form `sha256sum -c` reads. */
async function writeChecksums(): Promise<void> {
  const lines: string[] = [];
  for (const name of readdirSync(RELEASE).sort()) {
    const hasher = new Bun.CryptoHasher('sha256');
    for await (const chunk of Bun.file(join(RELEASE, name)).stream()) hasher.update(chunk);
    lines.push(`${hasher.digest('hex')}  ${name}\n`);
  }
  await Bun.write(join(RELEASE, 'SHA256SUMS'), lines.join(''));
}

function report(outcomes: readonly Outcome[]): void {
  console.log(`\nbuild/out/release, ${buildVersion()}`);
  for (const name of readdirSync(RELEASE).sort()) {
    const megabytes = (statSync(join(RELEASE, name)).size / 1e6).toFixed(1);
    const note = outcomes.find((outcome) => outcome.name === name)?.note ?? '';
    console.log(`  ${name.padEnd(44)} ${megabytes.padStart(6)} MB  ${note}`);
  }
  for (const { name, problem } of outcomes) {
    if (problem !== null) console.log(`  ${name.padEnd(44)} ${problem}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !targets.some((target) => target.name === name));
try {
  if (unknown.length > 0) {
    throw new Error(
      `${unknown.join(', ')}: choose of ${targets.map(({ name }) => name).join(', ')}`,
    );
  }
  const chosen = targets.filter(({ name }) => names.length === 0 || names.includes(name));
  process.exitCode = (await release(chosen)) ? 0 : 1;
} catch (error) {
  console.error(`No release: ${messageOf(error)}`);
  process.exitCode = 1;
}
