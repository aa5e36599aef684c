import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import type { ServiceMail } from '../src/config/shapes.ts'
import { ConfigurationError, createService } from '../src/index.ts'
import { createAccountHelpers } from './accounts.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

const DOCS = 'https://docs.example.com'
const CALLBACK = 'https://app.example.com/callback'

const mails: ServiceMail[] = []
const paid: string[] = []
let service: TestService

beforeAll(async () => {
  service = await startTestService({
    environment: {
      TOLLGATE_REQUIRE_PKCE: 'on',
      TOLLGATE_CORS: 'on',
      TOLLGATE_CORS_ORIGINS: DOCS,
      TOLLGATE_DEVICE_CODES_EXPIRE_IN: '5m',
      TOLLGATE_DEVICE_POLL_INTERVAL: '7s',
      TOLLGATE_ACCESS_TOKENS_EXPIRE_IN: '1h',
      TOLLGATE_ONE_TRIAL_PER_PERSON: 'on',
      TOLLGATE_STRIPE_PRICES: 'pro, monthly',
    },
    settings: {
      mail: { send: async (mail) => void mails.push(mail) },
      on: { 'invoice.paid': ({ id }) => paid.push(id) },
      messages: { fr: { 'scope.place-orders': 'Passer des commandes' } },
    },
  })
})
afterAll(() => service?.stop())

const post = (path: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { method: 'POST', body: new URLSearchParams(body), headers })

describe('the settings for the authorization server', () => {
  it('include TOLLGATE_REQUIRE_PKCE, which makes the service refuse confidential clients without a challenge', async () => {
    const { client } = await service.oauth.clients.create({ name: 'Shop', redirect: CALLBACK })
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: CALLBACK,
    })
    const { headers } = await fetch(`${service.url}/oauth/authorize?${query}`, {
      redirect: 'manual',
    })
    expect(headers.get('location')).toMatch(/^https:\/\/app\.example\.com.*error=invalid_request/)
  })

  it('include TOLLGATE_CORS_ORIGINS, which lets pages of these origins call the service', async () => {
    const { headers } = await fetch(`${service.url}/oauth/token`, {
      method: 'OPTIONS',
      headers: { origin: DOCS, 'access-control-request-method': 'POST' },
    })
    expect(headers.get('access-control-allow-origin')).toBe(DOCS)
  })

  it('include the lifetime of device codes and the polling interval', async () => {
    const { client } = await service.oauth.clients.create({
      name: 'TV',
      confidential: false,
      grants: ['urn:ietf:params:oauth:grant-type:device_code'],
    })
    const reply = await post('/oauth/device_authorization', { client_id: client.id })
    expect(await reply.json()).toMatchObject({ expires_in: 300, interval: 7 })
  })

  it('include TOLLGATE_ACCESS_TOKENS_EXPIRE_IN, the lifetime of access tokens', async () => {
    const { client, secret } = await service.oauth.clients.create({
      name: 'Service',
      grants: ['client_credentials'],
    })
    const reply = await post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: secret ?? '',
    })
    expect(await reply.json()).toMatchObject({ expires_in: 3600 })
  })
})

describe('the settings for billing', () => {
  it('include functions that receive mail and events', async () => {
    const { email } = await createAccountHelpers(service).customer('stripe', ['pro'])
    await service.advance({ hours: 1 })
    await expect.poll(() => paid).toHaveLength(1)
    await expect.poll(() => mails.map(({ kind, to }) => [kind, to])).toEqual([['receipt', email]])
    expect(mails[0]?.text).toContain('Tollgate')
  })

  it('include stripePrices, and other prices are then rejected without a request to Stripe', async () => {
    await expect(createAccountHelpers(service).customer('stripe', ['yearly'])).rejects.toThrow(
      /yearly/,
    )
  })

  it('include oneTrialPerPerson, and the mail about a trial leads to the billing page', async () => {
    const email = 'trials@example.com'
    const { id } = await service.users.create({ email, password: 'correct horse battery staple' })
    const person = await service.billing.user(Number(id))
    await person.newSubscription('main', 'pro').trialDays(14).create('pm_card_visa')
    const again = person.newSubscription('extra', 'pro').trialDays(14).create(null)
    await expect(again).rejects.toThrow(/has already had a free trial/)
    await service.advance({ days: 12 })
    const mail = () => mails.find(({ kind, to }) => kind === 'trial_ending' && to === email)
    await expect.poll(() => mail()?.html).toContain(`${service.url}/billing`)
  })
})

describe('the setting migrate', () => {
  it('if it is false, prevents a start with outdated tables, and creates no tables', async () => {
    const { config, remove } = await testConfig({ environment: { TOLLGATE_MIGRATE: 'off' } })
    const { url, database, drop } = await createTestDatabase()
    const start = createService({ ...config, databaseUrl: url }, { keepDemo: false })
    await expect(start).rejects.toThrow(ConfigurationError)
    await expect(start).rejects.toThrow(/Run tollgate migrate/)
    expect(await database.kysely.introspection.getTables()).toEqual([])
    await drop()
    await remove()
  })

  it('allows a start if the tables are up to date', async () => {
    const own = await startTestService({ environment: { TOLLGATE_MIGRATE: 'off' } })
    expect((await fetch(`${own.url}/readyz`)).status).toBe(200)
    await own.stop()
  })
})
