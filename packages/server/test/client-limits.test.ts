import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failures, rates } from '../src/limits/policies.ts'
import { startTestService, type TestService } from './support.ts'

const CALLBACK = 'https://app.example/callback'
const PROXIES = { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1' }
const TOKEN = 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da'

/** Request headers of a caller at this address, as our proxy sets them. */
const from = (address: string, headers: Record<string, string> = {}) => ({
  'x-forwarded-for': address,
  ...headers,
})

async function repeatAndListStatuses(
  count: number,
  work: () => Promise<Response>,
): Promise<number[]> {
  const statuses: number[] = []
  for (let done = 0; done < count; done += 1) statuses.push((await work()).status)
  return [...new Set(statuses)]
}

function registerAt({ url }: TestService, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ redirect_uris: [CALLBACK] }),
  })
}

describe('the limit for client registrations', () => {
  it('counts each network separately', async () => {
    const service = await startTestService({ environment: PROXIES })
    const register = (address: string) => registerAt(service, from(address))
    expect(await repeatAndListStatuses(20, () => register('192.0.2.1'))).toEqual([201])
    const refused = await register('192.0.2.1')
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
    expect((await register('192.0.2.2')).status).toBe(201)
    service.clock.advance({ minutes: 1 })
    expect((await register('192.0.2.1')).status).toBe(201)
    await service.stop()
  })

  it('does not block a correct registration token, however many wrong ones were sent', async () => {
    const environment = {
      ...PROXIES,
      TOLLGATE_CLIENT_REGISTRATION: 'initial-access-token',
      TOLLGATE_INITIAL_ACCESS_TOKENS: TOKEN,
    }
    const service = await startTestService({ environment })
    const register = (token: string) =>
      registerAt(service, from('192.0.2.1', { authorization: `Bearer ${token}` }))
    const { points } = failures.clientPair
    expect(await repeatAndListStatuses(points, () => register(`${TOKEN}x`))).toEqual([401])
    expect((await register(`${TOKEN}x`)).status).toBe(429)
    const letIn = await register(TOKEN)
    expect(letIn.status).toBe(201)
    const { client_id, registration_access_token: own } = (await letIn.json()) as {
      client_id: string
      registration_access_token: string
    }
    const read = (token: string) =>
      fetch(`${service.url}/oauth/register/${client_id}`, {
        headers: from('192.0.2.1', { authorization: `Bearer ${token}` }),
      })
    expect(await repeatAndListStatuses(points, () => read('tgr_wrong'))).toEqual([401])
    expect((await read('tgr_wrong')).status).toBe(429)
    expect((await read(own)).status).toBe(200)
    await service.stop()
  })
})

describe('the limit for pushed authorization requests', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ environment: PROXIES })
  })
  afterAll(() => service.stop())

  const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
  const push = (address: string, form: Record<string, string>, headers = {}) =>
    fetch(`${service.url}/oauth/par`, {
      method: 'POST',
      headers: from(address, headers),
      body: new URLSearchParams({ response_type: 'code', ...challenge, ...form }),
    })

  it('counts requests per network from clients without a secret, and does not apply to clients with a correct secret', async () => {
    const { client: app } = await service.oauth.clients.create({
      name: 'App',
      redirect: CALLBACK,
      confidential: false,
    })
    const { client: web, secret } = await service.oauth.clients.create({
      name: 'Web',
      redirect: CALLBACK,
    })
    const points = 300
    const address = '192.0.2.3'
    expect(await repeatAndListStatuses(points, () => push(address, { client_id: app.id }))).toEqual(
      [201],
    )
    expect((await push(address, { client_id: app.id })).status).toBe(429)
    // A public client that sends its id by Basic authentication with an empty secret is limited,
    // too.
    const named = Buffer.from(`${app.id}:`).toString('base64')
    expect((await push(address, {}, { authorization: `Basic ${named}` })).status).toBe(429)
    const proof = { client_id: web.id, client_secret: secret ?? '' }
    expect((await push(address, proof)).status).toBe(201)
    expect((await push('192.0.2.4', { client_id: app.id })).status).toBe(201)
  })

  it('counts wrong client secrets together with those at the token endpoint', async () => {
    const { client: web, secret } = await service.oauth.clients.create({
      name: 'Web',
      redirect: CALLBACK,
    })
    const guess = () => push('192.0.2.5', { client_id: web.id, client_secret: 'wrong' })
    expect(await repeatAndListStatuses(failures.clientPair.points, guess)).toEqual([401])
    expect((await guess()).status).toBe(429)
    const right = { client_id: web.id, client_secret: secret ?? '' }
    expect((await push('192.0.2.5', right)).status).toBe(201)
  })
})

it('the limit for failed token requests with a DPoP proof counts per network, for clients without a secret', async () => {
  const service = await startTestService({ environment: PROXIES })
  const make = async (confidential: boolean) =>
    service.oauth.clients.create({ name: 'App', redirect: CALLBACK, confidential })
  const [app, web] = [await make(false), await make(true)]
  const guess = (address: string, form: Record<string, string>) =>
    fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: from(address, { dpop: 'no-proof' }),
      body: new URLSearchParams({ grant_type: 'authorization_code', code: 'x', ...form }),
    })
  const asApp = { client_id: app.client.id }
  expect(
    await repeatAndListStatuses(rates.keyProofs.points, () => guess('192.0.2.6', asApp)),
  ).toEqual([400])
  expect((await guess('192.0.2.6', asApp)).status).toBe(429)
  expect((await guess('192.0.2.7', asApp)).status).toBe(400)
  const asWeb = { client_id: web.client.id, client_secret: web.secret ?? '' }
  expect((await guess('192.0.2.6', asWeb)).status).toBe(400)
  await service.stop()
})
