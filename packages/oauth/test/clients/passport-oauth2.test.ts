import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Passport } from 'passport'
import { type StateStore, Strategy, type VerifyCallback } from 'passport-oauth2'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, frameworks } from '../adapters/frameworks.ts'
import { createClient } from '../support.ts'
import { decideInBrowser } from './browser.ts'

interface Shop {
  readonly url: string
  close(): void
}

/** Stores the shop's state of a sign-in under a cookie, because the shop has no sessions. */
class CookieStateStore {
  readonly #pending = new Map<string, string>()

  // passport-oauth2 passes the PKCE verifier to stores with five parameters, which its types omit.
  store(
    request: express.Request,
    verifier: string,
    _state: unknown,
    _meta: unknown,
    done: (error: Error | null, state: string) => void,
  ): void {
    const state = randomUUID()
    this.#pending.set(state, verifier)
    request.res?.cookie('signing-in', state, { httpOnly: true })
    done(null, state)
  }

  verify(
    request: express.Request,
    state: string,
    done: (error: Error | null, verifier: string | false, info: string) => void,
  ): void {
    const verifier = this.#pending.get(state)
    const theirs = request.headers.cookie === `signing-in=${state}`
    this.#pending.delete(state)
    if (verifier && theirs) done(null, verifier, state)
    else done(null, false, 'This sign-in was not started here')
  }
}

/** Starts a web shop of another company, which signs people in with their account at the server. */
async function openShop(api: App): Promise<Shop> {
  const http: Server = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { id, secret } = await createClient(api, { name: 'Shop', redirect: `${url}/callback` })
  const strategy = new Strategy(
    {
      authorizationURL: `${api.url}/oauth/authorize`,
      tokenURL: `${api.url}/oauth/token`,
      clientID: id,
      clientSecret: secret,
      callbackURL: `${url}/callback`,
      scope: ['place-orders', 'check-status'],
      pkce: true,
      store: new CookieStateStore() as unknown as StateStore,
    },
    (_accessToken: string, _refreshToken: string, profile: Express.User, done: VerifyCallback) =>
      done(null, profile),
  )
  strategy.userProfile = async (accessToken, done) => {
    const headers = { authorization: `Bearer ${accessToken}` }
    const me = await api.fetch('/me', { headers })
    done(null, await me.json())
  }
  const passport = new Passport()
  passport.use(strategy)
  const app = express()
  app.get('/login', passport.authenticate('oauth2', { session: false }))
  const finish = passport.authenticate('oauth2', { session: false })
  app.get('/callback', finish, (request, response) => {
    response.json(request.user)
  })
  const quietly: express.ErrorRequestHandler = (error, _request, response, _next) => {
    response.status(500).json({ problem: error.message, code: error.code })
  }
  app.use(quietly)
  http.on('request', app)
  return {
    url,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

/** Starts the sign-in at the shop, which redirects the browser to the server. */
async function startSignIn(shop: Shop): Promise<{ authorizationUrl: string; cookie: string }> {
  const reply = await fetch(`${shop.url}/login`, { redirect: 'manual' })
  expect(reply.status).toBe(302)
  return {
    authorizationUrl: reply.headers.get('location') ?? '',
    cookie: reply.headers.getSetCookie()[0]?.split(';')[0] ?? '',
  }
}

describe('passport-oauth2 as the client', () => {
  let api: App
  let shop: Shop
  beforeEach(async () => {
    const server = frameworks.find(({ name }) => name === 'Express')
    if (!server) throw new Error('There is no Express among the frameworks')
    api = await server.start()
    shop = await openShop(api)
  })
  afterEach(async () => {
    shop.close()
    await api.close()
  })

  it('sends the browser to the approval screen and back, and learns who signed in', async () => {
    const { authorizationUrl, cookie } = await startSignIn(shop)
    expect(new URL(authorizationUrl).searchParams.get('code_challenge_method')).toBe('S256')
    const callback = await decideInBrowser(authorizationUrl, { user: 'bob' })
    const arrived = await fetch(callback, { headers: { cookie } })
    expect(arrived.status).toBe(200)
    expect(await arrived.json()).toMatchObject({
      id: 'bob',
      record: { email: 'bob@example.com' },
      mayPlace: true,
      mayCheck: true,
    })
  })

  it('needs no second approval for the same scopes', async () => {
    const first = await startSignIn(shop)
    await decideInBrowser(first.authorizationUrl)
    const { authorizationUrl, cookie } = await startSignIn(shop)
    const straight = await api.fetch(authorizationUrl, {
      headers: { cookie: 'session=ada.1', accept: 'text/html' },
    })
    expect(straight.status).toBe(303)
    const arrived = await fetch(straight.headers.get('location') ?? '', { headers: { cookie } })
    expect(await arrived.json()).toMatchObject({ id: 'ada' })
  })

  it('reports a failed sign-in when the person denies the request', async () => {
    const { authorizationUrl, cookie } = await startSignIn(shop)
    const callback = await decideInBrowser(authorizationUrl, { decision: 'deny' })
    expect((await fetch(callback, { headers: { cookie } })).status).toBe(401)
  })

  it('rejects a callback from a browser that did not begin the flow', async () => {
    const { authorizationUrl } = await startSignIn(shop)
    const callback = await decideInBrowser(authorizationUrl)
    const { cookie } = await startSignIn(shop)
    expect((await fetch(callback, { headers: { cookie } })).status).toBe(403)
  })

  it('reports the error when a code is used twice', async () => {
    const mine = await startSignIn(shop)
    const used = await decideInBrowser(mine.authorizationUrl)
    await fetch(used, { headers: { cookie: mine.cookie } })
    const { authorizationUrl, cookie } = await startSignIn(shop)
    const callback = await decideInBrowser(authorizationUrl)
    callback.searchParams.set('code', used.searchParams.get('code') ?? '')
    const arrived = await fetch(callback, { headers: { cookie } })
    expect(arrived.status).toBe(500)
    expect(await arrived.json()).toMatchObject({ code: 'invalid_grant' })
  })
})
