import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { forwardLines } from './forward-lines.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { createWorkerMetrics, type ReportedMetrics } from './metrics.ts'

/** The workers that serve the requests of one service. */
export interface Supervisor {
  /** Port on which the workers listen. */
  readonly port: number
  /**
   * Starts new workers, which read the configuration again, and retires the old ones once all new
   * ones serve requests. If a new worker cannot start, logs why and keeps the old ones.
   */
  reload(): Promise<void>
  /**
   * Ends all workers after their drain, which `hurry` ends early. Returns whether all of them ended
   * without an error.
   */
  end(hurry: AbortSignal): Promise<boolean>
}

export interface SupervisorOptions {
  /** Number of workers. */
  readonly count: number
  readonly logger: Logger
  /** Seconds for which the workers keep serving after the shutdown has begun. */
  readonly drainSeconds: number
  /** Called when no worker serves requests and none can be started. */
  onGiveUp(error: WorkerFailed): void
}

/** Thrown if a worker ends before it is ready. The message is that of the worker. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
  /** Exit code of the worker. `null` if a signal ended it. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

interface Entry {
  readonly worker: Worker
  /** All workers of a reload have the same number. */
  readonly generation: number
  /** Resolves when the worker has ended, and its last message was read. */
  readonly ended: Promise<unknown>
  state: 'starting' | 'serving' | 'leaving'
  /** Number of checks since the worker last sent a message. */
  silentChecks: number
}

const SECOND = 1000
/** A crash after this long is no sign of a broken service, so the worker is replaced at once. */
const CALM = 60 * SECOND
const LONGEST_PAUSE = 30 * SECOND
/** Failed attempts to start a worker, while none serves requests, after which the service ends. */
const MAX_ATTEMPTS = 5
/** Longer than a retired worker waits for its connections, and then for requests in progress. */
const RETIREMENT = 100 * SECOND
/** Longer than a worker waits for requests in progress at its end. */
const GRACE = 15 * SECOND
const LAST_MESSAGES = SECOND / 2
/** A worker that is busy for longer is left out of the gauges, and counts as it last reported. */
const MEASURE_TIMEOUT = SECOND
/**
 * A worker that serves requests reports every two seconds, so one that was silent for so many
 * checks is blocked. Checks are counted instead of seconds, because the main process may have been
 * suspended together with its workers.
 */
const MAX_SILENT_CHECKS = 15
const CHECK_INTERVAL = 2 * SECOND

/**
 * Starts workers with the arguments of this process, and replaces those that crash. Returns when
 * all of them serve requests.
 * @throws WorkerFailed if the first worker cannot start.
 */
