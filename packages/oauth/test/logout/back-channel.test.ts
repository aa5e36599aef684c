import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kyselyStorage } from '../../src/index.ts'
import { signIn } from '../openid/support.ts'
import { buildSessionCookie, REDIRECT } from '../support.ts'
import {
  HOME,
  LOCAL,
  type LogoutServer,
  logoutClient,
  pollUntilTrue,
  type Receiver,
  startLogout,
  startReceiver,
  visit,
} from './support.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

let server: LogoutServer
let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
  server = await startLogout(true, LOCAL)
})
afterEach(async () => {
  await server.close()
  await receiver.close()
})

const notifiedClient = (settings: object = {}) =>
  logoutClient(server, { backchannel_logout_uri: receiver.url, ...settings }, { firstParty: true })
const tokenOf = (form: URLSearchParams | undefined) => form?.get('logout_token') ?? ''

describe('OpenID Foundation test plan for back-channel logout', () => {
  it('is announced in discovery', async () => {
    const found = await (await server.request('/.well-known/openid-configuration')).json()
    expect(found).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      end_session_endpoint: `${server.url}/oauth/logout`,
    })
  })

  it('sends the client a form that contains only a logout token', async () => {
    const client = await notifiedClient()
    const { id_token } = await signIn(server, client, { nonce: 'n' })
    const reply = await visit(server, { id_token_hint: id_token, post_logout_redirect_uri: HOME })
    expect(reply.headers.get('location')).toBe(HOME)
    await pollUntilTrue(() => receiver.forms.length > 0)
    const [form] = receiver.forms
    expect([...(form?.keys() ?? [])]).toEqual(['logout_token'])
    expect(receiver.types).toEqual(['application/x-www-form-urlencoded'])

    const jwks = await (await server.request('/.well-known/jwks.json')).json()
    const { payload, protectedHeader } = await jwtVerify(tokenOf(form), createLocalJWKSet(jwks), {
      issuer: server.url,
      audience: client.id,
      currentDate: server.clock.now(),
    })
    expect(protectedHeader).toMatchObject({ typ: 'logout+jwt', alg: 'RS256' })
    const { sub, sid } = decodeJwt(id_token)
    expect(payload).toEqual({
      iss: server.url,
      aud: client.id,
      sub,
      sid,
      iat: Math.floor(server.clock.now().getTime() / 1000),
      exp: Math.floor(server.clock.now().getTime() / 1000) + 120,
      jti: expect.stringMatching(/^[\w-]{43}$/),
      events: { [EVENT]: {} },
    })
  })

  it('signs the logout token like the ID tokens of the client, with the same subject', async () => {
    await server.close()
    server = await startLogout(true, LOCAL, {
      idTokenAlgorithm: 'ES256',
      pairwiseSalt: 'a salt of more than thirty-two characters',
    })
    const client = await notifiedClient({ subject_type: 'pairwise' })
    const { id_token } = await signIn(server, client)
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length > 0)
    const token = tokenOf(receiver.forms[0])
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'logout+jwt' })
    expect(decodeJwt(token).sub).toBe(decodeJwt(id_token).sub)
    expect(decodeJwt(token).sub).not.toBe('ada')
  })
})

describe('back-channel logout', () => {
  it('notifies each client that the person used in the session, and no other client', async () => {
    const first = await notifiedClient()
    const second = await notifiedClient()
    await notifiedClient()
    await logoutClient(server, {}, { firstParty: true }).then((quiet) => signIn(server, quiet))
    await signIn(server, first)
    await signIn(server, first)
    await signIn(server, second)
    await server.oauth.endSession('ada.2')
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 2)
    const audiences = receiver.forms.map((form) => decodeJwt(tokenOf(form)).aud)
    expect(audiences.sort()).toEqual([first.id, second.id].sort())
    expect(await server.oauth.deliver()).toBe(0)
  })

  it.each([
    ['when an account is removed', (each: LogoutServer) => each.oauth.revokeUser('ada')],
    ['when endEverything() is called', (each: LogoutServer) => each.oauth.endEverything()],
  ])('notifies the client %s', async (_name, end) => {
    await signIn(server, await notifiedClient())
    await end(server)
    await pollUntilTrue(() => receiver.forms.length === 1)
    const jwks = await (await server.request('/.well-known/jwks.json')).json()
    const options = { currentDate: server.clock.now() }
    await jwtVerify(tokenOf(receiver.forms[0]), createLocalJWKSet(jwks), options)
  })

  it("notifies no client of another person's session", async () => {
    await signIn(server, await notifiedClient())
    await server.oauth.revokeUser('bob')
    expect(await server.oauth.deliver()).toBe(0)
    expect(receiver.forms).toEqual([])
  })

  it('notifies a client that exchanges its authorization code only after the session ended', async () => {
    const client = await notifiedClient()
    const asked = await server.request(
      `/oauth/authorize?${new URLSearchParams({ client_id: client.id, redirect_uri: REDIRECT, response_type: 'code', scope: 'openid' })}`,
      { headers: { cookie: buildSessionCookie('ada') } },
    )
    const code = new URL(asked.headers.get('location') ?? '').searchParams.get('code') ?? ''
    await server.oauth.endSession('ada.1')
    const reply = await server.post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(reply.status).toBe(200)
    await pollUntilTrue(() => receiver.forms.length === 1)
  })

  it('notifies a client only once, even if it refreshes after the session ended', async () => {
    const client = await notifiedClient()
    const { refresh_token } = await signIn(server, client)
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1)
    const reply = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(reply.status).toBe(200)
    expect(await server.oauth.sessions.listByUser('ada')).toEqual([])
  })
})

