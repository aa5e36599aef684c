import { createServer } from 'node:http'
import { paths, redirectUri } from '../fixtures.mjs'
import { readBody, sendJson, sendRedirect } from '../http.mjs'

/**
 * The bare HTTP floor: `node:http` that reads the same request and sends a response of the same
 * size.
 */
export const name = 'floor'

export const supports = () => true

/** Responses of realistic sizes, which the bare frameworks send, too. */
export const tokens = {
  access_token: `${'e'.repeat(75)}.${'e'.repeat(290)}.${'e'.repeat(86)}`,
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'r'.repeat(43),
  scope: 'read',
}
export const resource = { ok: true, sub: 'user-0' }
const active = { active: true, client_id: 'bench-client', scope: 'read', exp: 2000000000 }

export function start() {
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      await readBody(request)
      sendJson(response, 200, request.url === paths.introspect ? active : tokens)
    } else if (request.url.startsWith(paths.authorize)) {
      sendRedirect(response, `${redirectUri}?code=${'c'.repeat(43)}&state=state`)
    } else sendJson(response, 200, resource)
  })
  return { server, seed: { constant: true, tokens: [tokens.access_token] } }
}
