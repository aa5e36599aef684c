import { loadConfig } from './config/load-config.ts'
import { createService, type Service } from './service.ts'

/** Starts the service, and ends it in good order when the process is told to. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<Service> {
  const config = await loadConfig(environment)
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
  const service = await createService(config)
  service.logger.info({ url: service.url, port: service.port }, 'ready')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      service.logger.info({ signal }, 'ending')
      service.close().then(
        () => process.exit(0),
        (error) => {
          service.logger.error({ err: error }, 'The end was not clean')
          process.exit(1)
        },
      )
    })
  }
  return service
}
