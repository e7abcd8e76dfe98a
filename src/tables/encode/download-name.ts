/** File names of downloads (RFC 6266, RFC 8187). */

/** An ASCII name for old clients beside the exact one. Nothing in `name` can end the header or its quotes. */
export function contentDisposition(name: string, extension: string): string {
  return attachment(`${name}.${extension}`);
}

export function attachment(fileName: string): string {
  const file = fileName.toWellFormed();
  const ascii = file
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\/%]/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extendedValue(file)}`;
}

/** Shown in the browser; the name is used when it is saved. */
export function inline(fileName: string): string {
  return `inline; filename*=UTF-8''${extendedValue(fileName.toWellFormed())}`;
}

function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
