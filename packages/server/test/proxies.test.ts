import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { codeBlocks, readPage } from '../../../test-support/markdown.ts'
import { createCertificate } from '../../../test-support/self-signed.ts'
import { checkProxies } from '../src/cli/doctor/proxies.ts'
import { startTestService, type TestService } from './support.ts'

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`

interface Place {
  readonly folder: string
  readonly port: number
  readonly servicePort: number
}

/** A common reverse proxy, started with the configuration of the guide. */
interface ProxyProgram {
  readonly name: string
  /** Language of the code block in the guide. */
  readonly language: string
  configure(block: string, place: Place): string
  readonly check: readonly string[]
  readonly run: readonly string[]
}

const nginx: ProxyProgram = {
  name: 'nginx',
  language: 'nginx',
  configure: (block, { folder, port, servicePort }) =>
    `${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log stderr; daemon off;
events {}
http { access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
${block
  .replace('listen 443', `listen 127.0.0.1:${port}`)
  .replace('/etc/ssl/api.example.com.pem', `${folder}/cert.pem`)
  .replace('/etc/ssl/private/api.example.com.key', `${folder}/key.pem`)
  .replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`)}
}`,
  check: ['nginx', '-t', '-c'],
  run: ['nginx', '-c'],
}

const caddy: ProxyProgram = {
  name: 'Caddy',
  language: 'caddyfile',
  configure: (block, { folder, port, servicePort }) =>
    `{
	admin off
	auto_https disable_redirects
	default_sni api.example.com
}
${block
  .replace(
    'api.example.com {',
    `api.example.com:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
  )
  .replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`)}`,
  check: ['caddy', 'validate', '--adapter', 'caddyfile', '--config'],
  run: ['caddy', 'run', '--adapter', 'caddyfile', '--config'],
}

const certificate = createCertificate(['api.example.com'])
const blocks = codeBlocks(readPage('docs/guides/production.md'))

let service: TestService | undefined
let running: ChildProcess | undefined
let folder: string | undefined

afterEach(async () => {
  if (running) {
    const gone = new Promise((resolve) => running?.once('exit', resolve))
    running.kill('SIGTERM')
    await gone
  }
  await service?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
  service = running = folder = undefined
})

interface Sent {
  readonly port: number
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request with the public host name to any address. */
function send({ port, path, method = 'GET', headers = {}, body = '' }: Sent) {
  return new Promise<{ status: number; text: string; requestId: unknown }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername: 'api.example.com', path, method }
    const all = { host: 'api.example.com', ...headers }
    const call = request({ ...options, headers: all, ca: certificate.cert }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      const requestId = response.headers['x-request-id']
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, requestId }))
    })
    call.on('error', reject)
    call.end(body)
  })
}

const guess = (port: number, forwardedFor: string) =>
  send({
    port,
    path: '/oauth/token',
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': forwardedFor,
    },
    body: 'grant_type=client_credentials&client_id=unknown&client_secret=wrong',
  })

/**
 * Starts the service behind the proxy. `plain`: without TLS, for callers that cannot be given a
 * certificate.
 */
