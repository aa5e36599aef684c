import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  deviceCode,
  memoryStorage,
  openid,
  password,
  refreshToken,
} from '../../src/index.ts'
import { newDevice, startDeviceFlow, typeCode } from '../device/support.ts'
import { UsersWithClaims } from '../openid/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  SECRET,
  startServer,
  type TestServer,
} from '../support.ts'
import { approve, readPage, redeem } from './support.ts'

const REPORTS = 'https://reports.example'

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    defaultScopes: ['check-status'],
    users: new UsersWithClaims(),
    grants: [authorizationCode(), refreshToken(), clientCredentials(), password(), deviceCode()],
    features: [openid()],
    resources: { [REPORTS]: { scopes: ['place-orders'] } },
  })
})
afterAll(() => server.close())

const ask = (client: { id: string }, changes: Record<string, string> = {}) =>
  requestAuthorization(server, 'ada', {
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    ...changes,
  })

async function scopeOf(
  grant: string,
  options: { client?: object; form?: Record<string, string> } = {},
): Promise<string> {
  const client = await createClient(server, { grants: [grant], ...options.client })
  const form = { grant_type: grant, client_id: client.id, client_secret: client.secret }
  const response = await server.post('/oauth/token', { ...form, ...options.form })
  const { scope, error } = await response.json()
  return error ?? scope
}

describe('default scopes', () => {
  it('are shown to the person, granted, and listed in the token response', async () => {
    const client = await createClient(server)
    const page = await ask(client)
    const form = readPage(await page.text())
    expect(form.html).toContain('<li>Check order status</li>')
    const { scope } = await redeem(server, client, await approve(server, 'ada', form, {}))
    expect(scope).toBe('check-status')
  })

  it.each([
    ['place-orders', 'place-orders'],
    ['openid', 'openid'],
  ])('are not added to a request that names the scope %s', async (named, granted) => {
    const client = await createClient(server)
    const form = readPage(await (await ask(client, { scope: named })).text())
    const { scope } = await redeem(server, client, await approve(server, 'ada', form, {}))
    expect(scope).toBe(granted)
  })

  it('are granted in the client credentials grant, also for an empty scope parameter', async () => {
    expect(await scopeOf('client_credentials')).toBe('check-status')
    expect(await scopeOf('client_credentials', { form: { scope: '' } })).toBe('check-status')
    expect(await scopeOf('client_credentials', { form: { scope: 'place-orders' } })).toBe(
      'place-orders',
    )
  })

  it('are granted in the password grant', async () => {
    const form = { username: 'ada@example.com', password: 'correct horse' }
    expect(await scopeOf('password', { form })).toBe('check-status')
  })

  it('are granted to devices', async () => {
    const device = await newDevice(server)
    const { user_code } = await startDeviceFlow(server, device, { scope: '' })
    const page = await typeCode(server, 'ada', user_code)
    expect(await page.text()).toContain('<li>Check order status</li>')
  })

  it('are granted only if the client may request them', async () => {
    const client = { scopes: ['place-orders'] }
    expect(await scopeOf('client_credentials', { client })).toBe('')
  })

  it('are granted only if the requested resource defines them', async () => {
    expect(await scopeOf('client_credentials', { form: { resource: REPORTS } })).toBe('')
  })
})

describe('the `defaultScopes` option', () => {
  const start = (defaultScopes: string[]) => () =>
    createAuthorizationServer({
      issuer: 'http://localhost:3000',
      secret: SECRET,
      storage: memoryStorage(),
      users: new UsersWithClaims(),
      scopes: { a: 'A' },
      features: [openid()],
      grants: [authorizationCode()],
      defaultScopes,
      purgeEvery: false,
    })

  it.each(['b', '*'])('rejects the scope %s, which is not defined', (name) => {
    expect(start([name])).toThrow(`defaultScopes: the scope '${name}' is not defined.`)
  })

  it('rejects OpenID Connect scopes that reveal data about the person', () => {
    expect(start(['openid'])).toThrow('clients must request it by name')
  })
})
