import { connect as dial, type Socket } from 'node:net'
import { connect } from '@tollgate/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { startTcpProxy } from '../../../test-support/tcp-proxy.ts'
import { migrateCore } from '../src/core.ts'
import { createReadiness } from '../src/http/readiness.ts'
import { startService } from '../src/service.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    options: {
      timeouts: { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 },
    },
  })
})
afterAll(() => service.stop())

/** Sends text on a new connection, and collects the response until the server closes it. */
function converse(text: string, port = service.port): Promise<{ answer: string; socket: Socket }> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = dial(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, socket }))
  })
}

describe('the health checks', () => {
  it('are public, set no cookie, and reveal nothing about the database', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(`${service.url}${path}`)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ status: 'ok' })
      expect(response.headers.getSetCookie()).toEqual([])
    }
  })
})

describe('the metrics', () => {
  it('can be read from this machine, but not through a proxy', async () => {
    await fetch(`${service.url}/api/user`)
    await fetch(`${service.url}/some/where/else?token=secret`)
    const response = await fetch(`${service.url}/metrics`)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain('tollgate_request_duration_seconds_bucket')
    expect(text).toMatch(/route="\/api\/user",method="GET",status="401"/)
    // Callers cannot create labels.
    expect(text).not.toContain('/some/where')
    const forwarded = await fetch(`${service.url}/metrics`, {
      headers: { 'x-forwarded-for': '127.0.0.1' },
    })
    expect(forwarded.status).toBe(404)
  })

  it('count refreshes that were repeated late, which the log also reports', async () => {
    const { email = '', password = '', clients } = service.demo ?? {}
    const { id = '', secret } = clients?.password ?? {}
    const ask = async (form: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: id, client_secret: secret ?? '', ...form })
      const reply = await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
      expect(reply.status).toBe(200)
      return (await reply.json()) as { refresh_token: string }
    }
    const { refresh_token } = await ask({ grant_type: 'password', username: email, password })
    const refresh = () => ask({ grant_type: 'refresh_token', refresh_token })
    const lost = await refresh()
    const count = async () =>
      /tollgate_late_refreshes_total (\d+)/.exec(
        await (await fetch(`${service.url}/metrics`)).text(),
      )?.[1]
    expect(await count()).toBe('0')
    service.clock.advance({ seconds: 13 })
    expect((await refresh()).refresh_token).toBe(lost.refresh_token)
    expect(await count()).toBe('1')
    const [line = ''] = service
      .log()
      .split('\n')
      .filter((text) => text.includes('13 s after its first use'))
    expect(JSON.parse(line)).toMatchObject({ level: 'warn' })
    expect(line).not.toContain(refresh_token)
  })

  it('require the token if one is configured', async () => {
    const guarded = await startTestService({
      environment: { TOLLGATE_METRICS_TOKEN: 'a token of metrics' },
    })
    const get = (authorization: string) =>
      fetch(`${guarded.url}/metrics`, { headers: { authorization } })
    expect((await get('')).status).toBe(404)
    expect((await get('Bearer a token of metricz')).status).toBe(404)
    expect((await get('Bearer a token of metrics')).status).toBe(200)
    await guarded.stop()
  })
})

describe('limits on requests', () => {
  it('cut off headers and bodies that arrive too slowly (threat L1)', async () => {
    const headers = await converse('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    expect(headers.answer).toContain('408')
    const body = await converse(
      'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant',
    )
    expect(body.answer).toMatch(/^(HTTP\/1.1 4\d\d|$)/)
  })

  it.each([
    ['huge headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
    [
      'two lengths',
      'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      '400',
    ],
    [
      'a length and chunks',
      'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', '400'],
  ])('reject a request with %s', async (_, text, status) => {
    expect((await converse(text)).answer).toContain(`HTTP/1.1 ${status}`)
  })

  it('reject a body that is too large, with or without Content-Length', async () => {
    const large = 'x'.repeat(70_000)
    for (const path of ['/login', '/oauth/token']) {
      const said = await fetch(`${service.url}${path}`, { method: 'POST', body: large })
      expect(said.status).toBe(413)
      const stream = new Blob([large]).stream()
      const unsaid = await fetch(`${service.url}${path}`, {
        method: 'POST',
        body: stream,
        duplex: 'half',
      } as RequestInit)
      expect(unsaid.status).toBe(413)
    }
  })

  it.each([
    ['present', 'Content-Length: 100\r\n\r\ngrant_type=password'],
    ['absent', 'Transfer-Encoding: chunked\r\n\r\n5\r\ngrant\r\n'],
  ])('treat an aborted body as an error of the caller (Content-Length: %s)', async (how, rest) => {
    const path = `/oauth/token?${how.replace(' ', '-')}`
    const before = service.log().length
    const form = 'Content-Type: application/x-www-form-urlencoded'
    const socket = dial(service.port, '127.0.0.1', () =>
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${form}\r\n${rest}`, () =>
        socket.destroy(),
      ),
    )
    const log = () => service.log().slice(before)
    await vi.waitFor(() => expect(log()).toContain('"path":"/oauth/token"'))
    expect(log()).toContain('"status":400')
    expect(log()).not.toContain('failed unexpectedly')
  })

  it('accept a small body without Content-Length', async () => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret ?? '',
    })
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new Blob([form.toString()]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(200)
  })

  it('answer TRACE with 405, and log no error', async () => {
    const before = service.log().length
    for (const path of ['/', '/login', '/oauth/token', '/api/user', '/stripe/webhook']) {
      const { answer } = await converse(`TRACE ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1.1 405 /)
      expect(answer).toMatch(/^allow: GET, HEAD, POST/im)
    }
    expect(service.log().slice(before)).not.toContain('"level":50')
  })

  it('cause no response with status 500, whatever the path and method', async () => {
    const paths = [
      '/',
      '/login',
      '/nowhere',
      '/api/user',
      '/oauth/token',
      '/assets/',
      '/%00',
      '/%ff',
    ]
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) {
        const response = await fetch(`${service.url}${path}`, { method, redirect: 'manual' })
        expect(response.status, `${method} ${path}`).toBeLessThan(500)
      }
    }
  })
})

