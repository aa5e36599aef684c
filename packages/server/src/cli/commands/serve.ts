import cluster from 'node:cluster'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Config, Need } from '../../config/config.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import type { DemoClient, DemoState } from '../../demo/state-file.ts'
import { createLogger } from '../../logger.ts'
import { type Service, type StartedService, startService } from '../../service.ts'
import { countCores } from '../../workers/cores.ts'
import { connectToSupervisor } from '../../workers/link.ts'
import { superviseWorkers, WorkerFailed } from '../../workers/supervisor.ts'
import { command } from '../command.ts'
import * as option from '../options.ts'

const NEEDS: readonly Need[] = ['secret', 'url', 'providers']

export const serveCommand = command({
  summary: 'run the service until it is stopped',
  options: {
    port: option.text('<port>', 'overrides PORT; 0 picks a free one'),
    host: option.text('<address>', 'overrides HOST'),
    workers: option.text('<number>', 'overrides TOLLGATE_WORKERS; auto is one per processor core'),
  },
  async run({ options: { port, host, workers } }, context) {
    const readConfig = () =>
      context.config(NEEDS, {
        ...(port === null ? {} : { PORT: port }),
        ...(host === null ? {} : { HOST: host }),
        ...(workers === null ? {} : { TOLLGATE_WORKERS: workers }),
      })
    if (cluster.isWorker) {
      await serveAsWorker(readConfig)
      return null
    }
    const removeEarlyHandlers = endOnEarlySignal()
    try {
      const config = await readConfig()
      for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
      const { json } = context
      if (config.workers !== null && config.mode === 'production') {
        const started = await supervise(config, config.workers)
        if (json) context.print(`${JSON.stringify(started)}\n`)
        return null
      }
      const service = await serve(config)
      if (json) context.print(`${JSON.stringify(serviceJson(service))}\n`)
      else if (service.demo) context.print(`${describeService(service)}\n`)
      return null
    } finally {
      removeEarlyHandlers()
    }
  },
})

/** Starts the service, and shuts it down gracefully on SIGINT or SIGTERM. */
async function serve(config: Config): Promise<Service> {
  const service = await startService(config)
  service.logger.info({ url: service.url, port: service.port }, 'ready')
  surviveRejections(service)
  // A demo also prints to the terminal; in production the log is enough.
  const say = (text: string) => {
    if (config.mode === 'demo') process.stderr.write(`\n${text}\n`)
  }
  const { drainSeconds } = config
  endOnSignal(drainSeconds > 0, async (signal, hurry) => {
    service.logger.info({ signal, drainSeconds }, 'ending')
    say('Stopping: requests in progress may finish. Press Ctrl-C again to stop at once.')
    await service.drain(drainSeconds * 1000, hurry)
    const isWell = await closeService(service)
    if (isWell) {
      say(`Stopped. Your data is kept in ${config.dataDir}; the next start continues from there.`)
    }
    endProcess(isWell ? 0 : 1)
  })
  return service
}

/** Starts workers that serve requests, and keeps them running until SIGINT or SIGTERM. */
async function supervise(config: Config, workers: number | 'auto') {
  const { drainSeconds, url } = config
  const logger = createLogger(config.logLevel)
  const count = workers === 'auto' ? countCores() : workers
  let reload = () => logger.warn('SIGHUP is ignored until the workers are ready')
  process.on('SIGHUP', () => reload())
  const supervisor = await superviseWorkers({
    count,
    logger,
    drainSeconds,
    onGiveUp(error) {
      logger.fatal({ reason: error.message }, 'No worker can be started: the service ends')
      process.stderr.write(`${error.message}\n`)
      endProcess(error.exitCode ?? 1)
    },
  }).catch((error: unknown) => {
    const isUsage = error instanceof WorkerFailed && error.exitCode === 2
    throw isUsage ? new ConfigurationError(error.message) : error
  })
  const { port } = supervisor
  logger.info({ url, port, workers: count }, 'ready')
  reload = () => void supervisor.reload()
  endOnSignal(drainSeconds > 0, async (signal, hurry) => {
    logger.info({ signal, drainSeconds }, 'ending')
    endProcess((await supervisor.end(hurry)) ? 0 : 1)
  })
  return { url, port, workers: count, sandbox: null, mailbox: null, demo: null }
}

