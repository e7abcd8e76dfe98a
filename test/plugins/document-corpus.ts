/**
 * Documents and media that are hostile, damaged or made to be slow (B-M), made by code, with what each must come to.
 */
import { clip, id3Frame, mp3, mp4Box, tone } from '../http/media-files.ts';

/** A document: shown as a page, or refused as too hard to read; either way it can be downloaded. */
interface HostileDocument {
  readonly name: string;
  readonly make: () => string;
  readonly verdict: 'page' | 'too-large';
  /** Text that the page must have, so that nothing that is harmless gets lost. */
  readonly keeps?: string;
}

const repeated = (text: string, count: number): string => text.repeat(count);
const page = (name: string, make: () => string, keeps?: string): HostileDocument => ({
  name,
  make,
  verdict: 'page',
  ...(keeps === undefined ? {} : { keeps }),
});
const tooLarge = (name: string, make: () => string): HostileDocument => ({
  name,
  make,
  verdict: 'too-large',
});

/** What would act if any of it got into a page; `kept` stands behind it. */
const ACTING: Readonly<Record<string, string>> = {
  script: '<script>RAN()</script>',
  'script in capitals': '<SCRIPT SRC=//evil.invalid/x.js></SCRIPT>',
  'script cut open': '<scr<script>ipt>RAN()</scr</script>ipt>',
  'script in a heading': '# <script>RAN()</script>',
  'image that fails': '<img src=x onerror="RAN()">',
  'image with slashes': '<img/src="x"/onerror=RAN()>',
  'javascript link': '[a](javascript:RAN()) <a href="java\tscript:RAN()">b</a>',
  'javascript link by entities':
    '<a href="&#106;&#97;vascript&colon;RAN()">a</a> [b](&#x6A;avascript:RAN())',
  'javascript image and reference': '![a](javascript:RAN()) [b][r]\n\n[r]: javascript:RAN()\n',
  'vbscript and file links': '<a href="vbscript:RAN()">a</a> <a href="file:///etc/passwd">b</a>',
  'data links': '[a](data:text/html,<script>RAN()</script>) <a href="data:image/svg+xml,x">b</a>',
  autolink: '<javascript:RAN()> <data:text/html,x>',
  'foreign object': '<svg><foreignObject><img src=x onerror=RAN()></foreignObject></svg>',
  'animated link': '<svg><a><animate attributeName="href" values="javascript:RAN()"/></a></svg>',
  'mutation by noscript': '<noscript><p title="</noscript><img src=x onerror=RAN()>"></noscript>',
  'mutation by math':
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=RAN()&gt;">',
  'mutation by template': '<template><img src=x onerror=RAN()></template>',
  'mutation by comment': '<!--><img src=x onerror=RAN()>-->',
  'mutation by CDATA': '<![CDATA[<img src=x onerror=RAN()>]]>',
  'mutation by title': '<svg></p><style><g title="</style><img src onerror=RAN()>">',
  'mutation by select': '<select><iframe></select><img src=x onerror=RAN()>',
  'mutation by form':
    '<form><div></form><form><math><mtext></form><form><mglyph><style><img src onerror=RAN()>',
  base: '<base href="https://evil.invalid/">',
  refresh: '<meta http-equiv="refresh" content="0;url=https://evil.invalid/">',
  'frame with a document': '<iframe srcdoc="<script>RAN()</script>"></iframe>',
  'object and embed': '<object data="javascript:RAN()"></object><embed src="javascript:RAN()">',
  style: '<style>@import url(https://evil.invalid/x.css); *{display:none}</style>',
  'style attribute': '<p style="background:url(https://evil.invalid/x)">x</p>',
  link: '<link rel="stylesheet" href="https://evil.invalid/x.css">',
  form: '<form action="https://evil.invalid/"><input autofocus onfocus=RAN()><button formaction=javascript:RAN()>',
  details: '<details open ontoggle=RAN()><summary>s</summary></details>',
  'id of the site': '<p id="content">x</p><a name="csrf" id="__proto__">y</a>',
  'title in a link': '[a](/x "\\" onmouseover=\\"RAN()")',
  'language of code': '```x" onclick="RAN()\ncode\n```',
  'unclosed attribute': '<a href="x',
  'null bytes': '<scr\0ipt>RAN()</scr\0ipt><img src=x one\0rror=RAN()>',
};

