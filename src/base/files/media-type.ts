/** Media types by file name: the contract's extensions, then the runtime's table. */
import { extensionOf } from '../paths.ts';

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html'],
  ['.htm', 'text/html'],
  ['.md', 'text/markdown'],
  ['.txt', 'text/plain'],
  ['.log', 'text/plain'],
  ['.csv', 'text/csv'],
  ['.tsv', 'text/tab-separated-values'],
  ['.psv', 'text/plain'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
  ['.toml', 'application/toml'],
  ['.pdf', 'application/pdf'],
  ['.zip', 'application/zip'],
  ['.gz', 'application/gzip'],
  ['.zst', 'application/zstd'],
  ['.ndjson', 'application/x-ndjson'],
  ['.jsonl', 'application/x-ndjson'],
  ['.geojson', 'application/geo+json'],
  ['.json', 'application/json'],
  ['.xml', 'application/xml'],
  ['.xhtml', 'application/xhtml+xml'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.avif', 'image/avif'],
  ['.heic', 'image/heic'],
  ['.heif', 'image/heif'],
  ['.tif', 'image/tiff'],
  ['.tiff', 'image/tiff'],
  ['.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['.xlsm', 'application/vnd.ms-excel.sheet.macroEnabled.12'],
  ['.xls', 'application/vnd.ms-excel'],
  ['.xlsb', 'application/vnd.ms-excel.sheet.binary.macroenabled.12'],
  ['.ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  ['.fods', 'application/vnd.oasis.opendocument.spreadsheet-flat-xml'],
  ['.dbf', 'application/vnd.dbf'],
  ['.sqlite', 'application/vnd.sqlite3'],
  ['.sqlite3', 'application/vnd.sqlite3'],
  ['.parquet', 'application/vnd.apache.parquet'],
  ['.mp3', 'audio/mpeg'],
  ['.ogg', 'audio/ogg'],
  ['.wav', 'audio/wav'],
  ['.flac', 'audio/flac'],
  ['.m4a', 'audio/mp4'],
  ['.mp4', 'video/mp4'],
  ['.webm', 'video/webm'],
  ['.mkv', 'video/x-matroska'],
  ['.avi', 'video/x-msvideo'],
  ['.mov', 'video/quicktime'],
]);

/** Without parameters; `application/octet-stream` when unknown. */
export function mediaTypeOf(rel: string): string {
  const whole = extensionOf(rel);
  const extension = whole.slice(Math.max(0, whole.lastIndexOf('.')));
  const known = TYPES.get(extension);
  if (known !== undefined) return known;
  return Bun.file(`name${extension}`).type.split(';')[0]!.trim() || 'application/octet-stream';
}

/** Whether a file of this name is a film rather than a sound. */
export function isVideo(rel: string): boolean {
  return mediaTypeOf(rel).startsWith('video/');
}
