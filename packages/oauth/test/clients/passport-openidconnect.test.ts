import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import { type Profile, Strategy, type VerifyCallback } from 'passport-openidconnect'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openid, systemClock } from '../../src/index.ts'
import { UsersWithClaims } from '../openid/support.ts'
import { createClient, type ListeningServer, listen } from '../support.ts'
import { decideInBrowser } from './browser.ts'
import { createCookieJar } from './cookie-jar.ts'

let server: ListeningServer
let shop: { url: string; close(): void }
let person: ReturnType<typeof createCookieJar>
beforeAll(async () => {
  server = await listen({ clock: systemClock, users: new UsersWithClaims(), features: [openid()] })
  shop = await openShop()
})
afterAll(async () => {
  shop.close()
  await server.close()
})
beforeEach(() => {
  person = createCookieJar(fetch)
})

/** Starts a web shop with sessions, set up as in the strategy's README. */
async function openShop() {
  const app = express()
  const http = createServer(app)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { id, secret } = await createClient(server, {
    redirect: `${url}/callback`,
    settings: { claims_in_id_token: true },
  })
  const passport = new Passport()
  passport.use(
    new Strategy(
      {
        issuer: server.url,
        authorizationURL: `${server.url}/oauth/authorize`,
        tokenURL: `${server.url}/oauth/token`,
        userInfoURL: `${server.url}/oauth/userinfo`,
        clientID: id,
        clientSecret: secret,
        callbackURL: `${url}/callback`,
        scope: ['profile', 'email'],
      },
      (_issuer: string, profile: Profile, done: VerifyCallback) =>
        done(null, profile as unknown as Express.User),
    ),
  )
  app.use(session({ secret: 'of the shop', resave: false, saveUninitialized: false }))
  app.get('/login', passport.authenticate('openidconnect', { session: false }))
  const finish = passport.authenticate('openidconnect', { session: false })
  app.get('/callback', finish, (request, response) => {
    response.json(request.user)
  })
  const quietly: express.ErrorRequestHandler = (error, _request, response, _next) => {
    response.status(500).json({ problem: error.message, code: error.code })
  }
  app.use(quietly)
  return {
    url,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

async function begin(): Promise<URL> {
  const reply = await person.fetch(`${shop.url}/login`)
  return new URL(reply.headers.get('location') ?? `error:${reply.status}`)
}

describe('passport-openidconnect as the client', () => {
  it('signs a person in, and reads the name and e-mail address', async () => {
    const arrived = await person.fetch(await decideInBrowser(await begin()))
    expect([arrived.status, await arrived.json()]).toMatchObject([
      200,
      { id: 'ada', displayName: 'Ada Lovelace', emails: [{ value: 'ada@example.com' }] },
    ])
  })

  it('reports a failed sign-in when the person denies the request', async () => {
    const callback = await decideInBrowser(await begin(), { user: 'bob', decision: 'deny' })
    expect((await person.fetch(callback)).status).toBe(401)
  })

  it('rejects a callback with a state that it did not send, or from another browser', async () => {
    const callback = await decideInBrowser(await begin())
    const other = new URL(callback)
    other.searchParams.set('state', 'other')
    expect((await person.fetch(other)).status).toBe(403)
    person.cookies.clear()
    expect((await person.fetch(callback)).status).toBe(403)
  })

  it('reports the error when a code is used twice', async () => {
    const used = await decideInBrowser(await begin())
    await person.fetch(used)
    const callback = await decideInBrowser(await begin())
    callback.searchParams.set('code', used.searchParams.get('code') ?? '')
    const arrived = await person.fetch(callback)
    expect([arrived.status, await arrived.json()]).toMatchObject([500, { code: 'invalid_grant' }])
  })
})
