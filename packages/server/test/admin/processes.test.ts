import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { findFreePort } from '../../../../test-support/free-port.ts'
import { createBrowser } from '../browser.ts'
import { type Program, runProgram, startProgram, untilServing } from '../built-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-admin-processes-'))
const ISSUER = 'http://localhost:1'
const PASSWORD = 'correct horse'
const SCOPES = [
  ...['users', 'clients', 'billing'].flatMap((area) => [
    `admin.${area}:read`,
    `admin.${area}:write`,
  ]),
  'admin.audit:read',
  'admin:irreversible',
]
/** More than the time after which a request without a response counts as interrupted. */
const LATER = 5 * 60_000

interface Process extends Program {
  readonly url: string
}

/** A response of the management API. */
interface Answer {
  readonly status: number
  readonly etag: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes
  readonly body: any
}

interface Request {
  readonly body?: object
  readonly headers?: Record<string, string>
}

interface Entry {
  readonly id: string
  readonly outcome: string
  readonly intent_id: string | null
}

let test: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSandbox<{ stripe: true }>>>
let environment: Record<string, string>
let one: Process
let two: Process
let token: string
const started: Program[] = []

beforeAll(async () => {
  test = await createTestDatabase()
  sandbox = await startSandbox({ stripe: true })
  sandbox.stripe.seedPrice({ id: 'pro', unitAmount: 2500, interval: 'month' })
  environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    DATABASE_URL: test.url,
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
    TOLLGATE_URL: ISSUER,
    TOLLGATE_DRAIN_SECONDS: '0',
    STRIPE_SECRET: sandbox.stripe.apiKey,
    STRIPE_PUBLISHABLE_KEY: sandbox.stripe.publishableKey,
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
    STRIPE_API_URL: sandbox.stripe.url,
  }
  ;[one, two] = await Promise.all([startProcess(), startProcess()])
  token = await createToken()
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await sandbox?.close()
  await test?.drop()
  rmSync(folder, { recursive: true, force: true })
})

async function startProcess(more: Record<string, string> = {}): Promise<Process> {
  const port = await findFreePort()
  const program = startProgram(['serve'], { ...environment, PORT: String(port), ...more })
  started.push(program)
  const served = { ...program, url: `http://127.0.0.1:${port}` }
  await untilServing(served, served.url)
  return served
}

