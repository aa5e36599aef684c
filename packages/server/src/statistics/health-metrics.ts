import type { Billing, QueueCounts } from '@tollgate/billing'
import type { ConnectionCounts } from '@tollgate/database'
import type { SigningKeyInfo } from '@tollgate/oauth'
import { Gauge, type Registry } from 'prom-client'

/** The functions with which the service measures its health. */
export interface HealthSource {
  /** Whether this process can serve requests, as `/readyz` responds. */
  isReady(): Promise<boolean>
  /** Seconds by which the clock of this machine is ahead of the shared clock; may be negative. */
  clockSkew(): number
  /** The database connections of this process. `null` if the database has no pool. */
  connections(): ConnectionCounts | null
  signingKeys(): Promise<readonly Pick<SigningKeyInfo, 'algorithm' | 'activeFrom'>[]>
  /** The present time on the clock of the signing keys. */
  now(): Date
  queues(): ReturnType<Billing['countQueues']>
}

/** The health at one moment. Values that could not be measured are `null`. */
interface Health {
  readonly isReady: boolean
  readonly clockSkew: number
  readonly connections: ConnectionCounts | null
  /** Seconds for which the oldest of the current signing keys has been signing. */
  readonly signingKeyAge: number | null
  readonly queues: Awaited<ReturnType<Billing['countQueues']>> | null
}

interface HealthGauge {
  readonly name: string
  readonly help: string
  /** How the values of several workers become one. */
  readonly aggregator: 'sum' | 'min' | 'max'
  /** The value, or one value per queue. `null` if it could not be measured: it is left out then. */
  read(health: Health): number | null | Readonly<Record<string, number>>
}

/** All processes count the same rows, so the values of several workers are not added up. */
const queueGauge = (
  name: string,
  help: string,
  read: (counts: QueueCounts) => number,
): HealthGauge => ({
  name,
  help,
  aggregator: 'max',
  read: ({ queues }) =>
    queues &&
    Object.fromEntries(Object.entries(queues).map(([queue, counts]) => [queue, read(counts)])),
})

const GAUGES: readonly HealthGauge[] = [
  {
    name: 'tollgate_ready',
    help: 'Whether requests can be served, as /readyz responds: 1 or 0. With workers, 0 if one of them cannot',
    aggregator: 'min',
    read: ({ isReady }) => (isReady ? 1 : 0),
  },
  {
    name: 'tollgate_clock_skew_seconds',
    help: "Difference between the clock of this machine and the database's, in seconds",
    aggregator: 'max',
    read: ({ clockSkew }) => Math.abs(clockSkew),
  },
  {
    name: 'tollgate_database_connections_max',
    help: 'Largest number of database connections',
    aggregator: 'sum',
    read: ({ connections }) => connections?.max ?? null,
  },
  {
    name: 'tollgate_database_connections_in_use',
    help: 'Number of database connections in use',
    aggregator: 'sum',
    read: ({ connections }) => connections?.inUse ?? null,
  },
  {
    name: 'tollgate_database_waiting',
    help: 'Number of requests and jobs that wait for a database connection',
    aggregator: 'sum',
    read: ({ connections }) => connections?.waiting ?? null,
  },
  {
    name: 'tollgate_signing_key_age_seconds',
    help: 'Seconds for which the current signing key has been signing; of several algorithms, the oldest key',
    aggregator: 'max',
    read: ({ signingKeyAge }) => signingKeyAge,
  },
  queueGauge(
    'tollgate_queue_pending',
    'Entries that wait for their next attempt, by queue; at most 10000 are counted',
    ({ pending }) => pending,
  ),
  queueGauge(
    'tollgate_queue_retrying',
    'Pending entries whose last attempt failed, by queue',
    ({ retrying }) => retrying,
  ),
  queueGauge(
    'tollgate_queue_dead',
    'Entries that were given up, by queue; at most 10000 are counted',
    ({ dead }) => dead,
  ),
  queueGauge(
    'tollgate_queue_held',
    'Entries that are on hold, by queue; at most 10000 are counted',
    ({ held }) => held,
  ),
  queueGauge(
    'tollgate_queue_late_seconds',
    'Seconds for which the oldest pending entry has been due, by queue',
    ({ lateSeconds }) => lateSeconds,
  ),
]

async function measureKeyAge(source: HealthSource): Promise<number | null> {
  const now = source.now().getTime()
  const current = new Map<string, number>()
  for (const { algorithm, activeFrom } of await source.signingKeys()) {
    const age = (now - activeFrom.getTime()) / 1000
    // A key that is not active yet is only published.
    if (age >= 0) current.set(algorithm, Math.min(age, current.get(algorithm) ?? age))
  }
  return current.size === 0 ? null : Math.max(...current.values())
}

/** Milliseconds for which a measurement is used again, however often `/metrics` is requested. */
const LIFETIME = 5000
/**
 * Milliseconds that a request waits for a measurement. After that it gets the last one: the main
 * process waits for its workers for one second only.
 */
const PATIENCE = 500

/** Adds gauges of the service's health, which are measured when they are read. */
export function addHealthMetrics(registry: Registry, source: HealthSource): void {
  const measure = createMeasurement(source)
  for (const { name, help, aggregator, read } of GAUGES) {
    const labelNames = name.startsWith('tollgate_queue_') ? ['queue'] : []
    new Gauge({
      name,
      help,
      labelNames,
      aggregator,
      registers: [registry],
      async collect() {
        const health = await measure()
        const value = health && read(health)
        if (value === null) labelNames.length > 0 ? this.reset() : this.remove()
        else if (typeof value === 'number') this.set(value)
        else for (const [queue, each] of Object.entries(value)) this.set({ queue }, each)
      },
    })
  }
}

/** Returns a function that measures the health, or returns the last measurement. */
function createMeasurement(source: HealthSource): () => Promise<Health | null> {
  let last: Health | null = null
  let measuredAt = Number.NEGATIVE_INFINITY
  let measuring: Promise<void> | null = null

  async function measure(): Promise<void> {
    const isReady = await source.isReady().catch(() => false)
    // The other queries would only wait for their timeouts.
    const [signingKeyAge, queues] = isReady
      ? [await measureKeyAge(source).catch(() => null), await source.queues().catch(() => null)]
      : [null, null]
    const connections = source.connections()
    last = { isReady, clockSkew: source.clockSkew(), connections, signingKeyAge, queues }
    measuredAt = performance.now()
  }

  return async () => {
    if (performance.now() - measuredAt < LIFETIME) return last
    measuring ??= measure().finally(() => {
      measuring = null
    })
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE)
    })
    await Promise.race([measuring, timeout])
    clearTimeout(timer)
    return last
  }
}
