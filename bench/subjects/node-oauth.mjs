import { createServer } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { paths, scope, users } from '../fixtures.mjs'
import {
  readForm,
  readSession,
  sendJson,
  sendRedirect,
  sessionCookies,
  splitUrl,
} from '../http.mjs'
import { openTokenStore } from '../storage/token-store.mjs'

/**
 * `@node-oauth/oauth2-server` on bare `node:http`, with the model of its documentation. It issues
 * opaque tokens. JWTs would be created by the application's code, so only its opaque tokens are
 * compared.
 */
export const name = '@node-oauth/oauth2-server'

const { Request, Response } = OAuth2Server

export async function start(row, { databaseUrl }) {
  const store = await openTokenStore(row.store, databaseUrl)
  const server = new OAuth2Server({ model: createModel(store) })
  const authenticateHandler = {
    async handle(request) {
      const user = readSession(request)
      return (await store.hasConsent(user, request.query.client_id)) ? { id: user } : null
    },
  }
  return {
    seed: { cookies: sessionCookies(users), anyFormat: true },
    server: createServer(async (incoming, outgoing) => {
      const [path, query] = splitUrl(incoming.url)
      const body = incoming.method === 'POST' ? await readForm(incoming) : {}
      const { headers, method } = incoming
      const request = new Request({ headers, method, query, body })
      const response = new Response()
      try {
        if (path === paths.authorize)
          await server.authorize(request, response, { authenticateHandler })
        else await server.token(request, response)
        if (response.status === 302) sendRedirect(outgoing, response.headers.location)
        else sendJson(outgoing, response.status, response.body)
      } catch (error) {
        sendJson(outgoing, error.code ?? 500, { error: error.message })
      }
    }),
  }
}

function createModel(store) {
  return {
    async getClient(id, secret) {
      const client = await store.findClient(id)
      if (!client || (secret !== null && client.secret !== secret)) return null
      return toClient(client)
    },
    getUserFromClient: async (client) => ({ id: client.id }),
    validateScope: async (_user, _client, scopes) =>
      scopes.every((name) => name === scope) ? scopes : false,
    async saveToken(token, client, user) {
      await store.insertToken({
        accessToken: token.accessToken,
        accessExpiresAt: token.accessTokenExpiresAt.getTime(),
        refreshToken: token.refreshToken,
        refreshExpiresAt: token.refreshTokenExpiresAt?.getTime(),
        clientId: client.id,
        userId: user.id,
        scope: token.scope.join(' '),
      })
      return { ...token, client, user }
    },
    async getAccessToken(value) {
      return toToken(await store.findByAccess(value))
    },
    async getRefreshToken(value) {
      return toToken(await store.findByRefresh(value))
    },
    revokeToken: (token) => store.takeByRefresh(token.refreshToken),
    async saveAuthorizationCode(code, client, user) {
      await store.insertCode({
        code: code.authorizationCode,
        clientId: client.id,
        userId: user.id,
        scope: code.scope.join(' '),
        redirectUri: code.redirectUri,
        challenge: code.codeChallenge,
        expiresAt: code.expiresAt.getTime(),
      })
      return { ...code, client, user }
    },
    async getAuthorizationCode(value) {
      const code = await store.findCode(value)
      return (
        code && {
          authorizationCode: code.code,
          expiresAt: new Date(code.expiresAt),
          redirectUri: code.redirectUri,
          scope: code.scope.split(' '),
          codeChallenge: code.challenge,
          codeChallengeMethod: 'S256',
          client: toClient(code.client),
          user: { id: code.userId },
        }
      )
    },
    revokeAuthorizationCode: (code) => store.takeCode(code.authorizationCode),
  }
}

const toClient = (client) => ({
  id: client.id,
  redirectUris: [client.redirectUri],
  grants: ['client_credentials', 'authorization_code', 'refresh_token'],
})

const toToken = (token) =>
  token && {
    accessToken: token.accessToken,
    accessTokenExpiresAt: new Date(token.accessExpiresAt),
    refreshToken: token.refreshToken,
    refreshTokenExpiresAt: new Date(token.refreshExpiresAt),
    scope: token.scope.split(' '),
    client: toClient(token.client),
    user: { id: token.userId },
  }
