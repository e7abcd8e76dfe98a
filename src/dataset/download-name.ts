/**
 * File names of downloads (DS-45; RFC 6266, RFC 8187).
 */

/**
 * A `Content-Disposition` value that makes a browser save the response as `<name>.<extension>`: an ASCII stand-in for
 * old clients and the exact name beside it. Nothing in `name` can end the header or its quotes.
 */
export function contentDisposition(name: string, extension: string): string {
  return attachment(`${name}.${extension}`);
}

/** As `contentDisposition`, for a whole file name. */
export function attachment(fileName: string): string {
  const file = fileName.toWellFormed();
  const ascii = file
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\/%]/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extendedValue(file)}`;
}

/** A `Content-Disposition` value for what is shown in the browser and called so when it is saved (DS-157). */
export function inline(fileName: string): string {
  return `inline; filename*=UTF-8''${extendedValue(fileName.toWellFormed())}`;
}

/** RFC 8187 leaves fewer characters unescaped than encodeURIComponent does. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
