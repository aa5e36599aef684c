import { createServer } from 'node:http'
import { nodeCredentials } from '../../packages/oauth/dist/adapters/node.js'
import { paths } from '../fixtures.mjs'
import { sendJson } from '../http.mjs'
import { resource } from './floor.mjs'

/**
 * The route of each framework with `auth('api')` in front of it, and beside it, to compare with, the
 * same route bare and behind a middleware that does nothing.
 */
export const createGuardedServer = (oauth, framework) => servers[framework](oauth)

const servers = {
  plain({ guard }) {
    return createServer(async (request, response) => {
      if (request.url === paths.bare) return sendJson(response, 200, resource)
      try {
        const user = await guard.authenticate('api', nodeCredentials(request))
        sendJson(response, 200, { ok: true, sub: user.id })
      } catch (error) {
        const { status, body } = guard.refusal(error)
        sendJson(response, status, body)
      }
    })
  },

  async fastify(oauth) {
    const { default: Fastify } = await import('fastify')
    const { forFastify } = await import('../../packages/oauth/dist/adapters/fastify.js')
    const { auth } = forFastify(oauth)
    const app = Fastify()
    app.get(paths.bare, async () => resource)
    app.get(
      paths.passing,
      { onRequest: [(_request, _reply, done) => done()] },
      async () => resource,
    )
    app.get(paths.resource, { onRequest: [auth('api')] }, async (request) => ({
      ok: true,
      sub: request.user.id,
    }))
    await app.ready()
    return app.server
  },

  async hono(oauth) {
    const { Hono } = await import('hono')
    const { createAdaptorServer } = await import('@hono/node-server')
    const { forHono } = await import('../../packages/oauth/dist/adapters/hono.js')
    const { auth } = forHono(oauth)
    const app = new Hono()
    const handler = (context) => context.json(resource)
    app.get(paths.bare, handler)
    app.get(paths.passing, (_context, next) => next(), handler)
    app.get(paths.resource, auth('api'), (context) =>
      context.json({ ok: true, sub: context.get('user').id }),
    )
    return createAdaptorServer({ fetch: app.fetch })
  },

  async express(oauth) {
    const { default: express } = await import('express')
    const { forExpress } = await import('../../packages/oauth/dist/adapters/express.js')
    const { auth } = forExpress(oauth)
    const app = express()
    const handler = (_request, response) => response.json(resource)
    app.get(paths.bare, handler)
    app.get(paths.passing, (_request, _response, next) => next(), handler)
    app.get(paths.resource, auth('api'), (request, response) =>
      response.json({ ok: true, sub: request.user.id }),
    )
    return createServer(app)
  },
}
