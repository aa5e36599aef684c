import { createServer } from 'node:http'
import { nodeCredentials } from '../../packages/oauth/dist/adapters/node.js'
import { paths } from '../fixtures.mjs'
import { sendJson } from '../http.mjs'

/**
 * The bare route of each framework again, with `auth('api')` in front of it. Only that framework is
 * loaded, as where the route is bare.
 */
export const createGuardedServer = (oauth, framework) => servers[framework](oauth)

const servers = {
  plain({ guard }) {
    return createServer(async (request, response) => {
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
    app.get(paths.resource, auth('api'), (request, response) =>
      response.json({ ok: true, sub: request.user.id }),
    )
    return createServer(app)
  },
}
