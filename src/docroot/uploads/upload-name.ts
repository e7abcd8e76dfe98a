/**
 * Refuses names that would be executed, change how another file is run or read, or mean a different name elsewhere.
 *
 * Allowing too little costs a renaming, allowing too much gives the machine away.
 */
import { AppError } from '../../base/errors.ts';
import { extensionOf } from '../../base/paths.ts';

/** `upload.*` of the configuration; extensions in lower case with their dot. */
export interface UploadNameRules {
  /** Empty: all. */
  readonly allowedExtensions: readonly string[];
  readonly deniedExtensions: readonly string[];
  readonly allowsHandlers: boolean;
}

/** In UTF-8, on every file system in use. */
const MAX_NAME_BYTES = 255;
/** Handlers, and extensions that a handler's imports would resolve to before the intended file. */
const CODE_EXTENSIONS: ReadonlySet<string> = new Set(
  '.ts .js .mjs .cjs .mts .cts .tsx .jsx .py .pyw .pyc .pyd .so .node .wasm .sh'.split(' '),
);
/** Files that tell a runtime how to run their neighbours. */
const CONTROL_NAMES: ReadonlySet<string> = new Set([
  'bunfig.toml',
  'bun.lock',
  'bun.lockb',
  'deno.json',
  'deno.jsonc',
  'jsconfig.json',
  'package.json',
  'package-lock.json',
  'pyproject.toml',
  'tsconfig.json',
]);
/** Devices on Windows, whatever the extension: such a file could not be copied there. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;
/** Reverse the text direction or break the line: the name would read as another one. */
const MISLEADING = /[\p{Bidi_Control}\u2028\u2029\ufeff]/u;

/** Trimmed, in NFC, a base name of 1 to 255 bytes without control characters. Throws `bad-request`. */
export function checkUploadName(text: string): string {
  const name = text.trim().normalize('NFC');
  const isBaseName = name !== '' && name !== '.' && name !== '..' && !/[/\\\p{Cc}]/u.test(name);
  if (isBaseName && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw invalidUploadName();
}

export function invalidUploadName(): AppError {
  return new AppError('bad-request', 'Filename must be a basename without path separators');
}

/** Throws `bad-request` for a name that no upload may have, whatever the configuration. */
export function requireOpenName(name: string): void {
  const plain = plainest(name);
  const isRefused =
    CONTROL_NAMES.has(plain) ||
    DEVICE_NAME.test(plain) ||
    MISLEADING.test(name) ||
    // Windows drops these, so the name would mean another file there.
    /[. ]$/.test(name);
  if (isRefused) throw notAllowed();
}

export function notAllowed(): AppError {
  return new AppError('bad-request', 'Filename is not allowed');
}

/** Throws `bad-request` for an extension that the configuration forbids or that is code. */
export function requireAllowedExtension(name: string, rules: UploadNameRules): void {
  const extension = extensionOf(name);
  const plainExtension = extensionOf(plainest(name));
  for (const each of new Set([extension, plainExtension])) {
    // Of `.csv.gz` also `.gz`.
    const names = [each, each.slice(each.lastIndexOf('.'))];
    const isRefused =
      (CODE_EXTENSIONS.has(each) && !rules.allowsHandlers) ||
      names.some((one) => rules.deniedExtensions.includes(one)) ||
      (rules.allowedExtensions.length > 0 &&
        !names.some((one) => rules.allowedExtensions.includes(one)));
    if (isRefused) throw new AppError('bad-request', `File extension '${each}' is not allowed`);
  }
}

/** Handler files, and what their imports would resolve to. */
export function isCodeName(name: string): boolean {
  const plain = plainest(name);
  return CONTROL_NAMES.has(plain) || CODE_EXTENSIONS.has(extensionOf(plain));
}

/** The name without everything that some system ignores: letter case, full-width forms, streams, final dots. */
function plainest(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Cf}/gu, '')
    .replace(/[. ]*(?::.*)?$/s, '');
}