export async function superviseWorkers(options: SupervisorOptions): Promise<Supervisor> {
  const { count, logger } = options
  const entries = new Map<number, Entry>()
  const ending = new AbortController()
  const metrics = createWorkerMetrics(() => list('serving').length)
  let generation = 1
  let isFilling = false
  let isReloading = false
  let isReloadWanted = false
  let areAllWell = true

  // Each worker accepts connections by itself. If the main process passed them on, a connection that
  // it is passing to a worker that is killed would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // The workers print no JSON for scripts: the main process does.
  cluster.setupPrimary({
    args: process.argv.slice(2).filter((word) => word !== '--json'),
    // Their log comes through this process, which writes one line after the other.
    stdio: ['inherit', 'pipe', 'inherit', 'ipc'],
  })
  // A log that has lost its reader is no reason to end.
  process.stdout.on('error', () => {})

  const list = (state: Entry['state']) => [...entries.values()].filter((e) => e.state === state)
  const listOf = (wanted: number) =>
    [...entries.values()].filter((e) => e.generation === wanted && e.state !== 'leaving')
  const send = ({ worker }: Entry, message: ToWorker) => worker.send(message, undefined, () => {})

  /** Starts a worker. Resolves with its port when it serves requests. */
  function start(of: number): Promise<number> {
    if (ending.signal.aborted)
      return Promise.reject(new WorkerFailed('The service is ending', null))
    const worker = cluster.fork()
    const { stdout } = worker.process
    if (stdout) forwardLines(stdout, process.stdout)
    // A message could not be sent, because the worker is ending.
    worker.on('error', () => {})
    const exited = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) =>
      worker.once('exit', (code, signal) => resolve([code, signal as NodeJS.Signals | null])),
    )
    const ended = exited.then(async (how) => {
      // Node may report the exit before it has read the last messages. If it was passing a handle
      // to the worker, it never reports the disconnection.
      if (worker.isConnected()) {
        const read = new Promise((resolve) => worker.once('disconnect', resolve))
        await Promise.race([read, sleep(LAST_MESSAGES)])
      }
      return how
    })
    const entry: Entry = { worker, generation: of, ended, state: 'starting', silentChecks: 0 }
    let reason: string | null = null
    entries.set(worker.id, entry)
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        entry.silentChecks = 0
        if (message.type === 'online') {
          send(entry, { type: 'start', listensWhenReady: list('serving').length > 0 })
        } else if (message.type === 'ready') {
          entry.state = 'serving'
          resolve(message.port)
        } else if (message.type === 'failed') reason = message.reason
        else if (message.type === 'read') void sendMetrics(entry, message.id)
        else metrics.store(worker.id, message.metrics)
      })
      void ended.then(([code, signal]) => {
        entries.delete(worker.id)
        metrics.keep(worker.id)
        const how = signal ? `was ended by ${signal}` : `ended with the exit code ${code}`
        // Has no effect if the worker was ready.
        reject(new WorkerFailed(reason ?? `The worker ${how} before it was ready`, code))
        noteEnd(entry, code, signal)
      })
    })
  }

  function noteEnd(entry: Entry, code: number | null, signal: NodeJS.Signals | null): void {
    const fields = { worker: entry.worker.id, code, signal }
    if (entry.state === 'serving') {
      logger.error(fields, 'A worker ended unexpectedly and will be replaced')
      metrics.countCrash()
      void fill()
    } else if (entry.state === 'leaving') {
      areAllWell &&= code === 0
      logger.info(fields, 'A worker has ended')
    }
  }

  /** Starts several workers. Waits for all of them, even if one cannot start. */
  async function startAll(of: number, missing: number): Promise<void> {
    const started = await Promise.allSettled(Array.from({ length: missing }, () => start(of)))
    for (const each of started) if (each.status === 'rejected') throw each.reason
  }

  /** Starts workers until there are enough, with a growing pause between attempts. */
  async function fill(): Promise<void> {
    if (isFilling || ending.signal.aborted) return
    isFilling = true
    let attempts = 0
    let current = generation
    while (listOf(generation).length < count) {
      await sleep(pauseBefore(), undefined, { signal: ending.signal }).catch(() => {})
      if (ending.signal.aborted) break
      current = generation
      const isAlone = list('serving').length === 0
      try {
        await startAll(generation, isAlone ? 1 : count - listOf(generation).length)
        attempts = 0
      } catch (error) {
        if (ending.signal.aborted || !(error instanceof WorkerFailed)) break
        // A reload has ended the worker while it was starting.
        if (current !== generation) continue
        attempts += 1
        logger.error({ reason: error.message }, 'A worker cannot start')
        if (list('serving').length === 0 && attempts >= MAX_ATTEMPTS) {
          options.onGiveUp(error)
          break
        }
      }
    }
    isFilling = false
  }

  let streak = 0
  let lastStart = Number.NEGATIVE_INFINITY
  function pauseBefore(): number {
    if (performance.now() - lastStart > CALM) streak = 0
    const pause = streak === 0 ? 0 : Math.min(2 ** (streak - 1) * SECOND, LONGEST_PAUSE)
    streak += 1
    lastStart = performance.now() + pause
    return pause
  }

  async function reload(): Promise<void> {
    const next = generation + 1
    logger.info('reloading')
    try {
      // One worker shows whether the configuration can be used.
      await startAll(next, 1)
      await startAll(next, count - 1)
    } catch (error) {
      if (ending.signal.aborted) return
      for (const entry of listOf(next)) retire(entry)
      const reason = error instanceof Error ? error.message : String(error)
      logger.error({ reason }, 'The reload failed: the running workers continue as before')
      return
    }
    const old = [...entries.values()].filter((each) => each.generation < next)
    generation = next
    for (const entry of old) retire(entry)
    logger.info({ workers: listOf(next).map(({ worker }) => worker.id) }, 'reloaded')
    // A new worker may have crashed meanwhile.
    void fill()
  }

  function retire(entry: Entry): void {
    if (entry.state === 'starting') kill(entry)
    if (entry.state !== 'serving') return
    entry.state = 'leaving'
    send(entry, { type: 'retire' })
    const timer = setTimeout(() => kill(entry), RETIREMENT)
    void entry.ended.then(() => clearTimeout(timer))
  }

  const kill = ({ worker }: Entry) => void worker.process.kill('SIGKILL')

  /** Kills the workers that are blocked, such as by an endless loop in a hook of the settings. */
  function checkWorkers(): void {
    for (const entry of list('serving')) {
      entry.silentChecks += 1
      if (entry.silentChecks < MAX_SILENT_CHECKS) continue
      const seconds = (MAX_SILENT_CHECKS * CHECK_INTERVAL) / SECOND
      logger.error({ worker: entry.worker.id, seconds }, 'A worker does not respond and is killed')
      kill(entry)
    }
  }

  async function sendMetrics(to: Entry, id: number): Promise<void> {
    const asked = [...list('serving'), ...list('leaving')]
    const measured = new Map<number, ReportedMetrics>()
    await Promise.all(
      asked.map(async (entry) => {
        const found = await measure(entry)
        if (found) measured.set(entry.worker.id, found)
      }),
    )
    send(to, { type: 'metrics', id, text: await metrics.read(measured) })
  }

  /** Asks a worker for its metrics. `null` if it ends or is too busy to respond. */
  function measure(entry: Entry): Promise<ReportedMetrics | null> {
    const { worker } = entry
    return new Promise((resolve) => {
      const settle = (found: ReportedMetrics | null) => {
        clearTimeout(timer)
        worker.off('message', hear)
        resolve(found)
      }
      const hear = (message: FromWorker) => {
        if (message.type === 'measured') settle(message.metrics)
      }
      const timer = setTimeout(() => settle(null), MEASURE_TIMEOUT)
      worker.on('message', hear)
      void entry.ended.then(() => settle(null))
      send(entry, { type: 'measure' })
    })
  }

  async function end(hurry: AbortSignal): Promise<boolean> {
    ending.abort()
    const all = [...entries.values()]
    let timer = setTimeout(() => all.forEach(kill), options.drainSeconds * SECOND + GRACE)
    hurry.addEventListener('abort', () => {
      for (const entry of all) send(entry, { type: 'hurry' })
      clearTimeout(timer)
      timer = setTimeout(() => all.forEach(kill), GRACE)
    })
    await Promise.all(
      all.map((entry) => {
        if (entry.state === 'starting') kill(entry)
        else send(entry, { type: 'end' })
        if (entry.state === 'serving') entry.state = 'leaving'
        return entry.ended
      }),
    )
    clearTimeout(timer)
    return areAllWell
  }

  try {
    // The first one migrates the database, and shows whether the configuration can be used.
    const port = await start(generation)
    await startAll(generation, count - 1)
    setInterval(checkWorkers, CHECK_INTERVAL).unref()
    return {
      port,
      end,
      async reload() {
        // A signal during a reload asks for another one, because the files may have changed since.
        isReloadWanted = true
        if (isReloading) return
        isReloading = true
        while (isReloadWanted && !ending.signal.aborted) {
          isReloadWanted = false
          await reload()
        }
        isReloading = false
      },
    }
  } catch (error) {
    ending.abort()
    for (const entry of entries.values()) kill(entry)
    throw error
  }
}
