import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../test-support/free-port.ts'
import { createBrowser } from './browser.ts'
import { type Program, runProgram, startProgram, untilServing } from './built-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-processes-'))
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const onSqlite = process.env.TEST_DATABASE === 'sqlite'

interface Process extends Program {
  readonly url: string
}

let test: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSandbox<{ stripe: true; braintree: true }>>>
let environment: Record<string, string>
let issuer: string
const children: ChildProcess[] = []

beforeAll(async () => {
  test = await createTestDatabase()
  sandbox = await startSandbox({ stripe: true, braintree: true })
  issuer = 'http://localhost:1'
  environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    DATABASE_URL: test.url,
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: issuer,
    // Lets a test use any network.
    TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
    STRIPE_SECRET: sandbox.stripe.apiKey,
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    STRIPE_API_URL: sandbox.stripe.url,
    TOLLGATE_DRAIN_SECONDS: '4',
  }
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await sandbox.close()
  await test.drop()
  rmSync(folder, { recursive: true, force: true })
})

async function startProcess(more: Record<string, string> = {}): Promise<Process> {
  const port = await findFreePort()
  const process = startProgram(['serve'], { ...environment, PORT: String(port), ...more })
  children.push(process.child)
  return { ...process, url: `http://127.0.0.1:${port}` }
}

const untilReady = (process: Process) => untilServing(process, process.url)

const run = (...args: string[]) => runProgram(args, environment)

