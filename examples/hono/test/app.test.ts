import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-example-'))
let app: ChildProcess
let issuer: string
let printed = ''

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

beforeAll(async () => {
  const port = await freePort()
  issuer = `http://localhost:${port}`
  app = spawn(process.execPath, ['examples/hono/dist/main.js'], {
    env: { ...process.env, PORT: String(port), TOLLGATE_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    app.stdout?.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Metadata:')) resolve()
    })
    app.once('exit', () => reject(new Error(`The example ended early: ${printed}`)))
  })
})

afterAll(() => {
  app.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** The form fields of the curl that was printed, as a shell would send them. */
function printedForm(): URLSearchParams {
  const fields = [...printed.matchAll(/(?:-d|--data-urlencode) (\w+)=('[^']*'|\S+)/g)]
  return new URLSearchParams(
    fields.map(([, name = '', value = '']) => [name, value.replaceAll("'", '')]),
  )
}

describe('the Hono example', () => {
  it('prints a curl that gets a token, which opens the API', async () => {
    const reply = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: printedForm() })
    expect(reply.status).toBe(200)
    const { access_token } = (await reply.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}` }
    const user = await fetch(`${issuer}/api/user`, { headers })
    expect(await user.json()).toEqual({ id: '1', email: 'demo@example.com' })
    expect((await fetch(`${issuer}/api/orders`, { headers })).status).toBe(200)
    expect((await fetch(`${issuer}/api/orders`)).status).toBe(401)
  })

  it('signs in, asks for approval and sends the browser back with a code', async () => {
    const query = new URLSearchParams({
      client_id: printedForm().get('client_id') ?? '',
      redirect_uri: `${issuer}/callback`,
      response_type: 'code',
      scope: 'check-status',
      state: 'xyz',
    })
    const browser = { redirect: 'manual', headers: { accept: 'text/html' } } as const
    const first = await fetch(`${issuer}/oauth/authorize?${query}`, browser)
    const loginUrl = new URL(first.headers.get('location') ?? '', issuer)
    expect(loginUrl.pathname).toBe('/login')

    const login = await fetch(`${issuer}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: issuer },
      body: new URLSearchParams({
        email: 'demo@example.com',
        password: 'demo-password',
        return_to: loginUrl.searchParams.get('return_to') ?? '',
      }),
    })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const back = new URL(login.headers.get('location') ?? '', issuer)
    const page = await fetch(back, { headers: { accept: 'text/html', cookie } })
    const html = await page.text()
    expect(html).toContain('Check order status')

    const decision = await fetch(new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', issuer), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: issuer },
      body: new URLSearchParams({
        csrf_token: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
        decision: 'approve',
      }),
    })
    const answer = new URL(decision.headers.get('location') ?? '')
    expect(answer.pathname).toBe('/callback')
    expect(answer.searchParams.get('state')).toBe('xyz')
    expect(answer.searchParams.get('code')).toMatch(/^tgc_/)
  })
})
