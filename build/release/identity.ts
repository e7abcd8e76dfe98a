/**
 * Which commit a release is made from, and the version its Debian package has.
 */
import { root } from '../step.ts';
import type { ReleaseIdentity } from './bill-of-materials.ts';

/** A release's identity and whether it is the tagged one of its version. */
export interface SourceCommit extends ReleaseIdentity {
  readonly isTagged: boolean;
}

/** The commit that is checked out. Throws outside of a repository and when anything differs from the commit. */
export function identityOf(version: string): SourceCommit {
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new Error(`there are changes that are not committed:\n${changes}`);
  return {
    version,
    commit: git('rev-parse', 'HEAD'),
    committed: new Date(git('show', '--no-patch', '--format=%cI', 'HEAD')),
    isTagged: git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`),
  };
}

/**
 * `0.3.0` for the commit with the tag `v0.3.0`; before it `0.3.0~20260102030405.1a2b3c4d5e6f`, which Debian sorts below, by
 * the time of the commit.
 */
export function debianVersion(identity: SourceCommit): string {
  const { version, commit, committed, isTagged } = identity;
  if (isTagged) return version;
  const time = committed.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `${version}~${time}.${commit.slice(0, 12)}`;
}

function git(...args: string[]): string {
  if (Bun.which('git') === null) throw new Error('there is no git to tell the commit');
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', ...args], { cwd: root });
  if (exitCode !== 0) throw new Error(stderr.toString().trim());
  return stdout.toString().trim();
}