/** Creates a client of the management API with a command, and returns its access token. */
async function createToken(): Promise<string> {
  const scopes = SCOPES.flatMap((scope) => ['--scope', scope])
  const args = ['client', 'create', '--management', '--name', 'Desk', '--json', ...scopes]
  const { id, secret } = JSON.parse(await runProgram(args, environment))
  const response = await fetch(`${one.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
      scope: SCOPES.join(' '),
    }),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { access_token: string }).access_token
}

async function call(
  { url }: Process,
  method: string,
  path: string,
  { body, headers }: Request = {},
): Promise<Answer> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const { status } = response
  return { status, etag: response.headers.get('etag'), body: text === '' ? null : JSON.parse(text) }
}

const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })

const problemOf = ({ body }: Answer) => String(body?.type).split('#').at(-1)

/** Sends a request, and repeats it as the problem `request-in-progress` tells the caller to. */
async function callUntilDone(...args: Parameters<typeof call>): Promise<Answer> {
  let answer = await call(...args)
  const isInProgress = async () => {
    if (problemOf(answer) === 'request-in-progress') answer = await call(...args)
    return problemOf(answer)
  }
  await expect.poll(isInProgress, { timeout: 30_000 }).not.toBe('request-in-progress')
  return answer
}

let people = 0

/** A person who has paid one invoice over 25.00 on the pages of the first process. */
async function payer() {
  const email = `payer-${++people}@example.com`
  const args = ['user', 'create', '--email', email, '--password', PASSWORD, '--json']
  const { id } = JSON.parse(await runProgram(args, environment)) as { id: string }
  const browser = createBrowser(one.url)
  const headers = { origin: ISSUER }
  const signIn = () => browser.post('/login', { email, password: PASSWORD }, headers)
  expect((await signIn()).status).toBe(303)
  const csrf_token = await browser.csrfToken()
  const form = { csrf_token, plan: 'pro', provider: 'stripe', coupon: '', token: 'pm_card_visa' }
  const paid = await browser.post('/billing/subscribe', form, headers)
  expect(paid.headers.get('location')).toBe('/billing?done=subscribed')
  const { body } = await call(one, 'GET', `/users/${id}/invoices`)
  const invoice = `/users/${id}/invoices/${body.data[0].id}`
  const { body: customer } = await call(one, 'GET', `/users/${id}/customer`)
  return {
    id,
    signIn,
    invoice,
    refund: `${invoice}/refund`,
    customerId: customer.customer as string,
    /** Returns the amount that Stripe has refunded. */
    refunded: () => sandbox.stripe.charges(customer.customer)[0]?.amount_refunded,
  }
}

/** The entries of an operation about this object or its owner, the oldest first. */
async function readEntries(operation: string, id: string): Promise<Entry[]> {
  const { status, body } = await call(
    one,
    'GET',
    `/audit/entries?operation=${operation}&owner=${id}&limit=100`,
  )
  expect(status).toBe(200)
  return body.data.reverse()
}

const outcomesOf = (entries: readonly Entry[]) => entries.map(({ outcome }) => outcome)

/** The intents whose outcome is unknown. */
const openIntents = (entries: readonly Entry[]) =>
  entries.filter(
    ({ id, outcome }) => outcome === 'started' && !entries.some((each) => each.intent_id === id),
  )

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id)

/** Lets time pass for the requests without a response, as if their process had died long ago. */
async function ageUnansweredRequests(): Promise<void> {
  const { numUpdatedRows } = await test.database.kysely
    .updateTable('admin_requests')
    .set({ created_at: Date.now() - LATER })
    .where('response', 'is', null)
    .executeTakeFirst()
  expect(Number(numUpdatedRows)).toBeGreaterThan(0)
}

/**
 * Starts a process that is killed at one of its requests to Stripe: before the request arrives, or
 * when Stripe has performed it and its response is on the way.
 */
async function startDoomed(
  shouldKill: (request: string) => 'before' | 'after' | null,
): Promise<Process> {
  let doomed: Process | null = null
  const proxy = createServer(async (message, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const moment = doomed && shouldKill(`${message.method} ${message.url}`)
    if (moment === 'before') {
      doomed?.child.kill('SIGKILL')
      return
    }
    const { host: _, connection: __, 'content-length': ___, ...headers } = message.headers
    const answer = await fetch(sandbox.stripe.url + message.url, {
      method: message.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const text = await answer.text()
    if (moment === 'after') {
      doomed?.child.kill('SIGKILL')
      return
    }
    const type = answer.headers.get('content-type') ?? 'application/json'
    response.writeHead(answer.status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const served = await startProcess({ STRIPE_API_URL: `http://127.0.0.1:${port}` })
  doomed = served
  onTestFinished(async () => {
    served.child.kill('SIGKILL')
    await served.ended
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  })
  return served
}

const orCutOff = (answer: Promise<Answer>): Promise<Answer | 'cut off'> =>
  answer.catch(() => 'cut off')

describe('the management API of two processes on one database', () => {
  it('creates one client for an idempotency key that both receive at once, and both name it', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `At once ${round}`
      const request = keyed(`create-${round}`, { name, grants: ['client_credentials'] })
      const both = await Promise.all(
        [one, two, one, two].map((each) => callUntilDone(each, 'POST', '/clients', request)),
      )
      expect(both.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
      // The secret is shown once and never stored.
      expect(both.filter(({ body }) => body.secret !== null)).toHaveLength(1)
      const { body } = await call(two, 'GET', `/clients?search=${encodeURIComponent(name)}`)
      expect(body.data).toHaveLength(1)
    }
  })

  it('refunds once for an idempotency key that both receive at once, and both name the same refund', async () => {
    const { id, refund, refunded } = await payer()
    for (let round = 1; round <= 3; round++) {
      const request = keyed(`refund-${round}`, { amount: { amount: 300, currency: 'usd' } })
      const both = await Promise.all(
        [one, two].map((each) => callUntilDone(each, 'POST', refund, request)),
      )
      expect(both.map(({ status }) => status)).toEqual([200, 200])
      expect(both[0]?.body).toEqual(both[1]?.body)
      expect(refunded()).toBe(300 * round)
      const outcomes = outcomesOf(await readEntries('billing.refund', id))
      expect(outcomes).toEqual(Array.from({ length: round }, () => ['started', 'done']).flat())
    }
  })

  it('refuses in each process an ETag that became stale in the other', async () => {
    const body = { name: 'Shared', grants: ['client_credentials'] }
    const made = await call(one, 'POST', '/clients', { body })
    const path = `/clients/${made.body.id}`
    const rename = (process: Process, name: string, etag: string | null) =>
      call(process, 'PATCH', path, { body: { name }, headers: { 'if-match': etag ?? '' } })
    const [first, second] = [await call(one, 'GET', path), await call(two, 'GET', path)]
    expect(first.etag).toBe(second.etag)
    const changed = await rename(two, 'By two', second.etag)
    expect(changed.status).toBe(200)
    const refused = await rename(one, 'By one', first.etag)
    expect([refused.status, problemOf(refused)]).toEqual([412, 'stale'])
    expect((await call(one, 'GET', path)).body.name).toBe('By two')
    expect((await rename(one, 'By one', changed.etag)).status).toBe(200)
    const late = await rename(two, 'By two again', changed.etag)
    expect([late.status, problemOf(late)]).toEqual([412, 'stale'])
  })

  it('lets one of two changes of the same version win, if both processes receive them at once', async () => {
    const body = { name: 'Raced', grants: ['client_credentials'] }
    const path = `/clients/${(await call(one, 'POST', '/clients', { body })).body.id}`
    for (let round = 0; round < 5; round++) {
      const { etag } = await call(one, 'GET', path)
      const headers = { 'if-match': etag ?? '' }
      const names = [`One ${round}`, `Two ${round}`]
      const both = await Promise.all(
        [one, two].map((each, at) =>
          call(each, 'PATCH', path, { body: { name: names[at] }, headers }),
        ),
      )
      const won = both.findIndex(({ status }) => status === 200)
      expect(both.map(({ status }) => status).sort()).toEqual([200, expect.toBeOneOf([409, 412])])
      for (const each of [one, two]) {
        expect((await call(each, 'GET', path)).body.name).toBe(names[won])
      }
    }
  })
})

