import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryStorage } from '../../src/index.ts'
import { exchange, signIn } from '../openid/support.ts'
import { REDIRECT } from '../support.ts'
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

describe.each([
  ['a database', () => ({})],
  ['memory', () => ({ storage: memoryStorage() })],
] as const)('client sessions, stored in %s', (_name, store) => {
  let server: LogoutServer
  let client: { id: string; secret: string }
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    server = await startLogout(true, { ...LOCAL, ...store() })
    const settings = { backchannel_logout_uri: receiver.url }
    client = await logoutClient(server, settings, { firstParty: true })
  })
  afterAll(async () => {
    await server.close()
    await receiver.close()
  })

  /** Signs Ada in with the session of this id. */
  async function signInBy(session: string): Promise<string> {
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
    })
    const reply = await server.request(`/oauth/authorize?${query}`, {
      headers: { cookie: `session=${session}` },
    })
    const back = new URL(reply.headers.get('location') ?? '')
    const tokens = await exchange(server, client, back.searchParams.get('code') ?? '')
    return (await tokens.json()).id_token
  }

  it('are listed by user, with the time of their last use', async () => {
    const idToken = await signInBy('ada.1')
    const since = server.clock.now()
    server.clock.advance({ hours: 2 })
    await signInBy('ada.1')
    const listed = await server.oauth.sessions.listByUser('ada')
    expect(listed).toEqual([
      {
        sid: decodeJwt(idToken).sid,
        sessionId: server.oauth.sessions.hash('ada.1'),
        clientId: client.id,
        userId: 'ada',
        createdAt: since,
        seenAt: server.clock.now(),
        liveUntil: expect.any(Date),
      },
    ])
    expect(await server.oauth.sessions.listByUser('bob')).toEqual([])
  })

  it('can be ended by the sid in an ID token, which also makes the cookie of cookie mode invalid', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const [session] = await server.oauth.sessions.listByUser('ada')
    receiver.forms.length = 0
    expect(await server.oauth.sessions.end(session?.sid ?? '')).toBe(true)
    expect(await server.oauth.sessions.end(session?.sid ?? '')).toBe(false)
    expect(await server.oauth.sessions.end('')).toBe(false)
    await pollUntilTrue(() => receiver.forms.length === 1)
    await expect(
      (async () =>
        server.oauth.guard.authenticate('api', { authorization: null, cookie, csrfToken }))(),
    ).rejects.toThrow()
  })

  it('get a new session id when the person signs in again', async () => {
    const idToken = await signInBy('ada.5')
    await server.oauth.sessions.move('ada.5', 'ada.6')
    receiver.forms.length = 0
    await server.oauth.endSession('ada.5')
    expect(receiver.forms).toEqual([])
    const params = { id_token_hint: idToken, post_logout_redirect_uri: HOME }
    const reply = await visit(server, params, { cookie: 'session=ada.6' })
    expect(reply.headers.get('location')).toBe(HOME)
    await pollUntilTrue(() => receiver.forms.length === 1)
  })

  it('are stored only for requests with the `openid` scope', async () => {
    await signIn(server, client, { scope: 'place-orders' }).catch(() => {})
    expect(await server.oauth.sessions.listByUser('ada')).toEqual([])
  })
})

describe('a database outage during a sign-in', () => {
  it('loses no client session: the next sign-in stores it, and its client is notified at the logout', async () => {
    const receiver = await startReceiver()
    const storage = memoryStorage()
    let away = true
    const sessions: typeof storage.sessions = {
      ...storage.sessions,
      add: (session) =>
        away ? Promise.reject(new Error('The database is away')) : storage.sessions.add(session),
    }
    const server = await startLogout(true, { ...LOCAL, storage: { ...storage, sessions } })
    try {
      const settings = { backchannel_logout_uri: receiver.url }
      const client = await logoutClient(server, settings, { firstParty: true })
      await expect(signIn(server, client)).rejects.toThrow()
      away = false
      await signIn(server, client)
      expect(await server.oauth.sessions.listByUser('ada')).toHaveLength(1)
      await server.oauth.endSession('ada.1')
      await pollUntilTrue(() => receiver.forms.length === 1)
    } finally {
      await server.close()
      await receiver.close()
    }
  })
})
