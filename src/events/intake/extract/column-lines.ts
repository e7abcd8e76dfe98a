/**
 * Lines that are columns: of layouts known by heart, and of those a line before them told (`#Fields:` of W3C extended
 * logs, `#fields` of Zeek).
 */
import { typedValue } from './pairs.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

export interface Layout {
  readonly format: string;
  readonly names: readonly string[];
  readonly separator: string;
}

/** What IIS writes unless told otherwise. */
const IIS = names(
  'date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken',
);
const IIS_LINE =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ [A-Z]+ \/\S* \S+ \d+ \S+ \S+ \S+ \S+ \d{3} \d+ \d+ \d+$/;
const VPC = names(
  'version account_id interface_id srcaddr dstaddr srcport dstport protocol packets bytes start end action log_status',
);
const VPC_LINE = /^2 \d{12} eni-\w+ \S+ \S+ \S+ \S+ \S+ \S+ \S+ \d+ \d+ \S+ \S+$/;
const ALB = names(
  'type time elb client target request_processing_time target_processing_time response_processing_time status target_status received_bytes sent_bytes request useragent ssl_cipher ssl_protocol target_group_arn trace_id domain_name chosen_cert_arn matched_rule_priority request_creation_time actions_executed redirect_url error_reason',
);
const ALB_LINE = /^(?:https?|h2|grpcs|wss?) \d{4}-\d\d-\d\dT[\d:.]+Z \S+ \S+ \S+ -?[\d.]+ /;
const SQUID = names('ts elapsed clientip code_status bytes method uri user hierarchy content_type');
const SQUID_LINE = /^\d{10}\.\d{3} +\d+ \S+ [A-Z_]+\/\d{3} \d+ [A-Z_]+ \S+ \S+ [A-Z_]+\/\S+ \S+$/;
const PAN = names(
  'future receive_time serial type subtype config_version generated_time src dst natsrc natdst rule srcuser dstuser app vsys from to inbound_if outbound_if log_action logged_time session_id repeat_count sport dport natsport natdport flags proto action',
);
const PAN_TRAFFIC = names(
  'bytes bytes_sent bytes_received packets start elapsed category padding seqno action_flags srcloc dstloc',
);
const PAN_LINE = /^\d*,\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d,\d+,(?:TRAFFIC|THREAT),/;
const QUOTED_OR_BARE = /"([^"\\]*(?:\\.[^"\\]*){0,5000})"|(\S+)/g;

/** Of a line that tells columns: more are no log's, and each is kept. */
const MAX_DIRECTIVE = 16 * 1024;
const DIRECTIVE = /^#fields:?[ \t]+(.+)$/i;
/** What nobody needs as a field. */
const SKIPPED: ReadonlySet<string> = new Set(['future', 'logged_time', 'padding']);

function names(text: string): readonly string[] {
  return text.split(' ');
}

/** The layout that a line tells for the lines after it. */
export function layoutIn(text: string): Layout | null {
  const fields = text.length > MAX_DIRECTIVE ? undefined : DIRECTIVE.exec(text)?.[1];
  if (fields === undefined) return null;
  const isZeek = text.startsWith('#fields\t');
  const separator = isZeek ? '\t' : ' ';
  const names = fields.trim().split(isZeek ? '\t' : /\s+/);
  return { format: isZeek ? 'zeek' : 'w3c', names, separator };
}

/** How the columns that tell a layout apart from other text look. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d/,
  ts: /^\d+\.\d+$/,
};

/** Null for a line of another layout. */
export function extractByLayout(text: string, { names, separator }: Layout): Members | null {
  if (text.startsWith('#')) return null;
  const values = text.split(separator);
  if (values.length !== names.length) return null;
  const fits = names.every((name, at) => SHAPES[name]?.test(values[at]!) ?? true);
  return fits ? columns(names, values) : null;
}

export function extractColumns(text: string): { format: string; members: Members } | null {
  // Where the day or the second of the epoch ends.
  const mark = text.charCodeAt(10);
  if (mark === 0x20 && IIS_LINE.test(text))
    return { format: 'iis', members: columns(IIS, text.split(' ')) };
  if (mark === 0x2e && SQUID_LINE.test(text))
    return { format: 'squid', members: columns(SQUID, text.split(/ +/)) };
  if (VPC_LINE.test(text)) return { format: 'vpc_flow', members: columns(VPC, text.split(' ')) };
  if (PAN_LINE.test(text)) {
    const all = text.includes(',TRAFFIC,') ? [...PAN, ...PAN_TRAFFIC] : PAN;
    return { format: 'paloalto', members: columns(all, commaParts(text)) };
  }
  if (mark === 0x54 || !ALB_LINE.test(text)) return null;
  const values = Array.from(text.matchAll(QUOTED_OR_BARE), ([, quoted, bare]) => quoted ?? bare!);
  return { format: 'alb', members: columns(ALB, values) };
}

/** A hyphen, or what Zeek writes, stands for a missing value. */
function columns(layout: readonly string[], values: readonly string[]): Members {
  const members = memberSet();
  for (const [at, name] of layout.entries()) {
    const value = values[at];
    if (value === undefined || value === '' || value === '-' || value === '(empty)') continue;
    if (!SKIPPED.has(name)) members[name] = typedValue(value);
  }
  return members;
}

function commaParts(text: string): string[] {
  return Array.from(
    text.matchAll(/(?:^|,)(?:"((?:[^"]|""){0,5000})"|([^,]*))/g),
    ([, quoted, bare]) => quoted ?? bare!,
  );
}
