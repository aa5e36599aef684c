import { loadConfig } from '../config/load-config.ts'
import { type Service, startService } from '../service.ts'

/** Starts the service, and ends it in good order when the process is told to. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<Service> {
  const config = await loadConfig(environment)
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
  const service = await startService(config)
  service.logger.info({ url: service.url, port: service.port }, 'ready')
  // Ours are all waited for; one of a hook in the settings must not end what everybody else does.
  process.on('unhandledRejection', (error) => {
    service.logger.error({ err: error }, 'Something failed that nobody waited for')
  })
  // Somebody sits at a demo; production has its log.
  const say = (text: string) => {
    if (config.mode === 'demo') process.stderr.write(`\n${text}\n`)
  }
  const end = async () => {
    await service.close()
    say(`Stopped. What you made is kept in ${config.dataDir}; the next start goes on from there.`)
  }
  // The first signal lets balancers look elsewhere, the second one stops waiting for them, the third
  // one is the operating system's. A demo has no balancer.
  const hurry = new AbortController()
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const hear = () => {
      if (isEnding) {
        process.off(signal, hear)
        hurry.abort()
        return
      }
      isEnding = true
      const { drainSeconds } = config
      service.logger.info({ signal, drainSeconds }, 'ending')
      say('Stopping: what is under way may end first. Ctrl-C again stops at once.')
      if (drainSeconds === 0) process.off(signal, hear)
      service
        .drain(drainSeconds * 1000, hurry.signal)
        .then(end)
        .then(
          () => endProcess(0),
          (error) => {
            service.logger.error({ err: error }, 'The end was not clean')
            endProcess(1)
          },
        )
    }
    process.on(signal, hear)
  }
  return service
}

const TIME_TO_END = 1000

/**
 * Lets the process come to its end by itself, because only then does SQLite close its file and remove the
 * log beside it. What still keeps the process alive has a second.
 */
function endProcess(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(code), TIME_TO_END).unref()
}
