import { databaseNow } from '@tollgate/database'
import { afterEach, describe, expect, it } from 'vitest'
import { authorizationCode, createAuthorizationServer, password } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SCOPES,
  SECRET,
  startServer,
  type TestServer,
} from '../support.ts'

/**
 * Another process ends the account after this process has checked the sign-in and before it stores
 * a token.
 */
let server: TestServer
let elsewhere: ReturnType<typeof createAuthorizationServer>

async function start(): Promise<void> {
  server = await startServer()
  elsewhere = createAuthorizationServer({
    issuer: server.url,
    secret: SECRET,
    database: server.database,
    users: server.users,
    scopes: SCOPES,
    grants: [authorizationCode(), password()],
  })
}

afterEach(async () => {
  elsewhere.close()
  await server.close()
})

/** Ends the account right after the session was read, so that the result is outdated. */
function revokeAfterRead(applies: (request: Request) => boolean): void {
  const check = server.users.fromRequest.bind(server.users)
  server.users.fromRequest = async (request) => {
    const found = await check(request)
    if (applies(request)) await elsewhere.revokeUser('ada')
    return found
  }
}

function credentialsOf(accessToken: string) {
  return { authorization: `Bearer ${accessToken}`, cookie: null, csrfToken: null }
}

async function signInByPassword(): Promise<Response> {
  const client = await createClient(server, { grants: ['password', 'refresh_token'] })
  return server.post('/oauth/token', {
    grant_type: 'password',
    client_id: client.id,
    client_secret: client.secret,
    username: 'ada@example.com',
    password: 'correct horse',
  })
}

describe('a person who is signed out everywhere while a request runs (threat R1)', () => {
  it('gets no token by the password grant if the password was changed in the meantime', async () => {
    await start()
    const check = server.users.findByCredentials.bind(server.users)
    server.users.findByCredentials = async (username, secret) => {
      const found = await check(username, secret)
      if (found) {
        server.users.all.set('ada', { ...found, password: 'a new one' })
        await elsewhere.revokeUser('ada')
      }
      return found
    }
    const reply = await signInByPassword()
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
  })

  it('gets a token by the password grant if a second check finds that the password is still right', async () => {
    await start()
    const check = server.users.findByCredentials.bind(server.users)
    let checks = 0
    server.users.findByCredentials = async (username, secret) => {
      checks += 1
      if (checks === 1) await elsewhere.revokeUser('ada')
      return check(username, secret)
    }
    const reply = await signInByPassword()
    expect([reply.status, checks]).toEqual([200, 2])
    expect(await server.oauth.tokens.listByUser('ada')).toHaveLength(1)
  })

  it('gets no token by the password grant if another sign-out happens during each of three checks of the password', async () => {
    await start()
    let checks = 0
    server.users.findByCredentials = async () => {
      checks += 1
      await elsewhere.revokeUser('ada')
      return server.users.all.get('ada') ?? null
    }
    const reply = await signInByPassword()
    expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    expect(checks).toBe(3)
    expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
  })

  it('gets no personal access token if the session ended in the meantime', async () => {
    await start()
    revokeAfterRead((request) => request.method === 'POST')
    const asked = { name: 'script', scopes: [] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', asked)
    expect(reply.status).toBe(401)
    expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
  })

  it.each([
    ['code', 'approved earlier', { firstParty: false }],
    ['code', "the application's own", { firstParty: true }],
    ['token', "the application's own", { firstParty: true }],
  ])(
    'gets no %s for a client that needs no approval screen (the client is %s)',
    async (type, _which, { firstParty }) => {
      await start()
      const grants = ['authorization_code', 'refresh_token', 'implicit'] as const
      const client = await createClient(server, { firstParty, grants: [...grants] })
      if (!firstParty) await runCodeFlow(server, client)
      const ask = () =>
        requestAuthorization(server, 'ada', {
          client_id: client.id,
          redirect_uri: REDIRECT,
          response_type: type,
          scope: 'place-orders',
        })
      expect((await ask()).headers.get('location')).toContain(REDIRECT)
      revokeAfterRead(() => true)
      const reply = await ask()
      expect(reply.headers.get('location')).toMatch(/^\/login\?return_to=/)
      expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
    },
  )

  it('stays signed in if a second check finds that the session is still valid', async () => {
    await start()
    const client = await createClient(server)
    await runCodeFlow(server, client)
    let looks = 0
    revokeAfterRead(() => {
      looks += 1
      return looks === 1
    })
    const { access_token } = await runCodeFlow(server, client)
    expect(looks).toBe(2)
    await server.oauth.guard.authenticate('api', credentialsOf(access_token))
  })

  it('is accepted with a session that began after the sign-out, even before this process has learned of the sign-out', async () => {
    await start()
    const client = await createClient(server)
    await runCodeFlow(server, client)
    for (let round = 0; round < 5; round += 1) {
      await elsewhere.revokeUser('ada')
      expect((await runCodeFlow(server, client)).access_token).toBeTruthy()
      await elsewhere.revokeUser('ada')
      expect((await server.cookieMode('ada')).cookie).toMatch(/^tollgate_token=./)
      await elsewhere.revokeUser('ada')
      const { accessToken } = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x' })
      await server.oauth.guard.authenticate('api', credentialsOf(accessToken))
    }
  })

  it('gets no cookie of cookie mode from a page that is still loading (threat G6)', async () => {
    await start()
    expect((await server.cookieMode('ada')).cookie).toMatch(/^tollgate_token=./)
    revokeAfterRead(() => true)
    expect((await server.cookieMode('ada')).cookie).toBe('')
  })

  it('cannot renew the cookie of cookie mode (threat G6)', async () => {
    await start()
    const { cookie, csrfToken } = await server.cookieMode('ada')
    revokeAfterRead(() => true)
    const reply = await server.request('/oauth/token/refresh', {
      method: 'POST',
      headers: { cookie: `${buildSessionCookie('ada')}; ${cookie}`, 'x-csrf-token': csrfToken },
    })
    expect(reply.status).toBe(401)
    expect(reply.headers.get('set-cookie')).toBeNull()
  })

  it('cannot use a cookie that this process issued after the sign-out but before it learned of the sign-out (threat G6)', async () => {
    await start()
    const check = server.users.fromRequest.bind(server.users)
    server.users.fromRequest = async (request) => {
      const found = await check(request)
      server.clock.advance({ seconds: 1 })
      return found
    }
    const { cookie, csrfToken } = await server.cookieMode('ada')
    server.users.fromRequest = check
    // The account ended while the session was read, and the entry arrives only now.
    const at = new Date(server.clock.now().getTime() - 500)
    const until = new Date(at.getTime() + 3_600_000)
    await server.database.kysely
      .insertInto('oauth_revocations' as never)
      .values({
        kind: 'user',
        subject: 'ada',
        at: at.getTime(),
        until: until.getTime(),
        mark: 'written just now',
        written_at: databaseNow(server.database),
      } as never)
      .execute()
    const credentials = { authorization: null, cookie, csrfToken }
    const ask = async () => server.oauth.guard.authenticate('api', credentials)
    await expect.poll(() => ask().catch(String)).toMatch('No access token was sent')
  })
})