/** Serves requests in a worker, until the main process ends it. */
async function serveAsWorker(readConfig: () => Promise<Config>): Promise<void> {
  const link = await connectToSupervisor()
  const config = await readConfig()
  const service = await startService(config, { worker: link })
  surviveRejections(service)
  // Terminals and service managers send signals to every process; the main process decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  const hurry = new AbortController()
  const shutdown = new AbortController()
  let isEnding = false
  const end = async (wait: () => Promise<unknown>) => {
    if (isEnding) return
    isEnding = true
    await wait()
    const isWell = await closeService(service)
    await link.leave()
    endProcess(isWell ? 0 : 1)
  }
  link.onCommand((command) => {
    if (command === 'hurry') hurry.abort()
    // A retired worker does not wait for idle connections any longer once everything ends.
    if (command === 'retire') {
      void end(() => Promise.race([service.retire(), once(shutdown.signal, 'abort')]))
    } else shutdown.abort()
    if (command === 'end') {
      void end(() => service.drain(config.drainSeconds * 1000, hurry.signal))
    }
  })
  link.ready(service.port)
  service.logger.info({ pid: process.pid, port: service.port }, 'ready')
}

/**
 * Logs rejections that nothing handles. The service awaits its own promises; a rejection in a hook
 * from the settings must not crash the process for everyone.
 */
function surviveRejections({ logger }: StartedService): void {
  process.on('unhandledRejection', (error) => {
    logger.error({ err: error }, 'Unhandled promise rejection')
  })
}

/** Closes the service. Returns whether that succeeded. */
async function closeService(service: StartedService): Promise<boolean> {
  try {
    await service.close()
    return true
  } catch (error) {
    service.logger.error({ err: error }, 'The shutdown failed')
    return false
  }
}

/**
 * Ends the process on SIGINT or SIGTERM while the service starts. Without handlers, the first
 * process of a container would ignore them. Returns a function that removes the handlers.
 */
function endOnEarlySignal(): () => void {
  const end = (signal: NodeJS.Signals) => process.exit(128 + constants.signals[signal])
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, end)
  return () => {
    for (const signal of signals) process.off(signal, end)
  }
}

/**
 * Calls `end` on the first SIGINT or SIGTERM, which begins the drain, during which load balancers
 * notice. The second signal aborts `hurry`, which ends the wait; the third gets the default of the
 * operating system. Without a drain, as in a demo, the second one gets it.
 */
function endOnSignal(
  drains: boolean,
  end: (signal: NodeJS.Signals, hurry: AbortSignal) => Promise<void>,
): void {
  const hurry = new AbortController()
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const hear = () => {
      if (isEnding || !drains) process.off(signal, hear)
      if (isEnding) return hurry.abort()
      isEnding = true
      void end(signal, hurry.signal)
    }
    process.on(signal, hear)
  }
}

const EXIT_TIMEOUT = 1000

/**
 * Sets the exit code and lets the process end by itself, because only then does SQLite close its
 * file and remove the write-ahead log. Exits after one second if something still keeps the process
 * alive.
 */
function endProcess(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(code), EXIT_TIMEOUT).unref()
}

/**
 * Returns the text that `npm start` prints: the URLs, credentials and commands for trying out the
 * demo.
 */
export function describeService(service: Service): string {
  const { url, demo, sandbox } = service
  if (!demo) return `Tollgate runs at ${url}`
  const client = demo.clients.password
  const rows = [
    ['Tollgate runs at', url],
    ['Sign in with', `${demo.email} / ${demo.password}`],
    ...(client
      ? [
          ['Client id', client.id],
          ['Client secret', client.secret ?? ''],
        ]
      : []),
    ['Payment sandbox', `${sandbox?.controlRoom?.url ?? ''} (move its clock, fail its charges)`],
    ...(sandbox?.mail && sandbox.controlRoom
      ? [['Mailbox', `${sandbox.controlRoom.url}/mail (all mail of the demo)`]]
      : []),
  ]
  const lines = rows.map(([name = '', value = '']) => `${name.padEnd(17)} ${value}`)
  const width = Math.max(...lines.map((line) => line.length)) + 2
  const banner = [
    `┌${'─'.repeat(width)}┐`,
    ...lines.map((line) => `│ ${line.padEnd(width - 1)}│`),
    `└${'─'.repeat(width)}┘`,
  ]
  return `
${banner.join('\n')}
${client ? describeToken(url, demo, client) : ''}
Press Ctrl-C to stop it; your data is kept.
`
}

function describeToken(url: string, { email, password }: DemoState, client: DemoClient): string {
  return `
Get a token:

TOKEN=$(curl -s ${url}/oauth/token \\
  -d grant_type=password -d client_id=${client.id} -d client_secret=${client.secret} \\
  -d username=${email} -d password=${password} \\
  --data-urlencode scope='place-orders check-status' \\
  | node -p 'JSON.parse(require("fs").readFileSync(0)).access_token'); echo $TOKEN

Use it:

curl -s ${url}/api/orders -H "Authorization: Bearer $TOKEN"
`
}

/** The information of `describeService()` for `--json`. */
function serviceJson(service: Service) {
  const { url, port, demo, sandbox } = service
  return {
    url,
    port,
    sandbox: sandbox?.controlRoom?.url ?? null,
    mailbox: sandbox?.mail?.url ?? null,
    demo: demo && { email: demo.email, password: demo.password, clients: demo.clients },
  }
}
