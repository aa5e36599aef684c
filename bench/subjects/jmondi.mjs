import { createServer } from 'node:http'
import { AuthorizationServer, DateInterval, generateRandomToken } from '@jmondi/oauth2-server'
import jsonwebtoken from 'jsonwebtoken'
import { issuer, paths, users } from '../fixtures.mjs'
import {
  readForm,
  readSession,
  sendJson,
  sendRedirect,
  sessionCookies,
  splitUrl,
} from '../http.mjs'
import { createKey } from '../keys.mjs'
import { openTokenStore } from '../storage/token-store.mjs'

/**
 * `@jmondi/oauth2-server` on bare `node:http`, with repositories as in its documentation. Codes and
 * refresh tokens are opaque (an option of the library), so that it signs once per request.
 */
export const name = '@jmondi/oauth2-server'

export async function start(row, { databaseUrl }) {
  const store = await openTokenStore(row.store, databaseUrl)
  const repositories = createRepositories(store)
  const server = new AuthorizationServer(
    repositories.clients,
    repositories.tokens,
    repositories.scopes,
    createJwtService(createKey('ES256')),
    { issuer, useOpaqueAuthorizationCodes: true, useOpaqueRefreshTokens: true },
  )
  server.enableGrantType({
    grant: 'authorization_code',
    authCodeRepository: repositories.codes,
    userRepository: { getUserByCredentials: async (id) => ({ id }) },
  })

  const handlers = {
    [paths.token]: (request) => server.respondToAccessTokenRequest(request),
    [paths.introspect]: (request) => server.introspect(request),
    async [paths.authorize](request, user) {
      const authorization = await server.validateAuthorizationRequest(request)
      authorization.user = { id: user }
      authorization.isAuthorizationApproved = await store.hasConsent(user, authorization.client.id)
      return server.completeAuthorizationRequest(authorization)
    },
  }
  return {
    seed: { cookies: sessionCookies(users), anyFormat: row.workload === 'introspect' },
    server: createServer(async (request, response) => {
      const [path, query] = splitUrl(request.url)
      const body = request.method === 'POST' ? await readForm(request) : {}
      try {
        const user = readSession(request)
        const answer = await handlers[path]({ headers: request.headers, query, body }, user)
        if (answer.status === 302) sendRedirect(response, answer.headers.location)
        else sendJson(response, answer.status, answer.body)
      } catch (error) {
        sendJson(response, error.status ?? 500, { error: error.message })
      }
    }),
  }
}

/** The library's own service signs with HMAC. Its interface allows other algorithms. */
function createJwtService({ privateKey, publicKey, alg }) {
  return {
    sign: async (payload) => jsonwebtoken.sign(payload, privateKey, { algorithm: alg }),
    verify: async (token, options) =>
      jsonwebtoken.verify(token, publicKey, { ...options, algorithms: [alg] }),
    decode: (token) => jsonwebtoken.decode(token),
  }
}

function createRepositories(store) {
  const refreshTtl = new DateInterval('30d')
  return {
    clients: {
      getByIdentifier: async (id) => toClient(await store.findClient(id)),
      isClientValid: async (grant, client, secret) =>
        client.secret === secret && client.allowedGrants.includes(grant),
    },
    scopes: {
      getAllByIdentifiers: (names) => store.findScopes(names),
      finalize: async (scopes) => scopes,
    },
    tokens: {
      issueToken: async (client, scopes, user) => ({
        accessToken: generateRandomToken(),
        accessTokenExpiresAt: new Date(),
        client,
        user,
        scopes,
      }),
      persist: (token) =>
        store.insertToken({
          accessToken: token.accessToken,
          accessExpiresAt: token.accessTokenExpiresAt.getTime(),
          clientId: token.client.id,
          userId: token.user?.id,
          scope: joinScopes(token.scopes),
          code: token.originatingAuthCodeId,
        }),
      async issueRefreshToken(token) {
        token.refreshToken = generateRandomToken()
        token.refreshTokenExpiresAt = refreshTtl.getEndDate()
        const expiresAt = token.refreshTokenExpiresAt.getTime()
        await store.addRefreshToken(token.accessToken, token.refreshToken, expiresAt)
        return token
      },
      revoke: (token) => store.expireToken(token.accessToken),
      isRefreshTokenRevoked: async (token) => Date.now() > token.refreshTokenExpiresAt.getTime(),
      getByRefreshToken: async (token) => toToken(await store.findByRefresh(token)),
      getByAccessToken: async (token) => toToken(await store.findByAccess(token)),
    },
    codes: {
      getByIdentifier: async (code) => toCode(await store.findCode(code)),
      issueAuthCode: (client, user, scopes) => ({
        code: generateRandomToken(),
        client,
        user,
        scopes,
        expiresAt: new Date(),
      }),
      persist: (code) =>
        store.insertCode({
          code: code.code,
          clientId: code.client.id,
          userId: code.user.id,
          scope: joinScopes(code.scopes),
          redirectUri: code.redirectUri,
          challenge: code.codeChallenge,
          expiresAt: code.expiresAt.getTime(),
        }),
      isRevoked: async (code) => Date.now() > (await store.findCode(code)).expiresAt,
      revoke: (code) => store.expireCode(code),
    },
  }
}

const splitScopes = (scope) => scope.split(' ').map((name) => ({ name }))
const joinScopes = (scopes) => scopes.map((scope) => scope.name).join(' ')

function toClient(client) {
  return {
    id: client.id,
    name: client.id,
    secret: client.secret,
    redirectUris: [client.redirectUri],
    allowedGrants: ['client_credentials', 'authorization_code', 'refresh_token'],
    scopes: splitScopes(client.scope),
  }
}

const toToken = (token) => ({
  accessToken: token.accessToken,
  accessTokenExpiresAt: new Date(token.accessExpiresAt),
  refreshToken: token.refreshToken,
  refreshTokenExpiresAt: token.refreshExpiresAt ? new Date(token.refreshExpiresAt) : new Date(0),
  client: toClient(token.client),
  user: token.userId ? { id: token.userId } : null,
  scopes: splitScopes(token.scope),
  originatingAuthCodeId: token.code,
})

const toCode = (code) => ({
  code: code.code,
  redirectUri: code.redirectUri,
  codeChallenge: code.challenge,
  codeChallengeMethod: 'S256',
  expiresAt: new Date(code.expiresAt),
  user: { id: code.userId },
  client: toClient(code.client),
  scopes: splitScopes(code.scope),
})
