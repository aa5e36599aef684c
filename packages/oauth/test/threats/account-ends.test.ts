import { afterEach, describe, expect, it } from 'vitest'
import { authorizationCode, createAuthorizationServer, password } from '../../src/index.ts'
import { createClient, SCOPES, SECRET, startServer, type TestServer } from '../support.ts'

/** Another process ends the account after this one has checked the sign-in, before it stores a token. */
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

describe('R1 an account that ends while its sign-in is checked', () => {
  it('R1 gets no token by a password that was changed meanwhile', async () => {
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

  it('R1 is let in by a password that still holds, checked once more', async () => {
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

  it('R1 gets no personal access token by a session that was ended meanwhile', async () => {
    await start()
    const check = server.users.fromRequest.bind(server.users)
    server.users.fromRequest = async (request) => {
      const found = await check(request)
      if (request.method === 'POST') await elsewhere.revokeUser('ada')
      return found
    }
    const asked = { name: 'script', scopes: [] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', asked)
    expect(reply.status).toBe(401)
    expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
  })
})
