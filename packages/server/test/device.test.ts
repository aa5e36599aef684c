import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  await service.users.create({ email: EMAIL, password: PASSWORD })
})
afterAll(() => service.stop())

async function newTelevision(): Promise<client.Configuration> {
  const { client: made } = await service.oauth.clients.create({
    name: 'Television',
    grants: [DEVICE_CODE, 'refresh_token'],
    confidential: false,
  })
  const execute = [client.allowInsecureRequests]
  return client.discovery(new URL(service.url), made.id, undefined, client.None(), { execute })
}

const fieldOf = (html: string) => ({
  action: /action="(\/oauth\/device[^"]*)"/.exec(html)?.[1] ?? '',
  csrf_token: /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? '',
})

async function decide(userCode: string, decision: 'approve' | 'deny'): Promise<string> {
  const browser = service.browser()
  await browser.signIn(EMAIL, PASSWORD)
  const entry = fieldOf(await (await browser.get('/oauth/device')).text())
  const typed = { csrf_token: entry.csrf_token, user_code: userCode }
  const question = await (await browser.post(entry.action, typed)).text()
  expect(question).toContain('Approve only if you started this yourself')
  expect(question).toContain(`You are signed in as <strong>${EMAIL}</strong>`)
  const { action, csrf_token } = fieldOf(question)
  return (await browser.post(action, { csrf_token, decision })).text()
}

const poll = (config: client.Configuration, device_code: string) =>
  client.genericGrantRequest(config, DEVICE_CODE, { device_code })

describe('the device flow of the service', () => {
  it('asks people to sign in first, and then leads back to the page with their user code', async () => {
    const browser = service.browser()
    const page = await browser.get('/oauth/device?user_code=BCDF-GHJK')
    const login = page.headers.get('location') ?? ''
    expect(login).toBe('/login?return_to=%2Foauth%2Fdevice%3Fuser_code%3DBCDF-GHJK')
    await browser.signIn(EMAIL, PASSWORD)
    const html = await (await browser.get('/oauth/device?user_code=BCDF-GHJK')).text()
    expect(html).toContain('<title>Connect a device')
    expect(html).toContain('value="BCDF-GHJK"')
  })

  it('gives the device a token when the person approves', async () => {
    const config = await newTelevision()
    const asked = await client.initiateDeviceAuthorization(config, { scope: 'place-orders' })
    expect(await decide(asked.user_code, 'approve')).toContain('Return to your device')
    const { access_token } = await poll(config, asked.device_code)
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${service.url}/api/user`, { headers })).status).toBe(200)
  })

  it('gives the device no token when the person denies', async () => {
    const config = await newTelevision()
    const asked = await client.initiateDeviceAuthorization(config, {})
    expect(await decide(asked.user_code, 'deny')).toContain('The device gets no access')
    await expect(poll(config, asked.device_code)).rejects.toMatchObject({ error: 'access_denied' })
  })
})

it('the service limits how many device codes each network can get', async () => {
  const own = await startTestService()
  const { client: made } = await own.oauth.clients.create({
    name: 'Television',
    grants: [DEVICE_CODE],
    confidential: false,
  })
  const ask = () =>
    fetch(`${own.url}/oauth/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: made.id }),
    })
  for (let count = 0; count < 300; count += 1) {
    expect((await ask()).status).toBe(200)
  }
  const refused = await ask()
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
  own.clock.advance({ minutes: 10 })
  expect((await ask()).status).toBe(200)
  await own.stop()
})

it('a service can exchange the access token of its caller for its own token (token exchange)', async () => {
  const { demo } = service
  const { id = '', secret } = demo?.clients.password ?? {}
  const ask = async (form: Record<string, string>) => {
    const body = new URLSearchParams(form)
    const reply = await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
    return (await reply.json()) as Record<string, string>
  }
  const given = await ask({
    grant_type: 'password',
    client_id: id,
    client_secret: secret ?? '',
    username: EMAIL,
    password: PASSWORD,
    scope: 'place-orders',
  })
  const behind = await service.oauth.clients.create({ name: 'Stock', grants: [TOKEN_EXCHANGE] })
  const got = await ask({
    grant_type: TOKEN_EXCHANGE,
    client_id: behind.client.id,
    client_secret: behind.secret ?? '',
    subject_token: given.access_token ?? '',
    subject_token_type: ACCESS_TOKEN,
  })
  expect(got).toMatchObject({ issued_token_type: ACCESS_TOKEN, scope: 'place-orders' })
})

it('the device flow and token exchange can be disabled by settings', async () => {
  const off = await startTestService({ settings: { deviceGrant: false, exchangeGrant: false } })
  const reply = await fetch(`${off.url}/.well-known/oauth-authorization-server`)
  const metadata = (await reply.json()) as Record<string, string[]>
  expect(metadata.grant_types_supported).not.toContain(DEVICE_CODE)
  expect(metadata.grant_types_supported).not.toContain(TOKEN_EXCHANGE)
  expect(metadata).not.toHaveProperty('device_authorization_endpoint')
  const page = await fetch(`${off.url}/oauth/device`, { redirect: 'manual' })
  expect(page.status).toBe(404)
  await off.stop()
})
