// Signs in with openid-client, oauth4webapi, Auth.js and passport-openidconnect.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Auth } from '@auth/core'
import express from 'express'
import session from 'express-session'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { Passport } from 'passport'
import { Strategy } from 'passport-openidconnect'

const { issuer, client, clients } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const EMAIL = 'ada@example.com'

/**
 * Acts as the browser of a signed-in user who has approved before: it is redirected back at once.
 */
async function visit(address) {
  const reply = await fetch(address, { headers: { accept: 'text/html' }, redirect: 'manual' })
  return new URL(reply.headers.get('location') ?? `error:${reply.status}`)
}

/** A browser with cookies that talks to an application. */
function createBrowser(send) {
  const cookies = new Map()
  return async (url, init = {}) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const request = new Request(url, { redirect: 'manual', ...init, headers: { cookie } })
    const reply = await send(request)
    for (const line of reply.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      cookies.set(name, value)
    }
    return reply
  }
}

async function byOpenidClient(isAnothers) {
  const config = await openid.discovery(
    new URL(issuer),
    client.client_id,
    undefined,
    openid.ClientSecretBasic(client.client_secret),
    { execute: [openid.allowInsecureRequests] },
  )
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()]
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: client.redirect_uri,
    scope: 'openid email',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: isAnothers ? openid.randomState() : expectedState,
    nonce: expectedNonce,
  })
  const checks = { pkceCodeVerifier, expectedState, expectedNonce }
  const tokens = await openid.authorizationCodeGrant(config, await visit(address), checks)
  const { sub } = tokens.claims()
  assert.equal((await openid.fetchUserInfo(config, tokens.access_token, sub)).email, EMAIL)
  const later = await openid.refreshTokenGrant(config, tokens.refresh_token)
  assert.equal((await openid.tokenIntrospection(config, later.access_token)).active, true)
  await openid.tokenRevocation(config, later.refresh_token)
  assert.equal((await openid.tokenIntrospection(config, later.access_token)).active, false)
}

async function byOauth4webapi(isAnothers) {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const url = new URL(issuer)
  const as = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure))
  const me = { client_id: client.client_id }
  const proof = oauth.ClientSecretPost(client.client_secret)
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  const address = new URL(as.authorization_endpoint)
  address.search = new URLSearchParams({
    ...me,
    redirect_uri: client.redirect_uri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: isAnothers ? oauth.generateRandomState() : state,
    nonce,
  })
  const callback = oauth.validateAuthResponse(as, me, await visit(address), state)
  const reply = await oauth.authorizationCodeGrantRequest(
    ...[as, me, proof, callback, client.redirect_uri, verifier, insecure],
  )
  const tokens = await oauth.processAuthorizationCodeResponse(as, me, reply, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)
  const info = await oauth.userInfoRequest(as, me, tokens.access_token, insecure)
  assert.equal((await oauth.processUserInfoResponse(as, me, sub, info)).email, EMAIL)
  const again = await oauth.refreshTokenGrantRequest(as, me, proof, tokens.refresh_token, insecure)
  await oauth.processRefreshTokenResponse(as, me, again)
}

async function byAuthJs(isAnothers) {
  const { client_id: clientId, client_secret: clientSecret, redirect_uri } = clients.authJs
  const site = new URL(redirect_uri).origin
  const config = {
    basePath: '/auth',
    secret: 'a secret of the shop, for its own cookies',
    trustHost: true,
    logger: { error: () => {} },
    providers: [{ id: 'tollgate', name: 'Tollgate', type: 'oidc', issuer, clientId, clientSecret }],
  }
  const open = () => createBrowser((request) => Auth(request, config))
  const begin = async (browse) => {
    const { csrfToken } = await (await browse(`${site}/auth/csrf`)).json()
    const body = new URLSearchParams({ csrfToken, callbackUrl: `${site}/basket` })
    const reply = await browse(`${site}/auth/signin/tollgate`, { method: 'POST', body })
    return visit(reply.headers.get('location'))
  }
  const browse = open()
  const mine = await begin(browse)
  await browse(isAnothers ? await begin(open()) : mine)
  const { user } = (await (await browse(`${site}/auth/session`)).json()) ?? {}
  assert.equal(user?.email, EMAIL)
}

async function byPassport(isAnothers) {
  const app = express()
  const http = createServer(app).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${http.address().port}`
  const passport = new Passport()
  passport.use(
    new Strategy(
      {
        issuer,
        authorizationURL: `${issuer}/oauth/authorize`,
        tokenURL: `${issuer}/oauth/token`,
        userInfoURL: `${issuer}/oauth/userinfo`,
        clientID: clients.passport.client_id,
        clientSecret: clients.passport.client_secret,
        callbackURL: `${url}/callback`,
        scope: ['profile', 'email'],
      },
      (_issuer, profile, done) => done(null, profile),
    ),
  )
  app.use(session({ secret: 'of the shop', resave: false, saveUninitialized: false }))
  app.get('/login', passport.authenticate('openidconnect', { session: false }))
  const finish = passport.authenticate('openidconnect', { session: false })
  app.get('/callback', finish, (request, response) => response.json(request.user))
  app.use((error, _request, response, _next) => response.status(500).send(error.message))
  try {
    const begin = async (browse) => visit((await browse(`${url}/login`)).headers.get('location'))
    const browse = createBrowser(fetch)
    const mine = await begin(browse)
    const reply = await browse(isAnothers ? await begin(createBrowser(fetch)) : mine)
    assert.equal(reply.status, 200, await reply.clone().text())
    assert.equal((await reply.json()).emails[0].value, EMAIL)
  } finally {
    http.closeAllConnections()
    http.close()
  }
}

for (const [library, signIn] of Object.entries({
  'openid-client': byOpenidClient,
  oauth4webapi: byOauth4webapi,
  'Auth.js': byAuthJs,
  'passport-openidconnect': byPassport,
})) {
  for (const name of ['signIn', 'anothers']) {
    const detail = await signIn(name === 'anothers').then(
      () => null,
      (error) => `${error.message}`.replaceAll(/\s+/g, ' '),
    )
    console.log(
      [library, '-', name, detail === null ? 'accepted' : 'refused', detail ?? ''].join('\t'),
    )
  }
}
