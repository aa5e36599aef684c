import type { ReportedMetrics } from './metrics.ts'

/** A message of the main process to a worker. */
export type ToWorker =
  /** Start the service: the response to `online`. */
  | {
      readonly type: 'start'
      /** Whether to listen only when ready, because other workers serve requests meanwhile. */
      readonly listensWhenReady: boolean
    }
  /** Drain, then end. */
  | { readonly type: 'end' }
  /** End without waiting any longer. */
  | { readonly type: 'hurry' }
  /** Finish the open connections, then end: a newer worker has taken over. */
  | { readonly type: 'retire' }
  /** Report all metrics of this process. */
  | { readonly type: 'measure' }
  /** The metrics of all workers: the response to `read`. */
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }

/** A message of a worker to the main process. */
export type FromWorker =
  /** The worker hears messages: earlier ones would be lost. */
  | { readonly type: 'online' }
  /** The worker serves requests. */
  | { readonly type: 'ready'; readonly port: number }
  /** The worker cannot start. */
  | { readonly type: 'failed'; readonly reason: string }
  /** The counters of the worker, or all its metrics in response to `measure`. */
  | { readonly type: 'counted' | 'measured'; readonly metrics: ReportedMetrics }
  /** Asks for the metrics of all workers. */
  | { readonly type: 'read'; readonly id: number }
