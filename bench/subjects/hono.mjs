import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { paths } from '../fixtures.mjs'
import { resource, tokens } from './floor.mjs'

/** Hono on `@hono/node-server` with nothing but the route. */
export const name = 'hono'

export function start() {
  const app = new Hono()
  app.get(paths.resource, (context) => context.json(resource))
  app.post(paths.token, async (context) => {
    const form = await context.req.parseBody()
    return context.json(form.grant_type ? tokens : {})
  })
  const server = createAdaptorServer({ fetch: app.fetch })
  return { server, seed: { constant: true, tokens: [tokens.access_token] } }
}
