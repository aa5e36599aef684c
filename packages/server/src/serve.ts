import { loadConfig } from './config/load-config.ts'
import { describeService } from './demo/box.ts'
import { createService, type Service } from './service.ts'

/** Runs the service until the process is told to end. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<Service> {
  const config = await loadConfig(environment)
  const service = await createService(config)
  if (config.mode === 'demo') process.stdout.write(`${describeService(service)}\n`)
  else service.logger.info({ url: service.url, port: service.port }, 'ready')
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
