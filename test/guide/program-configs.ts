/**
 * Configurations of other programs in the documentation, checked by the program itself where it is installed, else by a parser of
 * their format; and what they deliver to, with the credential they would send, really takes an event of theirs.
 */
import { expect } from 'bun:test';
import { parse as parseYaml } from 'yaml';
import { eventually } from '../http/eventually.ts';
import type { Reader } from './reader.ts';

/** An event as a program would send it. */
interface Delivery {
  readonly protocol: 'hec' | 'bulk' | 'otlp' | 'loki' | 'journald';
  /** Address as it stands in the configuration, with the path the program adds. */
  readonly url: string;
  readonly authorization: string;
  /** The index its events get. */
  readonly index: string;
}

type Check = (text: string, reader: Reader) => Promise<readonly Delivery[]> | readonly Delivery[];

/** By the name at the fence. */
export const programs: Readonly<Record<string, Check>> = {
  'fluent-bit': (text) =>
    sectionsOf(text)
      .filter(({ name }) => name === 'OUTPUT')
      .map(fluentBitOutput),
  vector: (text) => {
    const { sinks } = parseYaml(text) as { sinks: Record<string, Record<string, unknown>> };
    return Object.values(sinks).map((sink) => {
      expect(sink['type']).toBe('splunk_hec_logs');
      return {
        protocol: 'hec',
        url: `${sink['endpoint']}/services/collector/event`,
        authorization: `Splunk ${sink['default_token']}`,
        index: String(sink['index']),
      };
    });
  },
  filebeat: (text) => {
    const { 'output.elasticsearch': output } = parseYaml(text) as {
      'output.elasticsearch': { hosts: string[]; api_key: string; index: string };
    };
    const { hosts, api_key, index } = output;
    return hosts.map((host) => ({
      protocol: 'bulk' as const,
      url: `${host.replace(':443', '')}/_bulk`,
      authorization: `ApiKey ${btoa(api_key)}`,
      index,
    }));
  },
  collector: (text) => {
    const { exporters, service } = parseYaml(text) as {
      exporters: Record<string, { logs_endpoint: string; headers: { Authorization: string } }>;
      service: { pipelines: { logs: { exporters: string[] } } };
    };
    expect(service.pipelines.logs.exporters).toEqual(Object.keys(exporters));
    return Object.values(exporters).map(({ logs_endpoint: url, headers }) => ({
      protocol: 'otlp' as const,
      url,
      authorization: headers.Authorization,
      index: 'web',
    }));
  },
  'journal-upload': (text) => {
    // As it does: the port decides that the path stays.
    const found = /^URL=https:\/\/(\w+):(\S+)@svc\.example:443(\/\S+)$/m.exec(text);
    expect(found).not.toBeNull();
    const [, username, password, path] = found!;
    return [
      {
        protocol: 'journald' as const,
        url: `https://svc.example${path}/upload`,
        authorization: `Basic ${btoa(`${username}:${password}`)}`,
        index: 'web',
      },
    ];
  },
  promtail: (text) => {
    const { clients } = parseYaml(text) as {
      clients: {
        url: string;
        basic_auth: { username: string; password: string };
        external_labels: { index: string };
      }[];
    };
    return clients.map(
      ({ url, basic_auth: { username, password }, external_labels: { index } }) => ({
        protocol: 'loki' as const,
        url,
        authorization: `Basic ${btoa(`${username}:${password}`)}`,
        index,
      }),
    );
  },
  alloy: (text) => {
    const value = (name: string): string =>
      new RegExp(`\\b${name}\\s*=\\s*"([^"]*)"`).exec(text)?.[1] ?? '';
    expect(text.split('{').length).toBe(text.split('}').length);
    expect(text).toMatch(/^loki\.write "\w+" \{$/m);
    const authorization = `Basic ${btoa(`${value('username')}:${value('password')}`)}`;
    return [{ protocol: 'loki', url: value('url'), authorization, index: value('index') }];
  },
  rsyslog: async (text, reader) => {
    const program = Bun.which('rsyslogd') ?? Bun.which('/usr/sbin/rsyslogd');
    // Forwards to where the chapter's own listener is, in a frame the listener reads.
    expect(text).toMatch(/port="(?:5514|6514)"/);
    if (program === null) {
      console.log('rsyslogd is not installed: its configuration is not checked by it');
      return [];
    }
    reader.write('rsyslog.conf', text);
    await wellFormed([program, '-N1', '-f', `${reader.folder}/rsyslog.conf`]);
    return [];
  },
  nginx: async (text, reader) => {
    expect(text).toContain('proxy_pass http://127.0.0.1:8000');
    // Without the port, a browser that comes by another one than that of public_url cannot sign in.
    for (const name of ['Host', 'X-Forwarded-Host']) {
      expect(text).toContain(`proxy_set_header ${name} $http_host;`);
    }
    // Or nginx closes the connection with each request.
    expect(text).toContain('proxy_set_header Connection "";');
    const program = Bun.which('nginx') ?? Bun.which('/usr/sbin/nginx');
    if (program === null) {
      console.log('nginx is not installed: its configuration is not checked by it');
      return [];
    }
    const keys = [
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=svc.example',
    ];
    await wellFormed([
      ...keys,
      '-keyout',
      `${reader.folder}/key.pem`,
      '-out',
      `${reader.folder}/cert.pem`,
    ]);
    const own = text
      // nginx also listens when it only checks, and here it may be nobody's.
      .replace('listen 443 ssl', 'listen 127.0.0.1:8443 ssl')
      .replace(/(ssl_certificate) [^;]+/, `$1 ${reader.folder}/cert.pem`)
      .replace(/(ssl_certificate_key) [^;]+/, `$1 ${reader.folder}/key.pem`);
    // Nothing of the machine's own is touched.
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${reader.folder}/${name};`,
    );
    reader.write(
      'nginx.conf',
      `pid ${reader.folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${folders.join('\n')}\n${own}\n}\n`,
    );
    await wellFormed([program, '-t', '-e', 'stderr', '-c', `${reader.folder}/nginx.conf`]);
    return [];
  },
  'mcp-client': async (text, reader) => {
    const { mcpServers } = JSON.parse(text) as {
      mcpServers: Record<
        string,
        {
          url?: string;
          headers?: Record<string, string>;
          args?: string[];
          env?: Record<string, string>;
        }
      >;
    };
    for (const server of Object.values(mcpServers)) {
      const url = server.url ?? server.args!.find((word) => word.startsWith('http'))!;
      const headers = server.headers ?? headerArgument(server.args!, server.env ?? {});
      const response = await fetch(reader.own(url), {
        method: 'POST',
        headers: {
          ...Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, withKey(value, reader)]),
          ),
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'guide', version: '1' },
          },
        }),
      });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('"protocolVersion":"2025-06-18"');
    }
    return [];
  },
};

/** Sends one event the way the program does, and finds it in its index. */
const MEDIA_TYPES: Readonly<Partial<Record<Delivery['protocol'], string>>> = {
  bulk: 'application/x-ndjson',
  journald: 'application/vnd.fdo.journal',
};

export async function deliverAs(
  { protocol, url, authorization, index }: Delivery,
  reader: Reader,
): Promise<void> {
  expect(url).toStartWith('https://svc.example/');
  const mark = `${protocol} ${crypto.randomUUID()}`;
  const bodies = {
    journald: `__REALTIME_TIMESTAMP=${Date.now()}000\nMESSAGE=${mark}\n\n`,
    hec: JSON.stringify({ event: mark, index }),
    bulk: `${JSON.stringify({ create: { _index: index } })}\n${JSON.stringify({ message: mark })}\n`,
    otlp: JSON.stringify({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'svc.index', value: { stringValue: index } }] },
          scopeLogs: [{ logRecords: [{ body: { stringValue: mark } }] }],
        },
      ],
    }),
    loki: JSON.stringify({
      streams: [{ stream: { index }, values: [[`${Date.now()}000000`, mark]] }],
    }),
  };
  const response = await fetch(reader.own(url), {
    method: 'POST',
    headers: {
      Authorization:
        authorization.startsWith('Basic ') || authorization.startsWith('ApiKey ')
          ? encodedKey(authorization, reader)
          : withKey(authorization, reader),
      'Content-Type': MEDIA_TYPES[protocol] ?? 'application/json',
    },
    body: bodies[protocol],
  });
  expect([response.ok, await response.text()]).toEqual([
    true,
    expect.not.stringContaining('"errors":true'),
  ]);
  await eventually(async () => {
    const found = await fetch(
      `${reader.url}/api/events/?index=${index}&search=${encodeURIComponent(`"${mark}"`)}`,
      {
        headers: { 'X-API-Key': reader.variable('KEY') },
      },
    );
    expect(await found.text()).toContain(mark);
  });
}

function fluentBitOutput({ entries }: Section): Delivery {
  const value = (name: string): string => entries.get(name.toLowerCase()) ?? '';
  expect([value('Port'), value('TLS').toLowerCase()]).toEqual(['443', 'on']);
  const host = `https://${value('Host')}`;
  const header = /^Authorization (.*)$/.exec(value('Header'))?.[1] ?? '';
  switch (value('Name')) {
    case 'splunk':
      return {
        protocol: 'hec',
        url: `${host}/services/collector/event`,
        authorization: `Splunk ${value('Splunk_Token')}`,
        index: value('Event_Index'),
      };
    case 'es':
      return {
        protocol: 'bulk',
        url: `${host}${value('Path')}/_bulk`,
        authorization: header,
        index: value('Index'),
      };
    case 'opentelemetry':
      return {
        protocol: 'otlp',
        url: `${host}${value('Logs_uri')}`,
        authorization: header,
        index: 'web',
      };
    case 'loki': {
      const index = /\bindex=(\w+)/.exec(value('Labels'))?.[1] ?? '';
      const authorization = `Basic ${btoa(`${value('HTTP_User')}:${value('HTTP_Passwd')}`)}`;
      return { protocol: 'loki', url: `${host}/loki/api/v1/push`, authorization, index };
    }
    default:
      throw new Error(`unknown output ${value('Name')}`);
  }
}

interface Section {
  readonly name: string;
  readonly entries: ReadonlyMap<string, string>;
}

/** The sections of a classic Fluent Bit configuration; names of entries in lower case. */
function sectionsOf(text: string): Section[] {
  const sections: { name: string; entries: Map<string, string> }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const name = /^\[(\w+)\]$/.exec(line)?.[1];
    const entry = /^ {4}(\S+)\s+(.+)$/.exec(line);
    if (name !== undefined) sections.push({ name, entries: new Map() });
    else if (entry === null) throw new Error(`neither a section nor an entry: ${line}`);
    else sections.at(-1)!.entries.set(entry[1]!.toLowerCase(), entry[2]!);
  }
  return sections;
}

function headerArgument(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const [, name = '', value = ''] =
    /^([^:]+):\s*(.+)$/.exec(args[args.indexOf('--header') + 1]!) ?? [];
  return { [name]: value.replace(/\$\{(\w+)\}/g, (_, variable: string) => env[variable] ?? '') };
}

/** The key in place of the one in the documents: of the shipper, where a chapter makes one. */
function withKey(text: string, reader: Reader): string {
  return text.replace('ak_...', reader.variable('SHIPPER') || reader.variable('KEY'));
}

function encodedKey(authorization: string, reader: Reader): string {
  const [scheme, value] = authorization.split(' ') as [string, string];
  if (value.startsWith('ak_')) return withKey(authorization, reader);
  return `${scheme} ${btoa(withKey(atob(value), reader))}`;
}

async function wellFormed(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command[0]}: ${out}${err}`);
}