/** Markdown documents by the names of their files, without the extension. */
export const hostileDocuments: readonly HostileDocument[] = [
  ...Object.entries(ACTING).map(([name, markup]) =>
    // What an open tag swallows is no loss of ours.
    page(name, () => `kept ${name}\n\n${markup}\n`, `kept ${name}`),
  ),
  page(
    'front matter with aliases',
    () =>
      `---\na: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c]\n---\nkept\n`,
    'kept',
  ),
  page(
    'front matter with programs',
    () =>
      `---\ntitle: !!js/function 'RAN()'\nother: !!js/eval RAN()\nhtml: <img src=x onerror=RAN()>\n__proto__: x\nconstructor: y\n---\nkept\n`,
    'kept',
  ),
  page('front matter nested deep', () => `---\na: ${repeated('[', 8000)}\n---\nkept\n`, 'kept'),
  tooLarge('nested quotes', () => `${repeated('>', 10_000)} x\n`),
  tooLarge('nested quotes with spaces', () => `${repeated('> ', 10_000)}x\n`),
];

/**
 * Documents that some parser needs the square of their length for: shown, or refused as too large, but in time. Full length is
 * scale 1.
 */
export const slowDocuments: readonly (readonly [name: string, make: (scale: number) => string])[] =
  [
    ['brackets', (scale) => repeated('[', 100_000 * scale)],
    [
      'closed brackets',
      (scale) => `${repeated('[', 20_000 * scale)}${repeated(']', 20_000 * scale)}`,
    ],
    ['link openings', (scale) => repeated('[a](', 30_000 * scale)],
    ['image openings', (scale) => repeated('![', 50_000 * scale)],
    ['emphasis', (scale) => repeated('*_', 500_000 * scale)],
    ['emphasis around words', (scale) => repeated('*a _b ', 60_000 * scale)],
    ['strong and not', (scale) => repeated('**a*', 50_000 * scale)],
    ['strikes', (scale) => repeated('~~a~', 50_000 * scale)],
    [
      'backticks of every length',
      (scale) => Array.from({ length: 400 * scale }, (_, n) => repeated('`', n)).join(' '),
    ],
    ['backticks', (scale) => repeated('`a', 60_000 * scale)],
    ['angles', (scale) => repeated('<', 100_000 * scale)],
    ['tags that never close', (scale) => repeated('<a b="c" ', 30_000 * scale)],
    ['tags', (scale) => repeated('<div>', 50_000 * scale)],
    ['comments that never close', (scale) => repeated('<!-- ', 50_000 * scale)],
    ['declarations', (scale) => repeated('<!A ', 50_000 * scale)],
    ['instructions', (scale) => repeated('<?', 60_000 * scale)],
    ['entities', (scale) => repeated('&amp', 80_000 * scale)],
    ['mail addresses', (scale) => repeated('a@', 80_000 * scale)],
    ['addresses', (scale) => repeated('http://a.', 30_000 * scale)],
    ['one address', (scale) => `www.${repeated('a.', 60_000 * scale)}`],
    [
      'nested lists',
      (scale) =>
        Array.from({ length: 400 * scale }, (_, n) => `${repeated('  ', n)}- x`).join('\n'),
    ],
    ['list markers in one line', (scale) => `${repeated('- ', 20_000 * scale)}x`],
    ['numbers in one line', (scale) => `${repeated('1. ', 20_000 * scale)}x`],
    ['items', (scale) => repeated('- a\n', 60_000 * scale)],
    ['empty items', (scale) => repeated('-\n', 60_000 * scale)],
    [
      'wide table',
      (scale) =>
        `|${repeated('a|', 5_000 * scale)}\n|${repeated('-|', 5_000 * scale)}\n${repeated('|b\n', 20)}`,
    ],
    ['table that is none', (scale) => `${repeated('|', 60_000 * scale)}\n`],
    [
      'definitions',
      (scale) => Array.from({ length: 20_000 * scale }, (_, n) => `[r${n}]: /x${n}`).join('\n'),
    ],
    ['references without definitions', (scale) => repeated('[a][b] ', 30_000 * scale)],
    ['escapes', (scale) => repeated('\\', 200_000 * scale)],
    ['underlines', (scale) => `a\n${repeated('=', 200_000 * scale)}`],
    ['spaces', (scale) => `a${repeated(' ', 300_000 * scale)}b`],
    ['line ends', (scale) => repeated('\n', 300_000 * scale)],
    ['tabs', (scale) => `${repeated('\t', 100_000 * scale)}x`],
    ['headings', (scale) => repeated('# a\n', 20_000 * scale)],
    ['fences', (scale) => repeated('```\n', 30_000 * scale)],
    ['code in a language', (scale) => `\`\`\`js\n${repeated('/*"`${', 20_000 * scale)}\n\`\`\``],
    ['front matter that never ends', (scale) => `---\n${repeated('a: b\n', 60_000 * scale)}`],
    ['combining marks', (scale) => `# ${repeated('e\u0301', 60_000 * scale)}`],
  ];

/** Media files by name with extension, and whether something is known about them: tags are text wherever they appear. */
export const hostileMedia: readonly (readonly [name: string, make: () => Buffer])[] = [
  [
    'markup in tags.mp3',
    () =>
      mp3([
        textFrame('TIT2', '<img src=x onerror=RAN()>'),
        textFrame('TPE1', '"><script>RAN()</script>'),
      ]),
  ],
  [
    'control characters in tags.mp3',
    () => mp3([textFrame('TIT2', 'kept\r\nSet-Cookie: a=b\0\x1b[31m\u202e')]),
  ],
  ['long title.mp3', () => mp3([textFrame('TIT2', 'x'.repeat(500_000))])],
  ['cover that is a page.mp3', () => mp3([cover('text/html', '<script>RAN()</script>')])],
  ['cover that is a drawing.mp3', () => mp3([cover('image/svg+xml', '<svg onload="RAN()"/>')])],
  ['cover that is an address.mp3', () => mp3([cover('-->', 'https://evil.invalid/x.png')])],
  ['cover with a lying type.mp3', () => mp3([cover('image/png"><script>RAN()</script>', 'x')])],
  [
    'tag longer than the file.mp3',
    () => Buffer.concat([Buffer.from('ID3\x03\0\0\x7f\x7f\x7f\x7f', 'latin1'), Buffer.alloc(200)]),
  ],
  ['frame longer than the tag.mp3', () => damaged(tone(), 14, 0x7f_ff_ff_ff)],
  [
    'ten thousand frames.mp3',
    () => mp3(Array.from({ length: 10_000 }, () => textFrame('TIT2', 'x'))),
  ],
  [
    'compressed tag.mp3',
    () =>
      mp3([
        Buffer.concat([Buffer.from('TIT2\0\0\0\x08\0\x80\xff\xff\xff\xff\x78\x9c\0\0', 'latin1')]),
      ]),
  ],
  ['box of no length.mp4', () => damaged(clip(), 0, 0)],
  ['box longer than the file.mp4', () => damaged(clip(), 0, 0x7f_ff_ff_ff)],
  ['box shorter than its head.mp4', () => damaged(clip(), 0, 4)],
  ['nested boxes.mp4', () => Buffer.concat([clip().subarray(0, 20), nested(2_000)])],
  [
    'two thousand million samples.mp4',
    () => Buffer.concat([clip().subarray(0, 20), sampleTable()]),
  ],
  [
    'film of 65,535 by 65,535.mp4',
    () =>
      damaged(
        damaged(clip(), clip().indexOf('tkhd') + 80, 0xff_ff_00_00),
        clip().indexOf('tkhd') + 84,
        0xff_ff_00_00,
      ),
  ],
  [
    'elements of unknown size.mkv',
    () =>
      Buffer.concat([Buffer.from('1a45dfa301ffffffffffffff', 'hex'), Buffer.alloc(5_000, 0x18)]),
  ],
  [
    'element longer than the file.webm',
    () => Buffer.from('1a45dfa3017fffffffffffff42868101', 'hex'),
  ],
  [
    'pages of no length.ogg',
    () =>
      Buffer.concat(
        Array.from({ length: 5_000 }, () =>
          Buffer.from('4f67675300020000000000000000010000000000000000000000', 'hex'),
        ),
      ),
  ],
  [
    'four million comments.ogg',
    () =>
      Buffer.concat([
        Buffer.from('4f6767530002000000000000000001000000000000000000000001ff', 'hex'),
        Buffer.from('\x03vorbis\xff\xff\xff\x7f\xff\xff\xff\xff', 'latin1'),
      ]),
  ],
  [
    'chunk longer than the file.wav',
    () => Buffer.from('RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\xff', 'latin1'),
  ],
  [
    'no bytes a second.wav',
    () =>
      Buffer.concat([
        Buffer.from('RIFF\x40\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1'),
        Buffer.alloc(12),
        Buffer.from('data\x10\0\0\0', 'latin1'),
        Buffer.alloc(16),
      ]),
  ],
  [
    'list within itself.avi',
    () =>
      Buffer.from(`RIFF\xff\xff\xff\xffAVI ${'LIST\xff\xff\xff\xffhdrl'.repeat(500)}`, 'latin1'),
  ],
  ['nothing.mp3', () => Buffer.alloc(0)],
  ['nothing.mp4', () => Buffer.alloc(0)],
  ['page.webm', () => Buffer.from('<!doctype html><script>RAN()</script>')],
  [
    'list of addresses.ogg',
    () => Buffer.from('#EXTM3U\nhttps://evil.invalid/a.mp3\nfile:///etc/passwd\n'),
  ],
];

/** Files that only their declared type and policy keep from acting, and what they are sent as. */
export const hostileFiles: readonly (readonly [name: string, make: () => Buffer, type: RegExp])[] =
  [
    ['page.html', () => Buffer.from('<script>RAN()</script>'), /^text\/html/],
    [
      'drawing.svg',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="RAN()"/>'),
      /^image\/svg\+xml$/,
    ],
    [
      'feed.xml',
      () =>
        Buffer.from(
          '<?xml-stylesheet href="x.xsl"?><html xmlns="http://www.w3.org/1999/xhtml"><script>RAN()</script></html>',
        ),
      /^application\/xml$/,
    ],
    [
      'entities.xml',
      () => Buffer.from('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'),
      /^application\/xml$/,
    ],
    ['page.txt', () => Buffer.from('<!doctype html><script>RAN()</script>'), /^text\/plain/],
    ['page.png', () => Buffer.from('<!doctype html><script>RAN()</script>'), /^image\/png$/],
    [
      'wide.png',
      () =>
        Buffer.concat([
          Buffer.from('89504e470d0a1a0a0000000d494844520000ea600000ea600806000000', 'hex'),
          Buffer.alloc(40),
        ]),
      /^image\/png$/,
    ],
    [
      'camera.jpg',
      () => Buffer.from('\xff\xd8\xff\xe1\0\x40Exif\0\0MM\0*<script>RAN()</script>', 'latin1'),
      /^image\/jpeg$/,
    ],
    ['page.gif', () => Buffer.from('GIF89a/*<script>RAN()</script>*/=1', 'latin1'), /^image\/gif$/],
    [
      'program.pdf',
      () =>
        Buffer.from(
          '%PDF-1.7\n1 0 obj <</OpenAction <</S /JavaScript /JS (app.alert(1))>>>> endobj',
        ),
      /^application\/pdf$/,
    ],
  ];

function textFrame(id: string, text: string): Buffer {
  return id3Frame(id, Buffer.from(`\x03${text}`));
}

function cover(type: string, content: string): Buffer {
  return id3Frame('APIC', Buffer.from(`\0${type}\0\x03\0${content}`, 'latin1'));
}

function damaged(file: Buffer, at: number, value: number): Buffer {
  const bytes = Buffer.from(file);
  bytes.writeUInt32BE(value, at);
  return bytes;
}

function nested(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) inner = mp4Box('moov', inner);
  return inner;
}

function sampleTable(): Buffer {
  const sizes = Buffer.from('00000000000000007fffffff', 'hex');
  return mp4Box(
    'moov',
    mp4Box('trak', mp4Box('mdia', mp4Box('minf', mp4Box('stbl', mp4Box('stsz', sizes))))),
  );
}
