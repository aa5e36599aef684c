import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  deviceCode,
  openid,
  pushedRequests,
  refreshToken,
} from '../../src/index.ts'
import { startServer, type TestServer } from '../support.ts'
import {
  askAsDevice,
  DEVICE_CODE,
  type Device,
  decide,
  newDevice,
  openPage,
  poll,
  pollError,
  readPageForm,
  send,
  startDevice,
  startDeviceFlow,
  typeCode,
} from './support.ts'

const ORDERS = 'https://orders.example.com'

let server: TestServer
let device: Device
beforeAll(async () => {
  server = await startDevice({ features: [openid()], resources: { [ORDERS]: {} } })
  device = await newDevice(server)
})
afterAll(() => server.close())

describe('the device flow', () => {
  it("leads from a user code on the device's screen to a token", async () => {
    const asked = await startDeviceFlow(server, device, { scope: 'place-orders check-status' })
    expect(asked).toMatchObject({
      verification_uri: `${server.url}/oauth/device`,
      verification_uri_complete: `${server.url}/oauth/device?user_code=${asked.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect(asked.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(await pollError(server, device, asked.device_code)).toBe('authorization_pending')
    const done = await decide(server, 'ada', asked.user_code)
    expect(await done.text()).toContain('You approved <bdi>Television</bdi>')
    server.clock.advance({ seconds: 5 })
    const reply = await poll(server, device, asked.device_code)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const tokens = (await reply.json()) as Record<string, string>
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'place-orders check-status' })
    expect(tokens.refresh_token).toMatch(/^tgr_/)
    expect(tokens).not.toHaveProperty('id_token')
    const headers = {
      authorization: `Bearer ${tokens.access_token}`,
      cookie: null,
      csrfToken: null,
    }
    const user = await server.oauth.guard.authenticate('api', headers)
    expect([user.id, user.clientId, user.actor]).toEqual(['ada', device.id, null])
  })

  it('returns access_denied to every poll after the person denied', async () => {
    const { device_code, user_code } = await startDeviceFlow(server, device)
    const done = await decide(server, 'ada', user_code, 'deny')
    expect(await done.text()).toContain('You denied access to <bdi>Television</bdi>')
    expect(await pollError(server, device, device_code)).toBe('access_denied')
    expect(await pollError(server, device, device_code)).toBe('access_denied')
  })

  it('is listed in the server metadata', async () => {
    const reply = await server.request('/.well-known/oauth-authorization-server')
    const metadata = (await reply.json()) as Record<string, unknown>
    expect(metadata).toMatchObject({
      device_authorization_endpoint: `${server.url}/oauth/device_authorization`,
      grant_types_supported: expect.arrayContaining([DEVICE_CODE]),
    })
  })

  it('exists only if deviceCode() is among the grants: otherwise it has no routes and no metadata', async () => {
    const plain = await startServer()
    const metadata = await plain.request('/.well-known/oauth-authorization-server')
    expect(await metadata.json()).not.toHaveProperty('device_authorization_endpoint')
    for (const path of ['/oauth/device', '/oauth/device_authorization']) {
      expect([path, plain.oauth.handles(path)]).toEqual([path, false])
    }
    await plain.close()
  })

  it.each([
    { lifetime: '59s' },
    { lifetime: '31m' },
    { lifetime: 'soon' },
    { interval: 61 },
    { interval: 0 },
  ])('rejects the options %j at start-up', (options) => {
    expect(() => deviceCode(options)).toThrow(/^deviceCode: (lifetime|interval)/)
  })

  it('issues an ID token with openid(), containing the time of the sign-in', async () => {
    const signedInAt = new Date(server.clock.now().getTime() - 60_000)
    server.users.signIns.set('bob.1', signedInAt)
    const { device_code, user_code } = await startDeviceFlow(server, device, { scope: 'openid' })
    await decide(server, 'bob', user_code)
    server.clock.advance({ seconds: 5 })
    const { id_token = '' } = (await (await poll(server, device, device_code)).json()) as {
      id_token?: string
    }
    expect(decodeJwt(id_token)).toMatchObject({
      sub: 'bob',
      aud: device.id,
      auth_time: signedInAt.getTime() / 1000,
    })
  })

  it('accepts the `resource` parameter in the device request and when polling', async () => {
    const { device_code, user_code } = await startDeviceFlow(server, device, { resource: ORDERS })
    await decide(server, 'ada', user_code)
    server.clock.advance({ seconds: 5 })
    const foreign = await poll(server, device, device_code, { resource: server.url })
    expect(await foreign.json()).toMatchObject({ error: 'invalid_target' })
    server.clock.advance({ seconds: 5 })
    const reply = await poll(server, device, device_code, { resource: ORDERS })
    const { access_token } = (await reply.json()) as { access_token: string }
    expect(decodeJwt(access_token).aud).toBe(ORDERS)
  })

  it('works without pushing even if authorization requests must be pushed', async () => {
    const strict = await startDevice({ features: [pushedRequests({ required: true })] })
    expect((await askAsDevice(strict, await newDevice(strict))).status).toBe(200)
    await strict.close()
  })

  it('continues after a restart and in another process', async () => {
    const { device_code, user_code } = await startDeviceFlow(server, device)
    const another = server.another()
    await another.ready()
    const there: TestServer = {
      ...server,
      request: (path, init) => another.fetch(new Request(new URL(path, server.url), init)),
      post: (path, form, headers) =>
        another.fetch(
          new Request(new URL(path, server.url), {
            method: 'POST',
            body: new URLSearchParams(form),
            ...(headers && { headers }),
          }),
        ),
    }
    await decide(there, 'ada', user_code)
    expect(await pollError(server, device, device_code)).toBeNull()
  })
})

describe('POST /oauth/device_authorization', () => {
  it.each([
    ['an undefined scope', { scope: 'fly' }, 'invalid_scope'],
    ['the wildcard scope', { scope: '*' }, 'invalid_scope'],
    ['an unknown resource', { resource: 'https://else.example' }, 'invalid_target'],
    ['a request object', { request: 'x.y.z' }, 'request_not_supported'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['a secret of a public client', { client_secret: 'x' }, 'invalid_client'],
  ])('rejects a request with %s', async (_what, params, error) => {
    const reply = await askAsDevice(server, device, params)
    expect(await reply.json()).toMatchObject({ error })
  })

  it('requires the secret of a client that has one', async () => {
    const kiosk = await newDevice(server, { confidential: true })
    expect((await askAsDevice(server, kiosk)).status).toBe(200)
    const without = await askAsDevice(server, { id: kiosk.id, secret: '' })
    expect(await without.json()).toMatchObject({ error: 'invalid_client' })
  })

  it('refuses a client without the device code grant, like the token endpoint', async () => {
    const web = await newDevice(server, {
      grants: ['authorization_code'],
      redirect: 'https://app.example/',
    })
    expect(await (await askAsDevice(server, web)).json()).toMatchObject({
      error: 'unauthorized_client',
    })
    expect(await (await poll(server, web, 'tgd_x')).json()).toMatchObject({
      error: 'unauthorized_client',
    })
  })
})

describe('the device page', () => {
  it('sends people who are not signed in to the sign-in page, which returns them with their code', async () => {
    const headers = { accept: 'text/html' }
    const reply = await server.request('/oauth/device?user_code=BCDF-GHJK', { headers })
    expect(reply.headers.get('location')).toBe(
      `/login?return_to=${encodeURIComponent('/oauth/device?user_code=BCDF-GHJK')}`,
    )
  })

  it('fills in the user code from the URL, and does not look it up until the form is sent', async () => {
    const { user_code } = await startDeviceFlow(server, device)
    const page = await openPage(server, 'ada', `?user_code=${user_code}`)
    const html = await page.text()
    expect(html).toContain(`value="${user_code}"`)
    expect(html).not.toContain('Television')
  })

  it.each([
    ['lower-case letters', (code: string) => code.toLowerCase()],
    ['the hyphen missing', (code: string) => code.replace('-', '')],
    ['spaces', (code: string) => ` ${code.replace('-', ' ')} `],
  ])('accepts a code with %s', async (_what, write) => {
    const { user_code } = await startDeviceFlow(server, device)
    const page = await typeCode(server, 'bob', write(user_code))
    expect(await page.text()).toContain(user_code)
  })

  it('shows the client and its scopes, and warns people to approve only requests that they started themselves', async () => {
    const { user_code } = await startDeviceFlow(server, device, {
      scope: 'place-orders check-status',
    })
    const page = await typeCode(server, 'ada', user_code)
    const html = await page.text()
    for (const text of [
      '<bdi>Television</bdi>',
      '<li>Place orders</li>',
      '<li>Check order status</li>',
      user_code,
      'Approve only if you started this yourself',
      'If someone sent you this code or a link to this page, deny the request',
    ]) {
      expect(html).toContain(text)
    }
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  it("escapes the client's name and the code that was typed", async () => {
    const name = '<script>alert(1)</script>'
    const hostile = await newDevice(server, { name })
    const { user_code } = await startDeviceFlow(server, hostile)
    const page = await typeCode(server, 'ada', user_code)
    expect(await page.text()).not.toContain('<script>')
    const field = await openPage(server, 'ada', `?user_code=${encodeURIComponent('"><script>')}`)
    expect(await field.text()).not.toContain('<script>')
  })

  it('shows an unknown code as an error on the page', async () => {
    const page = await typeCode(server, 'ada', 'BBBB-BBBB')
    expect(page.status).toBe(400)
    const html = await page.text()
    expect(html).toContain('This code is unknown, has been used, or has expired.')
    expect(readPageForm(html).action).toBe('/oauth/device')
  })

  it('rejects any decision other than approve or deny', async () => {
    const { user_code } = await startDeviceFlow(server, device)
    const page = await typeCode(server, 'ada', user_code)
    const reply = await send(server, 'ada', readPageForm(await page.text()), {
      decision: 'perhaps',
    })
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('decision must be approve or deny')
  })
})

it('the device flow issues no refresh token to clients without the refresh token grant', async () => {
  const own = await startServer({ grants: [authorizationCode(), refreshToken(), deviceCode()] })
  const bare = await newDevice(own, { grants: [DEVICE_CODE] })
  const { device_code, user_code } = await startDeviceFlow(own, bare)
  await decide(own, 'ada', user_code)
  own.clock.advance({ seconds: 5 })
  const tokens = await (await poll(own, bare, device_code)).json()
  expect(tokens).toHaveProperty('access_token')
  expect(tokens).not.toHaveProperty('refresh_token')
  await own.close()
})
