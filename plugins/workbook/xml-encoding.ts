import { unreadable } from './unreadable.ts';

const DECLARED = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/;

/**
 * `text`: the beginning of a part, one character per byte. Throws `unreadable-file` unless it is
 * UTF-8 or ASCII.
 */
export function refuseOtherEncodings(text: string, part: string): void {
  const declared = DECLARED.exec(text)?.[1]?.toLowerCase() ?? 'utf-8';
  // Undeclared UTF-16 shows by a byte order mark or by NULs among its first characters.
  const isWide = /^(?:\u00ff\u00fe|\u00fe\u00ff|[^]?\u0000)/.test(text);
  if (isWide || !['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(declared)) {
    throw unreadable(`${part} is XML in another encoding than UTF-8`);
  }
}
