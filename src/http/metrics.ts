/**
 * Metrics in the Prometheus text format 0.0.4. Labels hold route patterns, methods, statuses and types, never names of
 * resources or users, so the number of series is bounded by the code.
 */

type Labels = Readonly<Record<string, string>>;
type Sample = { readonly labels?: Labels; readonly value: number };

/** Upper bounds in seconds. */
const DURATION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Counter {
  add(amount?: number): void;
}

interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly help: string;
  readonly lines: () => string[];
}

interface RouteSeries {
  /** By method, by status. */
  readonly requests: Map<string, Map<number, number>>;
  readonly buckets: number[];
  seconds: number;
  count: number;
}

export class Metrics {
  readonly #families = new Map<string, Family>();
  readonly #lookups: (() => Promise<void>)[] = [];

  /** Slow figures are collected before a text is written; those that fail are left out. */
  lookBefore(lookup: () => Promise<void>): void {
    this.#lookups.push(lookup);
  }

  /** At most a second. */
  async look(): Promise<void> {
    const found = Promise.allSettled(this.#lookups.map((lookup) => lookup()));
    await Promise.race([found, Bun.sleep(1_000)]);
  }
  readonly #routes = new Map<string, RouteSeries>();

  constructor() {
    this.#families.set('svc_http_requests_total', {
      type: 'counter',
      help: 'Requests answered.',
      lines: () => this.#requestLines(),
    });
    this.#families.set('svc_http_request_duration_seconds', {
      type: 'histogram',
      help: 'Time from the request head to the end of the answer.',
      lines: () => this.#durationLines(),
    });
  }

  /** Starts at 0. Throws RangeError when the name is taken. */
  counter(name: string, help: string): Counter {
    let total = 0;
    this.#register(name, { type: 'counter', help, lines: () => [sample(name, {}, total)] });
    return {
      add: (amount = 1) => {
        total += amount;
      },
    };
  }

  /** Read when scraped; null: left out. Throws RangeError when the name is taken. */
  gauge(
    name: string,
    help: string,
    read: () => number | readonly Sample[] | null,
    type: 'gauge' | 'counter' = 'gauge',
  ): void {
    const lines = (): string[] => {
      const value = read();
      if (value === null) return [];
      const samples = typeof value === 'number' ? [{ value }] : value;
      return samples.map((one) => sample(name, one.labels ?? {}, one.value));
    };
    this.#register(name, { type, help, lines });
  }

  /** Read when scraped. Throws RangeError when the name is taken. */
  summary(name: string, help: string, read: () => { sum: number; count: number }): void {
    const lines = (): string[] => {
      const { sum, count } = read();
      return [sample(`${name}_sum`, {}, sum), sample(`${name}_count`, {}, count)];
    };
    this.#register(name, { type: 'summary', help, lines });
  }

  /** `route` is a pattern. */
  observeRequest(route: string, method: string, status: number, seconds: number): void {
    let series = this.#routes.get(route);
    if (series === undefined) {
      series = {
        requests: new Map(),
        buckets: DURATION_BUCKETS.map(() => 0),
        seconds: 0,
        count: 0,
      };
      this.#routes.set(route, series);
    }
    let byStatus = series.requests.get(method);
    if (byStatus === undefined) series.requests.set(method, (byStatus = new Map()));
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    series.count++;
    series.seconds += seconds;
    for (let bucket = 0; bucket < DURATION_BUCKETS.length; bucket++) {
      if (seconds > DURATION_BUCKETS[bucket]!) continue;
      series.buckets[bucket]! += 1;
      return;
    }
  }

  text(): string {
    let text = '';
    for (const [name, { type, help, lines }] of this.#families) {
      text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      for (const line of lines()) text += `${line}\n`;
    }
    return text;
  }

  #register(name: string, family: Family): void {
    if (this.#families.has(name)) throw new RangeError(`Metric '${name}' is registered twice`);
    this.#families.set(name, family);
  }

  #requestLines(): string[] {
    const lines: string[] = [];
    for (const [route, { requests }] of this.#routes) {
      for (const [method, byStatus] of requests) {
        for (const [status, count] of byStatus) {
          const labels = { method, route, status: String(status) };
          lines.push(sample('svc_http_requests_total', labels, count));
        }
      }
    }
    return lines;
  }

  #durationLines(): string[] {
    const name = 'svc_http_request_duration_seconds';
    const lines: string[] = [];
    for (const [route, { buckets, seconds, count }] of this.#routes) {
      let below = 0;
      for (const [index, bound] of DURATION_BUCKETS.entries()) {
        below += buckets[index] ?? 0;
        lines.push(sample(`${name}_bucket`, { route, le: String(bound) }, below));
      }
      lines.push(sample(`${name}_bucket`, { route, le: '+Inf' }, count));
      lines.push(sample(`${name}_sum`, { route }, seconds));
      lines.push(sample(`${name}_count`, { route }, count));
    }
    return lines;
  }
}

export function registerProcessMetrics(metrics: Metrics, version: string, startedAt: number): void {
  metrics.gauge('svc_build_info', 'The build that is running.', () => [
    { labels: { version }, value: 1 },
  ]);
  const cpuSeconds = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  metrics.gauge('process_cpu_seconds_total', 'CPU time used.', cpuSeconds, 'counter');
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge('process_start_time_seconds', 'Start of the process, Unix time.', () => {
    return startedAt / 1000;
  });
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
