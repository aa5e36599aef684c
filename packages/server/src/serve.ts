import { loadConfig } from './config/load-config.ts'
import { createService, type Service } from './service.ts'

/** Starts the service, and ends it in good order when the process is told to. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<Service> {
  const config = await loadConfig(environment)
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
  const service = await createService(config)
  service.logger.info({ url: service.url, port: service.port }, 'ready')
  // Somebody sits at a demo; production has its log.
  const say = (text: string) => {
    if (config.mode === 'demo') process.stderr.write(`\n${text}\n`)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      service.logger.info({ signal }, 'ending')
      say('Stopping: what is under way may end first. Ctrl-C again stops at once.')
      service.close().then(
        () => {
          say(
            `Stopped. What you made is kept in ${config.dataDir}; the next start goes on from there.`,
          )
          process.exit(0)
        },
        (error) => {
          service.logger.error({ err: error }, 'The end was not clean')
          process.exit(1)
        },
      )
    })
  }
  return service
}
