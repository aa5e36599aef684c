import type { Config } from '../../config/config.ts'
import type { DemoClient, DemoState } from '../../demo/state-file.ts'
import { type Service, startService } from '../../service.ts'
import { command } from '../command.ts'
import * as option from '../options.ts'

export const serveCommand = command({
  summary: 'run the service until it is stopped',
  options: {
    port: option.text('<port>', 'overrides PORT; 0 picks a free one'),
    host: option.text('<address>', 'overrides HOST'),
  },
  async run({ options: { port, host } }, context) {
    const config = await context.config(['secret', 'url', 'providers'], {
      ...(port === null ? {} : { PORT: port }),
      ...(host === null ? {} : { HOST: host }),
    })
    const service = await serve(config)
    const { json } = context
    if (json) context.print(`${JSON.stringify(serviceJson(service))}\n`)
    else if (service.demo) context.print(`${describeService(service)}\n`)
    return null
  },
})

/** Starts the service, and shuts it down gracefully on SIGINT or SIGTERM. */
async function serve(config: Config): Promise<Service> {
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`)
  const service = await startService(config)
  service.logger.info({ url: service.url, port: service.port }, 'ready')
  // The service awaits its own promises. A rejection in a hook from the settings must not crash the
  // process for everyone.
  process.on('unhandledRejection', (error) => {
    service.logger.error({ err: error }, 'Unhandled promise rejection')
  })
  // A demo also prints to the terminal; in production the log is enough.
  const say = (text: string) => {
    if (config.mode === 'demo') process.stderr.write(`\n${text}\n`)
  }
  const end = async () => {
    await service.close()
    say(`Stopped. Your data is kept in ${config.dataDir}; the next start continues from there.`)
  }
  // The first signal starts the drain, during which load balancers notice; the second ends the
  // wait; the third gets the default of the operating system. A demo does not drain, because it has
  // no load balancer.
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
      say('Stopping: requests in progress may finish. Press Ctrl-C again to stop at once.')
      if (drainSeconds === 0) process.off(signal, hear)
      service
        .drain(drainSeconds * 1000, hurry.signal)
        .then(end)
        .then(
          () => endProcess(0),
          (error) => {
            service.logger.error({ err: error }, 'The shutdown failed')
            endProcess(1)
          },
        )
    }
    process.on(signal, hear)
  }
  return service
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
    demo: demo && { email: demo.email, password: demo.password, clients: demo.clients },
  }
}
