import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { authorizationCode, deviceCode, pushedRequests, refreshToken } from '../../src/index.ts'
import { newDevice, startDeviceFlow, typeCode } from '../device/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'
import { readPage } from './support.ts'

let server: TestServer

beforeEach(async () => {
  server = await startServer({
    grants: [authorizationCode(), refreshToken(), deviceCode()],
    features: [pushedRequests()],
  })
})
afterEach(() => server.close())

const request = (clientId: string, changes: Record<string, string> = {}) => ({
  client_id: clientId,
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'place-orders',
  ...changes,
})

const consent = async (clientId: string, user = 'ada') =>
  (await requestAuthorization(server, user, request(clientId))).text()

/** Returns the address behind "Not you?". */
function findOtherAccountUrl(html: string): URL {
  const href = /<a href="([^"]+)">Sign in with another account/.exec(html)?.[1] ?? ''
  return new URL(href.replaceAll('&amp;', '&'), server.url)
}

describe('approval screen', () => {
  it('states that the operator of the server registered the client', async () => {
    const { id } = await createClient(server)
    const html = await consent(id)
    expect(html).toContain('The operator of this server registered this application.')
    expect(html).not.toContain('unverified')
  })

  it('states that a client registered by another user is unverified, and does not name that user', async () => {
    const { id } = await createClient(server, { userId: 'bob' })
    const html = await consent(id)
    expect(html).toContain(
      '<strong>unverified</strong>: the operator of this server has not checked it',
    )
    expect(html).toContain('Another user registered it')
    expect(html).not.toMatch(/\bbob\b/)
  })

  it('tells people that they registered the client themselves', async () => {
    const { id } = await createClient(server, { userId: 'ada' })
    const html = await consent(id)
    expect(html).toContain('You registered this application yourself')
    expect(html).not.toContain('unverified')
  })

  it.each([
    ['http://127.0.0.1:53682/callback', true],
    ['http://[::1]:53682/callback', true],
    ['http://localhost:53682/callback', true],
    ['https://localhost.example.com/callback', false],
    ['com.example.app://callback', false],
  ])(
    "shows the redirect URI %s with a warning that a program on the person's own computer receives the code: %s",
    async (redirect, isWarned) => {
      const { id } = await createClient(server, { redirect })
      const page = await requestAuthorization(
        server,
        'ada',
        request(id, { redirect_uri: redirect }),
      )
      const html = await page.text()
      expect([page.status, html.includes('your own computer')]).toEqual([200, isWarned])
    },
  )

  it.each([
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:'],
    ['com.example.app:/callback', 'com.example.app:'],
  ])(
    'names the URL scheme of the program that a redirect to %s opens',
    async (redirect, scheme) => {
      const { id } = await createClient(server, { redirect })
      const page = await requestAuthorization(
        server,
        'ada',
        request(id, { redirect_uri: redirect }),
      )
      expect(await page.text()).toContain(
        `the program on your device that handles <strong>${scheme}</strong> links`,
      )
    },
  )

  it('marks a client registered by another user as unverified on the device page, too', async () => {
    const device = await newDevice(server, { userId: 'bob' })
    const { user_code } = await startDeviceFlow(server, device)
    const html = await (await typeCode(server, 'ada', user_code)).text()
    expect(html).toContain('the operator of this server has not checked it')
  })
})

describe('the link "Not you?" on the approval screen', () => {
  it('leads to the sign-in page, and after signing in another user returns to the same request', async () => {
    const { id } = await createClient(server)
    const state = 'a b&c=d#é'
    const html = await (await requestAuthorization(server, 'ada', request(id, { state }))).text()
    const page = findOtherAccountUrl(html)
    expect(page.origin + page.pathname).toBe(`${server.url}/login`)
    expect(page.searchParams.get('prompt')).toBe('select_account')
    const back = new URL(page.searchParams.get('return_to') ?? '', server.url)
    expect(Object.fromEntries(back.searchParams)).toEqual(request(id, { state }))
    const headers = { cookie: 'session=bob.1', accept: 'text/html' }
    const again = await server.request(back.pathname + back.search, { headers })
    expect(again.status).toBe(200)
    const form = readPage(await again.text())
    const reply = await server.post(
      form.action,
      { csrf_token: form.csrfToken, decision: 'approve' },
      { cookie: 'session=bob.1', origin: server.url },
    )
    const answered = new URL(reply.headers.get('location') ?? '')
    expect(answered.searchParams.get('state')).toBe(state)
    expect(await server.oauth.consents.listByUser('bob')).toHaveLength(1)
    expect(await server.oauth.consents.listByUser('ada')).toEqual([])
  })

  it('lets the user who then signs in decide about the same pushed request', async () => {
    const { id, secret } = await createClient(server)
    const pushed = await server.post('/oauth/par', { ...request(id), client_secret: secret })
    const { request_uri } = (await pushed.json()) as { request_uri: string }
    const html = await (
      await requestAuthorization(server, 'ada', { client_id: id, request_uri })
    ).text()
    const back = findOtherAccountUrl(html).searchParams.get('return_to') ?? ''
    server.clock.advance({ minutes: 5 })
    const headers = { cookie: 'session=bob.1', accept: 'text/html' }
    expect((await server.request(back, { headers })).status).toBe(200)
  })

  it('returns to the device page with the user code filled in', async () => {
    const { user_code } = await startDeviceFlow(server, await newDevice(server))
    const html = await (await typeCode(server, 'ada', user_code)).text()
    expect(findOtherAccountUrl(html).searchParams.get('return_to')).toBe(
      `/oauth/device?user_code=${user_code}`,
    )
  })
})

describe('findRequestingApplication(), which a sign-in page calls,', () => {
  const find = (returnTo: string) => server.oauth.findRequestingApplication(returnTo)

  it('finds the client of the request in the return address', async () => {
    const { id } = await createClient(server, { userId: 'bob', name: 'Photo book' })
    const asking = await find(`/oauth/authorize?client_id=${id}&client_name=Bank`)
    expect(asking).toEqual({
      client: { id, name: 'Photo book', userId: 'bob' },
      logo: null,
      policyUri: null,
      termsUri: null,
      verified: false,
      selfRegistered: null,
    })
  })

  it('returns null if the return address is not an authorization request of an existing client', async () => {
    const { id } = await createClient(server)
    const { id: gone } = await createClient(server)
    await server.oauth.clients.revoke(gone)
    const addresses = [
      '/',
      '/oauth/authorize',
      '/oauth/authorize?',
      '/oauth/authorize?client_id=nobody',
      `/oauth/authorize?client_id=${gone}`,
      `/oauth/authorize?client_id=${id}&client_id=${id}`,
      `/oauth/authorize?client_id=%ff`,
      `/oauth/device?client_id=${id}`,
      `/elsewhere?return_to=/oauth/authorize?client_id=${id}`,
      `https://evil.example/oauth/authorize?client_id=${id}`,
      `//evil.example/oauth/authorize?client_id=${id}`,
    ]
    for (const address of addresses) expect(await find(address), address).toBeNull()
  })
})
