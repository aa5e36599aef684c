// A server of the library under test: all of its features, one user, and the smallest sign-in page.
import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect } from '@tollgate/database'
import {
  authorizationCode,
  clientCredentials,
  clientLogos,
  clientMetadataDocuments,
  clientRegistration,
  createAuthorizationServer,
  fapi2,
  implicit,
  jwtClientAuthentication,
  openid,
  pushedRequests,
  refreshToken,
  requestObjects,
} from '@tollgate/oauth'
import { nodeListener, readNodeCredentials } from '@tollgate/oauth/node'
import { CIPHERS } from './ciphers.mjs'
import { claimsOf, SCOPES } from './claims.mjs'
import { createClients, vouchForRegistered } from './clients.mjs'

const PERSON = { user: 'ada@example.com', password: 'a password for the suite' }

/** How page scripts recognize and use the pages of this server. */
const PAGES = {
  authorize: '/oauth/authorize',
  endSession: '/oauth/logout',
  signIn: '/login',
  signInText: 'Sign in',
  userField: 'input[name=user]',
  passwordField: 'input[name=password]',
  signInButton: 'button',
  approveButton: 'button[value=approve]',
  denyButton: 'button[value=deny]',
  api: '/api/user',
  clientApi: '/api/client',
  refusedText: 'This request cannot be completed',
  logoText: 'asks for access',
  policyText: 'policy',
  termsText: 'terms',
  signOutButton: 'button[value=sign_out]',
  signOutProblem: 'You will stay on this site',
  signedOutText: 'You are signed out',
}

/**
 * Starts the server, over https if a certificate is given and over http otherwise. `ca` is the
 * authority of the suite's certificate: the server requests the suite's keys, request objects and
 * documents, and notifies it of logouts.
 */
export async function startLibrary({
  issuer,
  suite,
  key,
  cert,
  ca,
  profile,
  offered = offeredBy(profile),
}) {
  const sessions = new Map()
  const database = await connect('sqlite::memory:')
  const oauth = createAuthorizationServer({
    issuer,
    secret: randomBytes(32).toString('base64'),
    database,
    users: {
      findById: (id) => (id === 'ada' ? { id } : null),
      fromRequest: (request) => sessions.get(sessionIdIn(request.headers.get('cookie'))) ?? null,
      signOut(request) {
        sessions.delete(sessionIdIn(request.headers.get('cookie')))
        return { setCookie: 'session=; Path=/; Max-Age=0' }
      },
      claims: () => claimsOf(PERSON.user),
    },
    ...offered,
    outgoing: {
      // The suite runs on this machine.
      privateAddresses: ['127.0.0.1'],
      certificates: ca ? [ca] : [],
      resolve: (host) => lookup(host, { all: true, family: 4 }),
    },
  })
  const listen = nodeListener(oauth)
  const respond = (request, response) => {
    const { pathname } = new URL(request.url, issuer)
    if (pathname === PAGES.signIn) return void signIn(request, response, sessions)
    if (pathname === PAGES.api) return void answer('api', request, response, oauth.guard)
    if (pathname === PAGES.clientApi) return void answer('client', request, response, oauth.guard)
    if (pathname === '/oauth/register') vouchForRegistered(response, oauth)
    listen(request, response)
  }
  const server = cert
    ? createSecureServer({ key, cert, ciphers: CIPHERS }, respond)
    : createServer(respond)
  await new Promise((resolve) => server.listen(new URL(issuer).port, '127.0.0.1', resolve))
  return {
    oauth,
    createClients: (plan) => createClients(oauth, suite, { plan }),
    person: PERSON,
    pages: PAGES,
    async forgetApprovals() {
      for (const { clientId } of await oauth.consents.listByUser('ada')) {
        await oauth.consents.revoke('ada', clientId)
      }
    },
    rotateKeys: () => oauth.keys.rotate({ algorithm: 'RS256' }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await oauth.close()
      await database.close()
    },
  }
}

const offeredBy = (profile) => (profile === 'fapi2' ? strictly() : everything())

/** Options that the FAPI 2.0 Security Profile allows. */
function strictly() {
  return {
    scopes: { 'place-orders': 'Place orders' },
    grants: [authorizationCode(), refreshToken(), clientCredentials()],
    features: [fapi2(), openid({ idTokenAlgorithms: ['ES256'], acrValues: ['password'] })],
  }
}

/** Options for all other plans. */
function everything() {
  return {
    grants: [authorizationCode(), refreshToken(), implicit()],
    features: [
      openid({
        acrValues: ['password'],
        logout: true,
        // The dynamic profile requires these, but self-registered clients do not get them.
        responseTypes: ['id_token', 'id_token token'],
        pairwiseSalt: randomBytes(32).toString('base64'),
      }),
      clientRegistration({ policy: 'open', perMinute: 1000 }),
      clientMetadataDocuments(),
      clientLogos(),
      jwtClientAuthentication(),
      requestObjects({ unsigned: true, byReference: true }),
      pushedRequests(),
    ],
    selfRegistered: { scopes: SCOPES },
  }
}

/** Responds as an API that returns the caller. */
async function answer(name, request, response, guard) {
  const { status, headers, body } = await Promise.resolve()
    .then(() => guard.authenticate(name, readNodeCredentials(request)))
    .then(
      ({ id, clientId }) => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: String(id ?? clientId) }),
      }),
      (error) => guard.refusal(error),
    )
  response.writeHead(status, headers)
  response.end(body)
}

async function signIn(request, response, sessions) {
  const page = (status, text) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><html lang="en"><title>Sign in</title>${text}`)
  }
  const form =
    '<h1>Sign in</h1><form method="post"><input name="user"><input name="password" type="password"><button>Sign in</button></form>'
  if (request.method !== 'POST') return page(200, form)
  let body = ''
  for await (const part of request) body += part
  const given = new URLSearchParams(body)
  if (given.get('user') !== PERSON.user || given.get('password') !== PERSON.password) {
    return page(401, form)
  }
  const sessionId = randomBytes(16).toString('hex')
  const authenticatedAt = new Date()
  const session = { id: 'ada', sessionId, authenticatedAt, acr: 'password', amr: ['pwd'] }
  sessions.set(sessionId, session)
  const back = new URL(request.url, 'https://localhost').searchParams.get('return_to') ?? '/'
  response.writeHead(303, {
    // Allow only paths of this server: `//elsewhere` would be another host.
    location: /^\/(?![/\\])/.test(back) ? back : '/',
    'set-cookie': `session=${sessionId}; Path=/; HttpOnly; SameSite=Lax`,
  })
  response.end()
}

function sessionIdIn(cookie) {
  return /(?:^|; )session=([0-9a-f]+)/.exec(cookie ?? '')?.[1] ?? ''
}
