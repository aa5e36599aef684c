import fastifyJwt from '@fastify/jwt'
import Fastify from 'fastify'
import { audience, issuer, paths } from '../fixtures.mjs'
import { createKey, signTokens } from '../keys.mjs'

/**
 * `@fastify/jwt`. Its cache of verified tokens is enabled for rows with tokens that were seen
 * before.
 */
export const name = '@fastify/jwt'

export async function start(row) {
  const key = createKey(row.format)
  const pem = (half, type) => half.export({ format: 'pem', type })
  const app = Fastify()
  await app.register(fastifyJwt, {
    secret: { private: pem(key.privateKey, 'pkcs8'), public: pem(key.publicKey, 'spki') },
    sign: { algorithm: row.format },
    verify: {
      algorithms: [row.format],
      allowedIss: issuer,
      allowedAud: audience,
      cache: row.seen ? 1000 : false,
    },
  })
  const onRequest = (request) => request.jwtVerify()
  app.get(paths.resource, { onRequest }, async (request) => ({ ok: true, sub: request.user.sub }))
  await app.ready()
  return { server: app.server, seed: { tokens: signTokens(key, 256) } }
}
