import type { DemoClient, DemoState } from '../demo/state-file.ts'
import type { Service } from '../service.ts'

/** What `npm start` prints: everything needed to try it, to be copied as it stands. */
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
Press Ctrl-C to stop it; what you made is kept.
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

/** The same for scripts. */
export function serviceJson(service: Service) {
  const { url, port, demo, sandbox } = service
  return {
    url,
    port,
    sandbox: sandbox?.controlRoom?.url ?? null,
    demo: demo && { email: demo.email, password: demo.password, clients: demo.clients },
  }
}