async function startBehindProxy(
  program: ProxyProgram,
  { change = (block: string) => block, plain = false } = {},
) {
  const [port, servicePort] = [await findFreePort(), await findFreePort()]
  const url = plain ? `http://localhost:${port}` : 'https://api.example.com'
  service = await startTestService({
    environment: { PORT: String(servicePort), TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' },
    config: { url },
  })
  folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'))
  writeFileSync(join(folder, 'cert.pem'), certificate.cert)
  writeFileSync(join(folder, 'key.pem'), certificate.key)
  const block = blocks.find(({ info }) => info === program.language)?.code ?? ''
  const file = join(folder, 'config')
  writeFileSync(file, program.configure(change(block), { folder, port, servicePort }))
  const env = { ...process.env, PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const [command = '', ...args] = program.check
  const checked = spawnSync(command, [...args, file], { env, encoding: 'utf8' })
  const [start = '', ...options] = program.run
  running = spawn(start, [...options, file], { env, stdio: 'ignore' })
  const ask = () => (plain ? fetch(`${url}/healthz`) : send({ port, path: '/healthz' }))
  const answers = () =>
    ask().then(
      ({ status }) => status,
      () => null,
    )
  await expect.poll(answers).toBe(200)
  return { port, checked }
}

const isInstalled = ({ run: [command = ''] }: ProxyProgram) =>
  spawnSync('which', [command], { env: { ...process.env, PATH } }).status === 0

describe.each([nginx, caddy])('the documented proxy configuration of $name', (program) => {
  const missing = !isInstalled(program)
  if (missing) console.log(`${program.name} is left out: install it, or use .ci/run`)

  it.skipIf(missing)(
    'is accepted by the proxy, which then passes paths and bodies unchanged',
    async () => {
      const { port, checked } = await startBehindProxy(program)
      expect(checked.status, checked.stderr).toBe(0)
      expect((await send({ port, path: '/.well-known/oauth-authorization-server' })).status).toBe(
        200,
      )
      expect((await send({ port, path: '//.well-known/oauth-authorization-server' })).status).toBe(
        404,
      )
      const text = 'x'.repeat(70 * 1024)
      const webhook = await send({ port, path: '/stripe/webhook', method: 'POST', body: text })
      expect([webhook.status, webhook.text]).toEqual([400, expect.stringContaining('ignature')])
      expect(service?.log()).not.toContain('X-Forwarded-For')
    },
  )

  it.skipIf(missing)('chooses the id of each request itself', async () => {
    const { port } = await startBehindProxy(program)
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = {
      'x-request-id': 'forged-12345678',
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    }
    const sent = await Promise.all([1, 2].map(() => send({ port, path: '/login', headers })))
    const ids = sent.map(({ requestId }) => requestId)
    expect(new Set([...ids, 'forged-12345678', traceId]).size).toBe(4)
    // The log has the id that the proxy sent.
    for (const id of ids) expect(service?.log()).toContain(`"request_id":"${id}"`)
  })

  it.skipIf(missing)(
    'lets no caller forge an IP address, so that rate limits work (threat Q9)',
    async () => {
      const { port } = await startBehindProxy(program)
      const statuses = new Set<number>()
      for (let turn = 1; turn <= 250 && !statuses.has(429); turn++) {
        statuses.add((await guess(port, `203.0.113.${turn}`)).status)
      }
      expect(statuses).toEqual(new Set([401, 429]))
    },
  )
})

describe('a misconfigured proxy', () => {
  const missing = !isInstalled(nginx)
  const withoutTls = (block: string) => block.replace(' ssl;', ';').replace(/^ *ssl_.*$/gm, '')

  /** The findings of doctor through the proxy. */
  async function examine(change: (block: string) => string) {
    const { port } = await startBehindProxy(nginx, {
      change: (block) => change(withoutTls(block)),
      plain: true,
    })
    const secrets = [readFileSync(join(service?.dataDir ?? '', 'secret'), 'utf8')]
    const url = `http://localhost:${port}`
    return { url, findings: await checkProxies({ url, trustedProxies: ['127.0.0.1'], secrets }) }
  }

  it.skipIf(missing)(
    "is reported by doctor when it forwards the caller's own X-Forwarded-For",
    async () => {
      const { findings } = await examine((block) => block.replace(/^.*X-Forwarded-For.*$/m, ''))
      expect(findings).toMatchObject([{ level: 'problem', check: 'proxies' }])
    },
  )

  it.skipIf(missing)(
    'is reported by doctor, and logged once, when it forwards no address',
    async () => {
      const { url, findings } = await examine((block) =>
        block.replace('X-Forwarded-For $remote_addr;', 'X-Forwarded-For "";'),
      )
      expect(findings).toMatchObject([{ level: 'warning', check: 'proxies' }])
      for (const _ of [1, 2]) await fetch(`${url}/login`)
      expect(service?.log().match(/sent no usable X-Forwarded-For/g)).toHaveLength(1)
    },
  )

  it('is reported by doctor when https needs a proxy and none is trusted', async () => {
    const findings = await checkProxies({
      url: 'https://api.example.com',
      trustedProxies: [],
      secrets: ['s'.repeat(32)],
    })
    expect(findings).toMatchObject([{ level: 'warning', check: 'proxies' }])
  })

  it('is logged once when it forwards an address but is not trusted', async () => {
    service = await startTestService()
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (const _ of [1, 2]) await fetch(`${service.url}/login`, { headers })
    expect(service.log().match(/add its address to TOLLGATE_TRUSTED_PROXIES/g)).toHaveLength(1)
  })
})