describe('the demo', () => {
  it('redirects a browser that uses another name of this machine to its own URL', async () => {
    const { answer } = await converse(
      'GET /login?return_to=%2F HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Mode: navigate\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toContain('HTTP/1.1 302')
    expect(answer.toLowerCase()).toContain(`location: ${service.url}/login?return_to=%2f`)
    const program = await fetch(`http://127.0.0.1:${service.port}/login`)
    expect(program.url).not.toContain('localhost')
    expect(program.status).toBe(200)
  })
})

describe('security headers', () => {
  it.each(['/login', '/nowhere', '/healthz', '/api/user', '/oauth/token'])(
    'forbid content sniffing and framing on %s',
    async (path) => {
      const { headers } = await fetch(`${service.url}${path}`, { headers: { accept: 'text/html' } })
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
    },
  )

  it('forbid inline script and style, framing and caching on pages', async () => {
    const { headers } = await service.browser().get('/login')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cache-control')).toBe('no-store')
  })
})

// SQLite has no server that could be cut off.
describe.skipIf(process.env.TEST_DATABASE === 'sqlite')(
  'an unavailable database of the service',
  () => {
    it('is reported at /readyz and by 503 on every route, until it is back (threat F2)', async () => {
      const { url, drop } = await createTestDatabase()
      const proxy = await startTcpProxy(url)
      const away = await startTestService({ environment: { DATABASE_URL: proxy.url } })
      try {
        await proxy.cut()
        expect((await fetch(`${away.url}/healthz`)).status).toBe(200)
        expect((await fetch(`${away.url}/readyz`)).status).toBe(503)
        const page = await away.browser().signIn('ada@example.com', 'correct horse')
        expect(page.status).toBe(503)
        expect(page.headers.get('retry-after')).toBe('1')
        expect(await page.text()).not.toContain('ECONN')
        await proxy.heal()
        await expect.poll(async () => (await fetch(`${away.url}/readyz`)).status).toBe(200)
        expect((await away.browser().signIn('ada@example.com', 'correct horse')).status).toBe(401)
      } finally {
        await away.stop()
        await proxy.close()
        await drop()
      }
    })
  },
)

// SQLite has no server that could be cut off.
describe.skipIf(process.env.TEST_DATABASE === 'sqlite')(
  "an outage of the service's database",
  () => {
    it('is logged as one warning when it begins and one when it ends, without errors', async () => {
      const { url, drop } = await createTestDatabase()
      const proxy = await startTcpProxy(url)
      const away = await startTestService({ environment: { DATABASE_URL: proxy.url } })
      const lines = (level: string) =>
        away
          .log()
          .split('\n')
          .filter((line) => line.includes(`"level":"${level}"`))
      try {
        await proxy.cut()
        for (let turn = 0; turn < 20; turn++) {
          const page = await away.browser().signIn('ada@example.com', 'correct horse')
          expect(page.status).toBe(503)
        }
        expect(lines('warn')).toEqual([
          expect.stringContaining('The database is unavailable or too slow'),
        ])
        await proxy.heal()
        await expect.poll(() => lines('warn')).toHaveLength(2)
        expect(lines('warn')[1]).toContain('The database is available again')
        expect(JSON.parse(lines('warn')[1] ?? '').failures).toBeGreaterThanOrEqual(20)
        expect(lines('error')).toEqual([])
      } finally {
        await away.stop()
        await proxy.close()
        await drop()
      }
    })

    it('delays a start of the service for up to TOLLGATE_DATABASE_WAIT_SECONDS', async () => {
      const { url, drop } = await createTestDatabase()
      const proxy = await startTcpProxy(url)
      await proxy.cut()
      const environment = { DATABASE_URL: proxy.url, TOLLGATE_DATABASE_WAIT_SECONDS: '0' }
      const { config, remove } = await testConfig({ environment })
      try {
        await expect(startService(config, { keepDemo: false })).rejects.toThrow(
          'Cannot open the database',
        )
        const lines: string[] = []
        const starting = startService(
          { ...config, databaseWaitSeconds: 60 },
          { keepDemo: false, logTo: { write: (line) => void lines.push(line) } },
        )
        await expect.poll(() => lines.join('')).toContain('Waiting for the database')
        await proxy.heal()
        const service = await starting
        expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
        await service.close(0)
      } finally {
        await remove()
        await proxy.close()
        await drop()
      }
    })
  },
)

describe('a database that accepts no writes', () => {
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, said: ((await response.json()) as { status: string }).status }
  }
  const refuses = { status: 503, said: 'the database takes no writes' }
  const well = { status: 200, said: 'ok' }

  // For SQLite a limit on pages is the same as a full disk.
  it.runIf(process.env.TEST_DATABASE === 'sqlite')(
    'is reported at /readyz when its disk is full (threat F2)',
    async () => {
      const full = await startTestService()
      const { kysely } = full.database
      const fill = () =>
        sql`insert into write_probes (id, written_at, filler)
        values (hex(randomblob(16)), ${Date.now()}, hex(randomblob(1000)))`.execute(kysely)
      await sql`pragma max_page_count = 1`.execute(kysely)
      await expect(
        (async () => {
          for (;;) await fill()
        })(),
      ).rejects.toThrow()
      expect(await readiness(full.url)).toEqual(refuses)
      expect((await fetch(`${full.url}/healthz`)).status).toBe(200)
      await sql`pragma max_page_count = 1000000`.execute(kysely)
      await expect.poll(() => readiness(full.url)).toEqual(well)
      await full.stop()
    },
  )

  it('is detected by occasional writes, however often /readyz is requested', async () => {
    let writes = 0
    const { url, drop } = await createTestDatabase()
    const counted = await connect(url, {
      onQuery: (text) => {
        if (/insert into .?write_probes/.test(text)) writes++
      },
    })
    await migrateCore(counted)
    const check = createReadiness(counted)
    const answers = await Promise.all(Array.from({ length: 50 }, () => check()))
    expect(new Set(answers)).toEqual(new Set(['ok']))
    for (let i = 0; i < 10; i++) expect(await check()).toBe('ok')
    expect(writes).toBe(1)
    await counted.close()
    await drop()
  })
})

