import { createServer } from 'node:http'
import express from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { audience, issuer, paths } from '../fixtures.mjs'
import { createKey, signTokens } from '../keys.mjs'

/** `express-oauth2-jwt-bearer`, configured with the public key instead of fetching it. */
export const name = 'express-oauth2-jwt-bearer'

export function start(row) {
  const key = createKey(row.format)
  const app = express()
  const guard = auth({
    issuer,
    audience,
    publicKey: key.publicJwk,
    tokenSigningAlg: row.format,
  })
  app.get(paths.resource, guard, (request, response) =>
    response.json({ ok: true, sub: request.auth.payload.sub }),
  )
  return { server: createServer(app), seed: { tokens: signTokens(key, 256) } }
}