describe('back-channel logout to an unreachable client (threat A14)', () => {
  it('is retried with the same jti and a new iat', async () => {
    await signIn(server, await notifiedClient())
    receiver.answer = 500
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1)
    await pollUntilTrue(() => server.logged.length === 1)
    expect(await server.oauth.deliver()).toBe(0)
    expect(receiver.forms).toHaveLength(1)
    receiver.answer = 204
    server.clock.advance({ seconds: 31 })
    expect(await server.oauth.deliver()).toBe(1)
    const [first, second] = receiver.forms.map((form) => decodeJwt(tokenOf(form)))
    expect(second?.jti).toBe(first?.jti)
    expect(second?.iat).toBeGreaterThan(first?.iat ?? 0)
    server.clock.advance({ hours: 2 })
    expect(await server.oauth.deliver()).toBe(0)
  })

  it('is given up after the last retry', async () => {
    await signIn(server, await notifiedClient())
    receiver.answer = 400
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => server.logged.length > 0)
    for (let hour = 0; hour < 30; hour += 1) {
      server.clock.advance({ hours: 1 })
      await server.oauth.deliver()
    }
    const attempts = receiver.forms.length
    expect(attempts).toBeGreaterThan(20)
    expect(attempts).toBeLessThan(27)
    receiver.answer = 200
    server.clock.advance({ hours: 1 })
    expect(await server.oauth.deliver()).toBe(0)
  })

  it('does not delay the notification of other clients if the client hangs', async () => {
    const slow = await startReceiver()
    slow.answer = null
    const hanging = await notifiedClient({ backchannel_logout_uri: slow.url })
    await signIn(server, hanging)
    await signIn(server, await notifiedClient())
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1 && slow.forms.length === 1)
    await slow.close()
  })

  it('does not delay the notification of other clients if the client is slow, however many notifications are waiting', async () => {
    let asked = 0
    const slow = createServer((_request, response) => {
      asked += 1
      setTimeout(() => response.end(), 1000)
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const { port } = slow.address() as AddressInfo
    const idle = await notifiedClient({ backchannel_logout_uri: `http://127.0.0.1:${port}/` })
    const quick = await notifiedClient()
    const now = server.clock.now()
    const times = { createdAt: now, seenAt: now, liveUntil: new Date(now.getTime() + 60_000) }
    const { sessions } = kyselyStorage(server.database)
    const add = (clientId: string, session: string, sid: string) =>
      sessions.add({
        ...{ sid, sessionId: server.oauth.sessions.hash(session), clientId, userId: 'ada' },
        ...times,
      })
    for (let count = 0; count < 150; count += 1) await add(idle.id, 'ada.8', `sid-${count}`)
    await add(quick.id, 'ada.9', 'sid-quick')
    await server.oauth.endSession('ada.8')
    await pollUntilTrue(() => asked > 0)
    server.clock.advance({ seconds: 1 })
    await server.oauth.endSession('ada.9')
    await pollUntilTrue(() => receiver.forms.length === 1)
    slow.closeAllConnections()
    slow.close()
  })

  it('does not follow redirects', async () => {
    const elsewhere = await startReceiver()
    await signIn(server, await notifiedClient())
    receiver.answer = 307
    receiver.location = elsewhere.url
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => server.logged.length > 0)
    expect(elsewhere.forms).toEqual([])
    await elsewhere.close()
  })

  it.each([
    'http://127.0.0.1:1/logout',
    'https://127.0.0.1/logout',
    'https://[::1]/logout',
    'https://10.0.0.1/logout',
    'https://169.254.169.254/latest',
    'https://localhost/logout',
  ])(
    'sends no request to the private or plain-http address %s unless it is allowed',
    async (address) => {
      await server.close()
      server = await startLogout(true)
      await signIn(server, await notifiedClient({ backchannel_logout_uri: address }))
      await server.oauth.endSession('ada.1')
      await pollUntilTrue(() => server.logged.length > 0)
      expect(receiver.forms).toEqual([])
    },
  )

  it.each(['http://app.example/logout', 'file:///etc/passwd', 'nothing'])(
    'accepts no client with the logout URL %s',
    (address) =>
      expect(notifiedClient({ backchannel_logout_uri: address })).rejects.toThrow(/https URL/),
  )

  it('is given up when the client is deleted', async () => {
    const client = await notifiedClient()
    await signIn(server, client)
    await server.oauth.clients.revoke(client.id)
    await server.oauth.endSession('ada.1')
    expect(await server.oauth.deliver()).toBe(0)
    expect(receiver.forms).toEqual([])
  })
})

describe('a logout token (threat A14, threat N5)', () => {
  it('is rejected as an access token, as an ID token and as an id_token_hint', async () => {
    const client = await notifiedClient()
    await signIn(server, client)
    await server.oauth.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1)
    const token = tokenOf(receiver.forms[0])
    expect(decodeJwt(token)).not.toHaveProperty('nonce')
    const me = await server.request('/oauth/userinfo', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(me.status).toBe(401)
    const page = await visit(server, { id_token_hint: token, post_logout_redirect_uri: HOME })
    expect(page.headers.get('location')).toBe(null)
  })
})
