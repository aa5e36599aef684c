import { AggregatorRegistry, Counter, Gauge, type MetricObject, Registry } from 'prom-client'

/** The metrics that a worker reports to the main process. */
export type ReportedMetrics = readonly MetricObject[]

/** The metrics of all workers, kept by the main process. */
export interface WorkerMetrics {
  /** Stores the latest metrics of a worker. Only its counters are used. */
  store(worker: number, metrics: ReportedMetrics): void
  /** Keeps the counters of a worker that has ended. */
  keep(worker: number): void
  countCrash(): void
  /**
   * Returns the metrics of all workers together, in the format of Prometheus. `measured` are the
   * present metrics of the workers by number; a worker that is missing there counts as it last
   * reported.
   */
  read(measured: ReadonlyMap<number, ReportedMetrics>): Promise<string>
}

/** Creates the metrics of all workers. `countServing` returns how many workers serve requests. */
export function createWorkerMetrics(countServing: () => number): WorkerMetrics {
  const latest = new Map<number, ReportedMetrics>()
  let ended: ReportedMetrics = []
  const registry = new Registry()
  const registers = [registry]
  new Gauge({
    name: 'tollgate_workers',
    help: 'Number of workers that serve requests',
    registers,
    collect() {
      this.set(countServing())
    },
  })
  const crashes = new Counter({
    name: 'tollgate_worker_crashes_total',
    help: 'Workers that ended unexpectedly',
    registers,
  })
  return {
    store: (worker, metrics) => void latest.set(worker, metrics),
    keep(worker) {
      const last = (latest.get(worker) ?? []).filter(isCounter)
      latest.delete(worker)
      ended = sum([ended, last]).getMetricsAsArray()
    },
    countCrash: () => crashes.inc(),
    async read(measured) {
      const own = await registry.getMetricsAsJSON()
      // Without the workers that have ended since they were measured.
      const workers = [...latest].map(([worker, last]) => measured.get(worker) ?? last)
      return sum([own, ...workers, ended]).metrics()
    },
  }
}

const sum = (metrics: readonly ReportedMetrics[]) =>
  AggregatorRegistry.aggregate(metrics as MetricObject[][])

/** Whether a metric only grows, so that the counts of a process that has ended still matter. */
export function isCounter({ type }: Pick<MetricObject, 'type'>): boolean {
  return COUNTERS.includes(String(type))
}

const COUNTERS: readonly string[] = ['counter', 'histogram']
