/**
 * One syslog listener: a bound address, who may send to it, and its counters.
 *
 * Nothing a peer does holds more than one message of it in memory, and no peer can keep the others from being heard: a
 * connection that leaves a message unfinished is closed, and there are only so many.
 */
import { createSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { BlockList, createServer, isIP } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { SyslogListenerSetting } from '../config/syslog-listener.ts';
import type { ListenerView } from '../events/tail/listener-view.ts';
import type { TlsPair } from '../http/server.ts';
import type { SyslogMessage } from './delivery.ts';
import { SyslogDelivery } from './delivery.ts';
import { SyslogFramer } from './framing.ts';

interface ListenerOptions {
  readonly setting: SyslogListenerSetting;
  /** Of the server; needed for `tls://`. */
  readonly tls: TlsPair | null;
  readonly store: (messages: readonly SyslogMessage[]) => Promise<void>;
  /** Messages that are not stored, with the reason and its status. */
  readonly onLost: (messages: readonly SyslogMessage[], reason: string, status: number) => void;
  /** Of all listeners together. */
  readonly shared: { connections: number };
  readonly clock: Clock;
  readonly log: Log;
}

/** A peer that has connected must speak TLS within this time. */
const HANDSHAKE_MS = 15_000;
/** Connections of all listeners together: each may hold an unfinished message in memory. */
const MAX_CONNECTIONS = 2_000;
/** A message that has begun must end within this time. */
const UNFINISHED_MS = 60_000;
const LOOK_MS = 5_000;
const FLUSH_MS = 5_000;

interface Connection {
  readonly socket: Socket;
  readonly framer: SyslogFramer;
  /** Since when the message at hand is unfinished; null between messages. */
  unfinishedSince: number | null;
}

/** Opened by `open`, once. */
export class SyslogListener {
  readonly #options: ListenerOptions;
  readonly #delivery: SyslogDelivery;
  /** How many connections there are, also of those that have not said a word of TLS yet. */
  #admitted = 0;
  readonly #admittedByAddress = new Map<string, number>();
  readonly #connections = new Set<Connection>();
  readonly #allowed: BlockList | null;
  #close: (() => Promise<void>) | null = null;
  #timer: Timer | null = null;
  #port: number;
  #received = 0;
  #dropped = 0;
  #cut = 0;
  #turnedAway = 0;
  #timedOut = 0;
  #tlsServer: TlsServer | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { setting, store, onLost, clock, log } = options;
    this.#port = setting.port;
    this.#allowed = setting.allow.length === 0 ? null : blockList(setting.allow);
    this.#delivery = new SyslogDelivery({
      name: setting.name,
      store,
      onLost,
      onRoom: () => this.#resumeAll(),
      clock,
      log,
    });
  }

  /** Throws `usage` when the address cannot be had, or for `tls://` without a certificate. */
  async open(): Promise<void> {
    const { setting } = this.#options;
    try {
      if (setting.protocol === 'udp') await this.#openDatagrams();
      else await this.#openStreams();
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new AppError('usage', `events.syslog: '${setting.name}' cannot listen: ${reason}`, {
        cause: error,
      });
    }
  }

  view(): ListenerView {
    const { name, protocol, host } = this.#options.setting;
    return {
      name,
      listen: `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${this.#port}`,
      connections: this.#admitted,
      received: this.#received,
      dropped: this.#dropped,
      cut: this.#cut,
      refused: this.#delivery.refused,
      turned_away: this.#turnedAway,
      timed_out: this.#timedOut,
    };
  }

  /** New connections get this certificate. Throws for a pair that is none; the old one then stays. */
  renewCertificate({ cert, key }: TlsPair): void {
    this.#tlsServer?.setSecureContext({ cert, key });
  }

  /** Listens no more, then stores what was received. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    const closed = this.#close?.();
    for (const { socket, framer } of this.#connections) {
      framer.end();
      socket.destroy();
    }
    await closed;
    const lost = await this.#delivery.close(FLUSH_MS);
    const { log, setting } = this.#options;
    if (lost > 0)
      log.warning('syslog messages were lost at the end', { listener: setting.name, lost });
  }

  async #openDatagrams(): Promise<void> {
    const { setting, log } = this.#options;
    const socket = createSocket({ type: isIP(setting.host) === 6 ? 'udp6' : 'udp4' });
    socket.on('message', (bytes, { address }) => this.#onDatagram(bytes, plain(address)));
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(setting.port, setting.host, resolve);
    });
    socket.on('error', (error) => log.warning('a syslog socket failed', { error }));
    this.#port = socket.address().port;
    this.#close = () => new Promise((resolve) => socket.close(() => resolve()));
  }

  #onDatagram(bytes: Uint8Array, peer: string): void {
    if (!this.#isAllowed(peer)) {
      this.#turnedAway += 1;
      return;
    }
    if (this.#delivery.isFull) {
      this.#received += 1;
      this.#dropped += 1;
      this.#options.onLost([{ peer, bytes }], 'there is no room for it: the queue is full', 503);
      return;
    }
    const { max_message_bytes: max } = this.#options.setting;
    this.#take(new Uint8Array(bytes.subarray(0, max)), bytes.length > max, peer);
  }

  async #openStreams(): Promise<void> {
    const { setting, tls, log } = this.#options;
    if (setting.protocol === 'tls' && tls === null) {
      throw new AppError('usage', `events.syslog: '${setting.name}' needs tls_cert and tls_key`);
    }
    const server: Server = setting.protocol === 'tls' ? this.#tlsListener(tls!) : createServer();
    server.on('connection', (socket) => this.#admit(socket));
    // Of TLS, a connection is one once the handshake is done.
    const made = setting.protocol === 'tls' ? 'secureConnection' : 'connection';
    server.on(made, (socket: Socket) => this.#onConnection(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(setting.port, setting.host, resolve);
    });
    server.on('error', (error) => log.warning('a syslog listener failed', { error }));
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
    this.#timer = setInterval(() => this.#closeUnfinished(), LOOK_MS);
    this.#timer.unref();
    this.#close = () => new Promise((resolve) => server.close(() => resolve()));
  }

  #tlsListener({ cert, key }: TlsPair): TlsServer {
    const server = createTlsServer({ cert, key, handshakeTimeout: HANDSHAKE_MS });
    server.on('tlsClientError', (_error, socket) => {
      this.#turnedAway += 1;
      socket.destroy();
    });
    this.#tlsServer = server;
    return server;
  }

  #admit(socket: Socket): void {
    // A peer that breaks off has nothing to be told.
    socket.on('error', () => socket.destroy());
    const peer = plain(socket.remoteAddress ?? '');
    if (this.#isAllowed(peer) && this.#enter(socket, peer)) return;
    this.#turnedAway += 1;
    socket.destroy();
  }

  /** Whether there was room for it, of which nobody takes all; it then counts until it closes. */
  #enter(socket: Socket, address: string): boolean {
    const { setting, shared } = this.#options;
    const byAddress = this.#admittedByAddress;
    const isFull =
      shared.connections >= MAX_CONNECTIONS || this.#admitted >= setting.max_connections;
    if (isFull || (byAddress.get(address) ?? 0) >= setting.max_connections_per_address)
      return false;
    const change = (difference: 1 | -1): void => {
      this.#admitted += difference;
      shared.connections += difference;
      const left = (byAddress.get(address) ?? 0) + difference;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    };
    change(1);
    socket.once('close', () => change(-1));
    return true;
  }

  #onConnection(socket: Socket): void {
    if (socket.destroyed) return;
    const peer = plain(socket.remoteAddress ?? '');
    const framer = new SyslogFramer(this.#options.setting.max_message_bytes, (message, isCut) =>
      this.#take(message, isCut, peer),
    );
    const connection: Connection = { socket, framer, unfinishedSince: null };
    this.#connections.add(connection);
    socket.on('data', (chunk: Uint8Array) => this.#onData(connection, chunk));
    socket.on('end', () => framer.end());
    socket.on('close', () => {
      this.#connections.delete(connection);
      // Nothing is left after an end; a peer that crashed, or was cut off, ended within its message.
      framer.end(true);
    });
    const idleMs = this.#options.setting.idle_seconds * 1000;
    socket.on('timeout', () => this.#onIdle(socket, idleMs));
    socket.setTimeout(idleMs);
    if (this.#delivery.isFull) socket.pause();
  }

  #onData(connection: Connection, chunk: Uint8Array): void {
    const { socket, framer } = connection;
    if (!framer.push(chunk)) {
      this.#turnedAway += 1;
      socket.destroy();
      return;
    }
    connection.unfinishedSince = framer.isWithin
      ? (connection.unfinishedSince ?? this.#options.clock.monotonic())
      : null;
    if (this.#delivery.isFull) socket.pause();
  }

  #onIdle(socket: Socket, idleMs: number): void {
    // While nothing is read, the peer may have said much.
    if (this.#delivery.isFull) {
      socket.setTimeout(idleMs);
      return;
    }
    this.#timedOut += 1;
    socket.end(() => socket.destroy());
  }

  #take(bytes: Uint8Array, isCut: boolean, peer: string): void {
    this.#received += 1;
    if (isCut) this.#cut += 1;
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end -= 1;
    this.#delivery.add({ peer, bytes: bytes.subarray(0, end) });
  }

  #resumeAll(): void {
    for (const { socket } of this.#connections) socket.resume();
  }

  #closeUnfinished(): void {
    // While nothing is read, nothing can be finished.
    if (this.#delivery.isFull) return;
    const now = this.#options.clock.monotonic();
    for (const { socket, unfinishedSince } of this.#connections) {
      if (unfinishedSince === null || now - unfinishedSince <= UNFINISHED_MS) continue;
      this.#timedOut += 1;
      socket.destroy();
    }
  }

  #isAllowed(peer: string): boolean {
    return this.#allowed?.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4') ?? true;
  }
}

/** IPv4 in IPv6 form as IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of networks) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
