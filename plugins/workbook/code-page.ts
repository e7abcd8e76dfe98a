/**
 * Text of workbooks from before Unicode (Excel 5 and 95), whose code page is stored in the file.
 */
import { unreadable } from './unreadable.ts';

const ENCODINGS: Readonly<Record<number, string>> = {
  367: 'windows-1252',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  1200: 'utf-16le',
  1250: 'windows-1250',
  1251: 'windows-1251',
  1252: 'windows-1252',
  1253: 'windows-1253',
  1254: 'windows-1254',
  1255: 'windows-1255',
  1256: 'windows-1256',
  1257: 'windows-1257',
  1258: 'windows-1258',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  // Written by Excel for Macintosh and Excel 2 to 4 for Windows.
  32768: 'macintosh',
  32769: 'windows-1252',
};

/** Throws `unreadable-file` for an unknown code page. */
export function codePageDecoder(codePage: number): TextDecoder {
  const encoding = ENCODINGS[codePage];
  if (encoding === undefined) throw unreadable(`its code page ${codePage} is not supported`);
  return new TextDecoder(encoding as Bun.Encoding);
}