describe('a process that is killed between the intent and the outcome of an action at a provider', () => {
  it.each([
    ['before its first request', 'before', /./],
    ['before the request for the refund', 'before', /^POST \/v1\/refunds/],
    ['after Stripe has made the refund', 'after', /^POST \/v1\/refunds/],
  ] as const)(
    'leaves a refund that a repeat at another process completes, and that is made once (killed %s)',
    async (moment, when, request) => {
      const { id, refund, refunded } = await payer()
      const doomed = await startDoomed((each) => (request.test(each) ? when : null))
      const sent = keyed(`killed-${moment}`.replaceAll(' ', '-'), {
        amount: { amount: 100, currency: 'usd' },
      })
      expect(await orCutOff(call(doomed, 'POST', refund, sent))).toBe('cut off')
      expect(await doomed.ended).toBeNull()
      expect(refunded()).toBe(when === 'after' ? 100 : 0)
      const left = await readEntries('billing.refund', id)
      expect(outcomesOf(left)).toEqual(['started'])
      expect(openIntents(left)).toHaveLength(1)

      const early = await call(two, 'POST', refund, sent)
      expect([early.status, problemOf(early)]).toEqual([409, 'request-in-progress'])
      await ageUnansweredRequests()
      // Both take it over at once.
      const both = await Promise.all(
        [one, two].map((each) => callUntilDone(each, 'POST', refund, sent)),
      )
      expect(both.map(({ status, body }) => [status, body.type])).toEqual([
        [200, undefined],
        [200, undefined],
      ])
      expect(both[0]?.body).toEqual(both[1]?.body)
      expect(refunded()).toBe(100)
      const all = await readEntries('billing.refund', id)
      expect(outcomesOf(all)).toEqual(['started', 'started', 'done'])
    },
  )

  it.each(['before', 'after'] as const)(
    'leaves a disabled account whose outcome is reported as unknown, and the subscription is cancelled once by a new request (killed %s the cancellation)',
    async (when) => {
      const { id, signIn, customerId } = await payer()
      const doomed = await startDoomed((request) =>
        request.startsWith('DELETE /v1/subscriptions/') ? when : null,
      )
      const path = `/users/${id}/disable`
      const request = keyed(`disable-${when}`, { subscription: 'now' })
      expect(await orCutOff(call(doomed, 'POST', path, request))).toBe('cut off')
      expect(await doomed.ended).toBeNull()
      // Locked first of all, so that an intruder is out.
      expect((await signIn()).status).toBe(401)
      const left = await readEntries('users.disable', id)
      expect(outcomesOf(left)).toEqual(['started'])
      const status = () => sandbox.stripe.subscriptions(customerId).map((each) => each.status)
      expect(status()).toEqual([when === 'before' ? 'active' : 'canceled'])

      await ageUnansweredRequests()
      for (const each of [one, two]) {
        const again = await call(each, 'POST', path, request)
        expect([again.status, problemOf(again)]).toEqual([409, 'outcome-unknown'])
      }
      expect(idsOf(openIntents(await readEntries('users.disable', id)))).toEqual(idsOf(left))

      const renewed = keyed(`disable-${when}-again`, { subscription: 'now' })
      expect((await call(two, 'POST', path, renewed)).status).toBe(200)
      expect(status()).toEqual(['canceled'])
      const events = sandbox.stripe.events('customer.subscription.deleted')
      const ofCustomer = events.filter((event) => JSON.stringify(event).includes(customerId))
      expect(ofCustomer).toHaveLength(1)
      const all = await readEntries('users.disable', id)
      expect(outcomesOf(all)).toEqual(['started', 'started', 'done'])
      expect(idsOf(openIntents(all))).toEqual(idsOf(left))
    },
  )
})
