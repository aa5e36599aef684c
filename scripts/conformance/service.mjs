// Runs the service under test as users run it, behind a proxy that speaks https.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createService, loadConfig } from 'tollgate'
import { CIPHERS } from './ciphers.mjs'
import { claimsOf, SCOPES } from './claims.mjs'
import { createClients, vouchForRegistered } from './clients.mjs'

/** How page scripts recognize and use the pages of the service. */
const PAGES = {
  authorize: '/oauth/authorize',
  endSession: '/oauth/logout',
  signIn: '/login',
  signInText: 'Sign in',
  userField: 'input[name=email]',
  passwordField: 'input[name=password]',
  signInButton: 'form[action="/login"] button[type=submit]',
  approveButton: 'button[value=approve]',
  denyButton: 'button[value=deny]',
  api: '/api/user',
  refusedText: 'This request cannot be completed',
  logoText: 'asks for access',
  policyText: 'policy',
  termsText: 'Terms of service',
  signOutButton: 'button[value=sign_out]',
  signOutProblem: 'You will stay on this site',
  signedOutText: 'You are signed out',
}

/** Id of the demo's user, the first in its database. */
const DEMO_USER = '1'

/**
 * Starts the service with its strictest settings. Clients need an initial access token to register.
 */
export async function startService({ issuer, suite, key, cert, ca, profile }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-conformance-'))
  const initialAccessToken = randomBytes(32).toString('hex')
  const config = await loadConfig({
    PORT: '0',
    TOLLGATE_URL: issuer,
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
    TOLLGATE_LOG_LEVEL: 'error',
    TOLLGATE_IDENTITY_SCOPES: 'profile, email, address, phone',
    // The suite warns about a name in an ID token that no scope requested.
    TOLLGATE_CLAIMS_IN_ID_TOKEN: 'off',
    ...(profile === 'fapi2'
      ? { TOLLGATE_FAPI2: 'on' }
      : {
          TOLLGATE_CLIENT_REGISTRATION: 'initial-access-token',
          TOLLGATE_INITIAL_ACCESS_TOKENS: initialAccessToken,
          TOLLGATE_SELF_REGISTERED_SCOPES: SCOPES.join(),
          // The remaining settings are for the dynamic and the implicit profile.
          TOLLGATE_RESPONSE_TYPES: 'id_token, id_token token',
          TOLLGATE_PAIRWISE_SALT: randomBytes(32).toString('base64'),
          TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE: 'on',
          TOLLGATE_UNSIGNED_REQUEST_OBJECTS: 'on',
        }),
  })
  const service = await createService({
    ...config,
    settings: {
      ...config.settings,
      claims: ({ email }) => claimsOf(email),
      // The suite runs on this machine.
      outgoing: { privateAddresses: ['127.0.0.1'], certificates: [ca] },
    },
  })
  const front = createServer({ key, cert, ciphers: CIPHERS }, (incoming, response) => {
    if (incoming.url === '/oauth/register') vouchForRegistered(response, service.oauth)
    forward(incoming, response, service.port)
  })
  await new Promise((resolve) => front.listen(new URL(issuer).port, '127.0.0.1', resolve))
  return {
    createClients: (plan) => createClients(service.oauth, suite, { plan, initialAccessToken }),
    person: { user: service.demo.email, password: service.demo.password },
    pages: PAGES,
    async forgetApprovals() {
      for (const { id } of await service.oauth.clients.list()) {
        await service.oauth.consents.revoke(DEMO_USER, id)
      }
    },
    rotateKeys: () => service.oauth.keys.rotate({ algorithm: 'RS256' }),
    async close() {
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
      await service.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function forward(incoming, response, port) {
  const headers = { ...incoming.headers, 'x-forwarded-for': '127.0.0.1' }
  const { method, url: path } = incoming
  const asked = request({ host: '127.0.0.1', port, method, path, headers }, async (answer) => {
    const body = await buffer(answer)
    response.writeHead(answer.statusCode, answer.headers)
    response.end(body)
  })
  asked.on('error', () => response.destroy())
  incoming.pipe(asked)
}
