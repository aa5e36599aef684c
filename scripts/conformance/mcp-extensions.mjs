// Servers for the MCP extensions that get a token without a person at the authorization server: an
// identity provider (a second server of the library), a platform that runs jobs, and the clients of
// both.
import { createServer } from 'node:http'
import { authorizationCode, jwtBearer, openid, refreshToken, tokenExchange } from '@tollgate/oauth'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startLibrary } from './library.mjs'
import { approveAt } from './person.mjs'

const PROVIDER = 'http://localhost:9081'
const PLATFORM = 'https://idp.conformance-test.local'
const JOB = 'conformance-workload'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** Starts the identity provider for an authorization server that is not yet running. */
export async function startExtensions({ issuer, resource, scopes, callback }) {
  const keys = await generateKeyPair('ES256', { extractable: true })
  /** Filled once the clients have their ids. */
  const [clients, clientOf] = [{}, {}]
  const audience = { clients, scopes, resources: [resource] }
  const provider = await startLibrary({
    issuer: PROVIDER,
    offered: {
      grants: [authorizationCode(), refreshToken(), tokenExchange()],
      features: [openid({ identityAssertions: { [issuer]: audience } })],
    },
  })
  const ofPlatform = { keys: [await exportJWK(keys.publicKey)] }
  const issuers = [
    {
      issuer: PROVIDER,
      jwks: await keysOf(PROVIDER),
      profile: 'id-jag',
      scopes,
      userOf: { ada: 'ada' },
    },
    { issuer: PLATFORM, jwks: ofPlatform, scopes, clientOf },
  ]
  return {
    grant: jwtBearer({ issuers }),
    /** Returns what each scenario passes to the client, by scenario. */
    async contexts(oauth) {
      const atServer = await oauth.clients.create({ name: 'Assertions', grants: [JWT_BEARER] })
      const job = await oauth.clients.create({
        name: 'Workload',
        grants: [JWT_BEARER],
        confidential: false,
      })
      const atProvider = await provider.oauth.clients.create({
        name: 'Single sign-on',
        redirect: callback,
        grants: ['authorization_code', TOKEN_EXCHANGE],
      })
      clients[atProvider.client.id] = atServer.client.id
      clientOf[JOB] = job.client.id
      return {
        'auth/enterprise-managed-authorization': {
          client_id: atServer.client.id,
          client_secret: atServer.secret,
          idp_client_id: atProvider.client.id,
          idp_client_secret: atProvider.secret,
          idp_id_token: await signIn(atProvider, callback, provider),
          idp_issuer: PROVIDER,
          idp_token_endpoint: `${PROVIDER}/oauth/token`,
        },
        'auth/wif-jwt-bearer': {
          client_id: job.client.id,
          valid_jwt: await new SignJWT({ iss: PLATFORM, sub: JOB, aud: issuer, jti: 'a job' })
            .setProtectedHeader({ alg: 'ES256' })
            .setIssuedAt()
            .setExpirationTime('5m')
            .sign(keys.privateKey),
        },
      }
    },
    close: () => provider.close(),
  }
}

async function keysOf(issuer) {
  return (await fetch(`${issuer}/.well-known/jwks.json`)).json()
}

/** Signs the user in and approves. Returns the ID token. */
async function signIn({ client, secret }, callback, provider) {
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: callback,
    response_type: 'code',
    scope: 'openid',
  })
  const code = await codeAt(callback, () =>
    approveAt(`${PROVIDER}/oauth/authorize?${query}`, provider),
  )
  const reply = await fetch(`${PROVIDER}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: callback,
      client_id: client.id,
      client_secret: secret,
    }),
  })
  const { id_token } = await reply.json()
  if (id_token === undefined) throw new Error(`No ID token: ${reply.status}`)
  return id_token
}

/** Returns the code that a browser brings to the callback during `visit`. */
async function codeAt(callback, visit) {
  let code
  const server = createServer((request, response) => {
    code = new URL(request.url, callback).searchParams.get('code')
    response.end('done')
  })
  const { hostname, port } = new URL(callback)
  await new Promise((resolve) => server.listen(Number(port), hostname, resolve))
  try {
    await visit()
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return code
}
