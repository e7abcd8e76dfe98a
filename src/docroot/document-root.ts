/**
 * The published folder as a place on disk: where it really is, and which names inside it are never published (DS-24).
 *
 * Rules look at components inside the root only. The state directory is excluded wherever it lies, and so is a
 * top-level `_svc`, whose address belongs to the service.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAbsence } from '../base/file-stamp.ts';
import { isIgnoredComponent } from '../base/paths.ts';

/** Holds companion files beside the state (DS-70), also when the state directory lies elsewhere. */
export const COMPANION_FOLDER = '.svc';

/** One document root; `refresh` when it may have been replaced. */
export class DocumentRoot {
  /** Absolute, as configured; may be a symlink that changes its target. */
  readonly path: string;
  readonly #stateDir: string;
  #realPath = '';
  #stateRel: string | null = null;

  /** Throws the file system's error when `path` does not exist. `stateDir` need not exist yet. */
  constructor(path: string, stateDir: string) {
    this.path = resolve(path);
    this.#stateDir = resolve(stateDir);
    this.refresh();
  }

  /** `path` without symlinks, as of the last `refresh`. */
  get realPath(): string {
    return this.#realPath;
  }

  /** Resolves the root anew; true when it is another folder than before. Throws when it is gone. */
  refresh(): boolean {
    const before = this.#realPath;
    this.#realPath = realpathSync(this.path);
    this.#stateRel = this.relOf(realPathOrSelf(this.#stateDir));
    return before !== this.#realPath;
  }

  /** Absolute path of a rel; nothing is checked. */
  absolute(rel: string): string {
    return `${this.#realPath === '/' ? '' : this.#realPath}/${rel}`;
  }

  /** The rel of a resolved absolute path inside the root; null outside, and for the root itself. */
  relOf(realPath: string): string | null {
    const prefix = this.absolute('');
    return realPath.startsWith(prefix) && realPath.length > prefix.length
      ? realPath.slice(prefix.length)
      : null;
  }

  /** Whether a file of this rel may be published, judging by its name alone. */
  mayPublish(rel: string): boolean {
    if (this.isState(rel)) return false;
    const components = rel.split('/');
    return components[0] !== '_svc' && !components.some(isIgnoredComponent);
  }

  /** Whether the rel is the state directory or lies in it. */
  isState(rel: string): boolean {
    return this.#stateRel !== null && isAtOrBelow(rel, this.#stateRel);
  }
}

/** Whether `rel` is `folder` or lies in it. */
export function isAtOrBelow(rel: string, folder: string): boolean {
  return rel === folder || rel.startsWith(`${folder}/`);
}

/** Whether `rel` is a plain path downwards: no empty, `.` or `..` component, no NUL, not absolute. */
export function isPlainRel(rel: string): boolean {
  return (
    !rel.includes('\0') &&
    rel.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
  );
}

function realPathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isAbsence(error)) return path;
    throw error;
  }
}
