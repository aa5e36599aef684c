import cluster from 'node:cluster'
import type { MetricObject } from 'prom-client'
import type { Metrics } from '../statistics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { isCounter, type ReportedMetrics } from './metrics.ts'

/** A worker's connection to the main process. */
export interface WorkerLink {
  /** Number of the worker, which no later worker gets. */
  readonly number: number
  /** Whether to listen only when ready, because other workers serve requests meanwhile. */
  readonly listensWhenReady: boolean
  /**
   * Reports the counters of this process to the main process regularly, and returns metrics whose
   * `read()` returns those of all workers.
   */
  shareMetrics(own: Metrics): Metrics
  /** Reports that the worker serves requests. */
  ready(port: number): void
  /** Calls the handler for each command of the main process. */
  onCommand(handler: (command: 'end' | 'hurry' | 'retire') => void): void
  /** Reports the last counts. Afterwards the process can end by itself. */
  leave(): Promise<void>
}

/** Milliseconds between reports, which is the most that a killed worker's counters lose. */
const REPORT_INTERVAL = 2000
const READ_TIMEOUT = 5000

/**
 * Connects a worker to the main process. Resolves when the main process tells the worker to start.
 */
export async function connectToSupervisor(): Promise<WorkerLink> {
  const { listensWhenReady } = await new Promise<ToWorker & { type: 'start' }>((resolve) => {
    hear((message) => message.type === 'start' && resolve(message))
    send({ type: 'online' })
  })
  let report = async (): Promise<void> => {}
  let reporting: NodeJS.Timeout | undefined

  return {
    number: cluster.worker?.id ?? 0,
    listensWhenReady,
    shareMetrics(own) {
      report = async () => send({ type: 'counted', metrics: await countersOf(own.registry) })
      reporting = setInterval(() => void report(), REPORT_INTERVAL)
      reporting.unref()
      hear(async (message) => {
        if (message.type !== 'measure') return
        send({ type: 'measured', metrics: await own.registry.getMetricsAsJSON() })
      })
      return { ...own, read: createReader() }
    },
    ready: (port) => send({ type: 'ready', port }),
    onCommand: (handler) =>
      hear(({ type }) => {
        if (type === 'end' || type === 'hurry' || type === 'retire') handler(type)
      }),
    async leave() {
      clearInterval(reporting)
      await report()
      process.channel?.unref()
    },
  }
}

/**
 * The terminal of a command that runs in a worker. Sends its errors to the main process instead of
 * printing them.
 */
export const workerTerminal = {
  stdout: process.stdout,
  stderr: {
    write(reason: string): void {
      send({ type: 'failed', reason: reason.trim() })
      process.channel?.unref()
    },
  },
}

/** Reads the counters only, because reading the gauges of a process takes much longer. */
async function countersOf(registry: Metrics['registry']): Promise<ReportedMetrics> {
  const names = registry.getMetricsAsArray().filter(isCounter)
  const counters = names.flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
  return Promise.all(counters.map((metric) => metric.get() as Promise<MetricObject>))
}

/** Creates a function that asks the main process for the metrics of all workers. */
function createReader(): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>()
  let last = 0
  hear((message) => {
    if (message.type !== 'metrics') return
    waiting.get(message.id)?.(message.text)
    waiting.delete(message.id)
  })
  return () =>
    new Promise((resolve, reject) => {
      last += 1
      const id = last
      const timer = setTimeout(() => {
        waiting.delete(id)
        reject(new Error(`The main process sent no metrics within ${READ_TIMEOUT} ms`))
      }, READ_TIMEOUT)
      waiting.set(id, (text) => {
        clearTimeout(timer)
        resolve(text)
      })
      send({ type: 'read', id })
    })
}

function hear(listener: (message: ToWorker) => unknown): void {
  process.on('message', listener)
}

/** Sends a message. Ignores a failure, because this process ends if the main process has ended. */
function send(message: FromWorker): void {
  cluster.worker?.send(message, undefined, () => {})
}
