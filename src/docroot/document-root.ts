/**
 * Which names inside the published folder are never published. The state directory is excluded wherever it is, and so
 * is a top-level `_svc`, whose address belongs to the service.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isAbsence } from '../base/files/file-stamp.ts';
import { isIgnoredComponent } from '../base/paths.ts';

/** Holds companion files, also when the state directory is elsewhere. */
export const COMPANION_FOLDER = '.svc';

export class DocumentRoot {
  /** Absolute, as configured; may be a symlink whose target changes. */
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

  /** True when the root is another folder than before. Throws when it is gone. */
  refresh(): boolean {
    const before = this.#realPath;
    this.#realPath = realpathSync(this.path);
    this.#stateRel = this.relOf(realPathOrSelf(this.#stateDir));
    return before !== this.#realPath;
  }

  absolute(rel: string): string {
    return `${this.#realPath === '/' ? '' : this.#realPath}/${rel}`;
  }

  /** Null outside the root, and for the root itself. */
  relOf(realPath: string): string | null {
    const prefix = this.absolute('');
    return realPath.startsWith(prefix) && realPath.length > prefix.length
      ? realPath.slice(prefix.length)
      : null;
  }

  /** By name alone. */
  mayPublish(rel: string): boolean {
    if (this.isState(rel)) return false;
    const components = rel.split('/');
    return components[0] !== '_svc' && !components.some(isIgnoredComponent);
  }

  /** A folder with the state in it. */
  holdsState(rel: string): boolean {
    return this.#stateRel !== null && isAtOrBelow(this.#stateRel, rel);
  }

  isState(rel: string): boolean {
    return this.#stateRel !== null && isAtOrBelow(rel, this.#stateRel);
  }
}

export function isAtOrBelow(rel: string, folder: string): boolean {
  return rel === folder || rel.startsWith(`${folder}/`);
}

/** No empty, `.` or `..` component, no NUL, not absolute. */
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
