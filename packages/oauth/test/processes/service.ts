import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundleChild } from '../../../../test-support/bundle-child.ts'
import { withClockAhead } from '../../../../test-support/wrong-clock.ts'

export interface Reply {
  readonly status: number
  readonly location: string | null
  readonly cookie: string | null
  readonly body: Record<string, string>
}

export interface HttpCall {
  readonly path: string
  readonly form?: Record<string, string>
  readonly headers?: Record<string, string>
}

export interface Acknowledged {
  readonly generation: number
  readonly access_token: string
  readonly refresh_token: string
}

export interface GuardCall {
  readonly authorization?: string | null
  readonly cookie?: string | null
  readonly csrfToken?: string | null
}

/** A process of the service, controlled by the test. */
export interface Service {
  ask<Value>(command: string, params?: object): Promise<Value>
  send(call: HttpCall): Promise<Reply>
  burst(requests: readonly HttpCall[]): Promise<Reply[]>
  /**
   * Returns the status of the guard for this token. Retries while the process is too busy and
   * returns 503.
   */
  guard(token: string): Promise<number>
  /** Returns the status of the guard for this token, without retries. */
  guardNow(token: string): Promise<number>
  /**
   * Calls any method of the server by name, e.g. `clients.revoke`. `at` is when the result arrived.
   */
  call<Result = unknown>(
    method: string,
    ...args: unknown[]
  ): Promise<{ readonly result: Result; readonly at: number }>
  /** Tokens that the command `load` has acknowledged so far. */
  readonly acknowledged: readonly Acknowledged[]
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>
}

const script = fileURLToPath(new URL('./child.mjs', import.meta.url))
const running = new Set<ChildProcess>()

/**
 * Starts another process on the built packages and waits until it is ready. Its clock is
 * `clockAhead` milliseconds ahead.
 */
export async function startService(
  databaseUrl: string,
  {
    clockAhead = 0,
    ...options
  }: { readonly clockAhead?: number; readonly [name: string]: unknown } = {},
): Promise<Service> {
  const wrong = withClockAhead(clockAhead)
  const args = [...wrong.args, await bundleChild(script), databaseUrl, JSON.stringify(options)]
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...wrong.env },
  })
  running.add(child)
  let complaints = ''
  child.stderr.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-4000)
  })
  const acknowledged: Acknowledged[] = []
  const waiting = new Map<number, (answer: { value?: unknown; error?: string }) => void>()
  let asked = 0
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child)
      for (const answer of waiting.values()) answer({ error: `The process ended: ${complaints}` })
      waiting.clear()
      resolve()
    })
  })
  // Writing to a killed process fails. Pending calls are rejected when its end is noticed.
  child.stdin.on('error', () => {})

  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = parse(line)
      if (message.ready) resolve()
      else if (message.acknowledged) acknowledged.push(message.acknowledged)
      else if (message.id !== undefined) {
        waiting.get(message.id)?.(message)
        waiting.delete(message.id)
      }
    })
    exited.then(() => reject(new Error(`The process did not start: ${complaints}`)))
  })

  function ask<Value>(command: string, params: object = {}): Promise<Value> {
    asked += 1
    const id = asked
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value as Value)
        else reject(new Error(error))
      })
      child.stdin.write(`${JSON.stringify({ id, command, ...params })}\n`)
    })
  }

  const guardNow = (token: string): Promise<number> =>
    ask('guard', { authorization: `Bearer ${token}` })

  return {
    ask,
    acknowledged,
    send: (call) => ask('send', call),
    burst: (requests) => ask('burst', { requests }),
    async guard(token) {
      for (let tries = 0; tries < 300; tries += 1) {
        const status = await guardNow(token)
        if (status !== 503) return status
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      return 503
    },
    guardNow,
    call: (method, ...args) => ask('call', { method, args }),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

interface Message {
  readonly ready?: boolean
  readonly acknowledged?: Acknowledged
  readonly id?: number
  readonly value?: unknown
  readonly error?: string
}

/** Parses a line. The last line of a killed process may be incomplete. */
function parse(line: string): Message {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}

export async function killAll(): Promise<void> {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise<void>((resolve) => {
          child.once('exit', () => resolve())
          child.kill('SIGKILL')
        }),
    ),
  )
}
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export const REDIRECT = 'https://app.example/callback'

export interface TestClient {
  readonly id: string
  readonly secret: string
}

/** Creates a first-party client, so that codes are issued without an approval screen. */
export async function createClient(service: Service, fields: object = {}): Promise<TestClient> {
  const { result } = await service.call<{ client: { id: string }; secret: string }>(
    'clients.create',
    {
      name: 'Test app',
      redirect: REDIRECT,
      firstParty: true,
      grants: ['authorization_code', 'refresh_token', 'password', 'client_credentials'],
      ...fields,
    },
  )
  return { id: result.client.id, secret: result.secret }
}

export function tokenCall(client: TestClient, form: Record<string, string>): HttpCall {
  const credentials = { client_id: client.id, client_secret: client.secret }
  return { path: '/oauth/token', form: { ...credentials, ...form } }
}

export function refreshCall(client: TestClient, refreshToken: string): HttpCall {
  return tokenCall(client, { grant_type: 'refresh_token', refresh_token: refreshToken })
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** Creates a new grant for this user with the password grant. */
export async function issue(service: Service, client: TestClient, user = 'ada'): Promise<Tokens> {
  const form = { grant_type: 'password', username: user, password: 'x' }
  const { status, body } = await service.send(tokenCall(client, form))
  if (status !== 200) throw new Error(`No token: ${status} ${JSON.stringify(body)}`)
  return { access_token: body.access_token ?? '', refresh_token: body.refresh_token ?? '' }
}

export async function newCode(service: Service, client: TestClient): Promise<string> {
  const asked = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
  const path = `/oauth/authorize?${new URLSearchParams(asked)}`
  const { location } = await service.send({ path, headers: { cookie: 'session=ada.1' } })
  return new URL(location ?? '').searchParams.get('code') ?? ''
}

export function codeCall(client: TestClient, code: string): HttpCall {
  return tokenCall(client, { grant_type: 'authorization_code', redirect_uri: REDIRECT, code })
}