describe('two processes of the service on one database', () => {
  let one: Process
  let two: Process
  let client: { id: string; secret: string }

  /** Forms send the public origin, as a browser behind a proxy would. */
  const browserOf = ({ url }: Process) => {
    const browser = createBrowser(url)
    const signIn = (password: string, address = '198.51.100.1', email = EMAIL) => {
      const headers = { origin: issuer, 'x-forwarded-for': address }
      return browser.post('/login', { email, password }, headers)
    }
    return { ...browser, signIn }
  }
  const getToken = async ({ url }: Process) => {
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: client.id,
        client_secret: client.secret,
        username: EMAIL,
        password: PASSWORD,
      }),
    })
    expect(response.status).toBe(200)
    return ((await response.json()) as { access_token: string }).access_token
  }
  const use = async ({ url }: Process, token: string) =>
    (await fetch(`${url}/api/user`, { headers: { authorization: `Bearer ${token}` } })).status

  it('start concurrently on an empty database: one migrates, the other waits', async () => {
    const started = await Promise.all([startProcess(), startProcess()])
    ;[one, two] = started
    await Promise.all(started.map(untilReady))
    for (const { output } of started) expect(output()).not.toMatch(/"level":"error"/)
  })

  it('accept a user and a client that a command has created in the meantime', async () => {
    const user = ['--email', EMAIL, '--password', PASSWORD]
    expect(JSON.parse(await run('user', 'create', ...user, '--json')).email).toBe(EMAIL)
    client = JSON.parse(await run('client', 'create', '--name', 'Own', '--password', '--json'))
    expect(await use(two, await getToken(one))).toBe(200)
  })

  it('share sessions: a person signed in at one is signed in at both, and signed out at both', async () => {
    const browser = browserOf(one)
    expect((await browser.signIn(PASSWORD)).status).toBe(303)
    const other = browserOf(two)
    for (const [name, value] of browser.cookies) other.cookies.set(name, value)
    expect((await other.get('/')).status).toBe(200)
    const csrf_token = await other.csrfToken()
    await other.post('/logout', { csrf_token }, { origin: issuer })
    expect((await browser.get('/')).status).toBe(302)
  })

  it('apply a revocation made in one process within a second in the other (threat G3)', async () => {
    const token = await getToken(one)
    expect(await use(two, token)).toBe(200)
    const revoked = await fetch(`${one.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, client_secret: client.secret, token }),
    })
    expect(revoked.status).toBe(200)
    await expect.poll(() => use(two, token)).toBe(401)
  })

  it('accept 24 correct passwords that arrive concurrently at both processes (threat Q6)', async () => {
    const signIns = Array.from({ length: 24 }, (_, index) =>
      browserOf(index % 2 === 0 ? one : two).signIn(PASSWORD, '198.51.100.24'),
    )
    const statuses = (await Promise.all(signIns)).map(({ status }) => status)
    expect(statuses).toEqual(signIns.map(() => 303))
  })

  it('after a while release the slots for password checks that a killed process occupied (threat Q6)', async () => {
    const doomed = await startProcess()
    await untilReady(doomed)
    const cut = Array.from({ length: 16 }, () =>
      browserOf(doomed)
        .signIn(PASSWORD, '198.51.100.25')
        .then(
          ({ status }) => status,
          () => 'cut off',
        ),
    )
    await Promise.race(cut)
    doomed.child.kill('SIGKILL')
    expect(await Promise.all(cut)).toContain('cut off')
    expect((await browserOf(one).signIn(PASSWORD, '198.51.100.25')).status).toBe(303)
  })

  it('share rate limits, which are kept over a restart', async () => {
    for (let tries = 0; tries < 10; tries++) {
      const process = tries % 2 === 0 ? one : two
      expect((await browserOf(process).signIn('wrong')).status).toBe(401)
    }
    expect((await browserOf(one).signIn(PASSWORD)).status).toBe(429)
    expect((await browserOf(two).signIn(PASSWORD)).status).toBe(429)
    const three = await startProcess()
    await untilReady(three)
    expect((await browserOf(three).signIn(PASSWORD)).status).toBe(429)
    three.child.kill('SIGKILL')
    await three.ended
  })

  it('accept a correct client secret after a thousand wrong ones from 35 addresses', async () => {
    const credentials = ['--name', 'Own', '--credentials', '--json']
    const made = JSON.parse(await run('client', 'create', ...credentials))
    const issue = ({ url }: Process, client_secret: string, address: string) =>
      fetch(`${url}/oauth/token`, {
        method: 'POST',
        headers: { 'x-forwarded-for': address },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: made.id,
          client_secret,
        }),
      })
    const networks = Array.from({ length: 35 }, (_, index) => `203.0.113.${index}`)
    for (let round = 0; round < 30; round++) {
      const process = round % 2 === 0 ? one : two
      await Promise.all(networks.map((address) => issue(process, 'wrong', address)))
    }
    for (const process of [one, two]) {
      expect((await issue(process, 'wrong', '198.51.100.77')).status).toBe(429)
      for (const address of ['203.0.113.0', '198.51.100.77']) {
        expect((await issue(process, made.secret, address)).status).toBe(200)
      }
    }
  })

  it('accept a correct sign-in from a network known for the account, however many wrong passwords arrive from other networks', async () => {
    const email = 'grace@example.com'
    await run('user', 'create', '--email', email, '--password', PASSWORD)
    const home = '198.51.100.8'
    expect((await browserOf(one).signIn(PASSWORD, home, email)).status).toBe(303)
    for (let network = 0; network < 13; network++) {
      const tries = Array.from({ length: 8 }, (_, index) =>
        browserOf(index % 2 === 0 ? one : two).signIn('wrong', `203.0.113.${network}`, email),
      )
      await Promise.all(tries)
    }
    for (const process of [one, two]) {
      expect((await browserOf(process).signIn(PASSWORD, '198.51.100.9', email)).status).toBe(429)
      expect((await browserOf(process).signIn(PASSWORD, home, email)).status).toBe(303)
    }
  })

  it('keep all confirmed changes when one process is killed (threat F1)', async () => {
    const made = JSON.parse(
      await run('client', 'create', '--name', 'Own', '--credentials', '--json'),
    )
    const issue = async ({ url }: Process) => {
      const response = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: made.id,
          client_secret: made.secret,
        }),
      })
      return ((await response.json()) as { access_token: string }).access_token
    }
    const tokens = await Promise.all(Array.from({ length: 20 }, () => issue(two)))
    two.child.kill('SIGKILL')
    await two.ended
    for (const each of tokens) {
      const response = await fetch(`${one.url}/oauth/introspect`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: made.id, client_secret: made.secret, token: each }),
      })
      expect(await response.json()).toMatchObject({ active: true })
    }
  })

  it('answer every request that a load balancer sends before it notices the shutdown, and exit with 0', async () => {
    let isSending = true
    const answers: unknown[] = []
    const send = async () => {
      while (isSending) {
        const path = answers.length % 2 === 0 ? '/login' : '/.well-known/jwks.json'
        const headers = { connection: answers.length % 3 === 0 ? 'close' : 'keep-alive' }
        answers.push(
          await fetch(`${one.url}${path}`, { headers }).then(
            async (response) => (await response.text()) && response.status,
            (error: Error) => String(error.cause ?? error),
          ),
        )
      }
    }
    const senders = Array.from({ length: 8 }, send)
    await expect.poll(() => answers.length).toBeGreaterThan(100)
    one.child.kill('SIGTERM')
    const readiness = () => fetch(`${one.url}/readyz`).then(({ status }) => status)
    await expect.poll(readiness, { interval: 50 }).toBe(503)
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200)
    isSending = false
    await Promise.all(senders)
    expect(new Set(answers)).toEqual(new Set([200]))
    expect(await one.ended).toBe(0)
    expect(one.output()).toContain('"ending"')
    for (const secret of [PASSWORD, client.secret, environment.TOLLGATE_SECRET ?? '']) {
      expect(one.output()).not.toContain(secret)
    }
  })
})

describe.runIf(onSqlite)('a process of the service, on any database,', () => {
  it('continues after an unhandled rejection, and logs it', async () => {
    const script = "process.on('SIGUSR2',()=>{Promise.reject(new Error('nobody-waits'))})"
    const one = await startProcess({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    })
    await untilReady(one)
    one.child.kill('SIGUSR2')
    await expect.poll(one.output).toContain('nobody-waits')
    // The process would have ended by then if the rejection had crashed it.
    one.child.kill('SIGUSR2')
    await expect
      .poll(() => one.output().split('nobody-waits').length, { timeout: 30_000 })
      .toBeGreaterThan(2)
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200)
    one.child.kill('SIGTERM')
    expect(await one.ended).toBe(0)
  })

  it('exits with 2 if the configuration is incomplete, and names what is missing', async () => {
    const half = await startProcess({ TOLLGATE_URL: '', STRIPE_WEBHOOK_SECRET: '' })
    expect(await half.ended).toBe(2)
    expect(half.output()).toContain('TOLLGATE_URL is missing')
    expect(half.output()).toContain('STRIPE_WEBHOOK_SECRET is missing')
    expect(half.output()).not.toContain(environment.STRIPE_SECRET)
  })
})

describe.runIf(onSqlite)('a process of the service, on an SQLite file,', () => {
  it('keeps the database file complete, and never starts with an empty file instead', async () => {
    const own = mkdtempSync(join(tmpdir(), 'tollgate-file-'))
    const more = { DATABASE_URL: `sqlite:${own}/app.db`, NODE_ENV: 'production' }
    const first = await startProcess(more)
    await untilReady(first)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(readdirSync(own).sort()).toEqual(['app.db', 'app.db.marker'])

    renameSync(`${own}/app.db`, `${own}/away.db`)
    const second = await startProcess(more)
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('a database existed there before. Restore the backup')
    expect(readdirSync(own).sort()).toEqual(['app.db.marker', 'away.db'])

    renameSync(`${own}/away.db`, `${own}/app.db`)
    await untilReady(await startProcess(more))
    rmSync(own, { recursive: true, force: true })
  })
})
