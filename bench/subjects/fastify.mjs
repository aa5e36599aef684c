import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { paths } from '../fixtures.mjs'
import { resource, tokens } from './floor.mjs'

/** Fastify with nothing but the route. */
export const name = 'fastify'

export async function start() {
  const app = Fastify()
  await app.register(formbody)
  app.get(paths.resource, async () => resource)
  app.post(paths.token, async (request) => (request.body.grant_type ? tokens : {}))
  await app.ready()
  return { server: app.server, seed: { constant: true, tokens: [tokens.access_token] } }
}