describe('a caller that disconnects while sending the body', () => {
  it.each([
    ['/oauth/token', 'Content-Length: 100'],
    ['/oauth/token', 'Transfer-Encoding: chunked'],
    ['/login', 'Content-Length: 100'],
    ['/stripe/webhook', 'Content-Length: 100'],
    ['/oauth/clients', 'Content-Length: 100'],
  ])('causes no database error at %s with %s', async (path, length) => {
    const before = service.log().length
    const socket = dial(service.port, '127.0.0.1')
    const heads = [
      `POST ${path} HTTP/1.1`,
      `Host: x`,
      `Origin: ${service.url}`,
      'Content-Type: application/x-www-form-urlencoded',
      length,
    ]
    const chunk = length.startsWith('T') ? '5\r\ngrant\r\n' : 'grant'
    socket.write(`${heads.join('\r\n')}\r\n\r\n${chunk}`, () => socket.destroySoon())
    const lines = () => service.log().slice(before)
    await expect.poll(lines).toContain(`"path":"${path}"`)
    expect(lines()).not.toContain('"level":"error"')
    expect(lines()).not.toMatch(/"status":5/)
  })
})

describe('the shutdown of the service', () => {
  it('finishes requests in progress, rejects new connections, and closes (threat F3)', async () => {
    const ending = await startTestService()
    const { port } = ending
    // A request whose headers have arrived, but not its body.
    const socket = dial(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-continue\r\nContent-Length: 18\r\n\r\n',
    )
    await expect.poll(() => answer).toContain('100 Continue')
    const end = ending.close(5000)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
    socket.write('grant_type=unknown')
    await closed
    expect(answer).toMatch(/HTTP\/1\.1 401/)
    expect(answer.toLowerCase()).toContain('connection: close')
    await end
    await ending.stop()
  })
})
