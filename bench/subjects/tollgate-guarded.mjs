import { createServer } from 'node:http'
import { readNodeCredentials } from '../../packages/oauth/dist/adapters/node.js'
import { paths, users } from '../fixtures.mjs'
import { sendJson } from '../http.mjs'

/**
 * Creates a server with the route of each framework behind `auth('api')`, and for comparison the
 * same route bare and behind a middleware that does nothing. Express tries its routes one after the
 * other, so `guardedFirst` reverses their order.
 */
export const createGuardedServer = (oauth, { framework = 'plain', guardedFirst = false }) =>
  servers[framework](oauth, (routes) => {
    const inOrder = guardedFirst ? routes.toReversed() : routes
    for (const register of inOrder) register()
  })

/** Every route builds its response. The bare ones already know the user. */
const answer = (sub) => ({ ok: true, sub })
const somebody = () => answer(users[0])

const servers = {
  plain({ guard }) {
    return createServer(async (request, response) => {
      if (request.url === paths.bare) return sendJson(response, 200, somebody())
      try {
        const user = await guard.authenticate('api', readNodeCredentials(request))
        sendJson(response, 200, answer(user.id))
      } catch (error) {
        const { status, body } = guard.refusal(error)
        sendJson(response, status, body)
      }
    })
  },

  async fastify(oauth, inOrder) {
    const { default: Fastify } = await import('fastify')
    const { forFastify } = await import('../../packages/oauth/dist/adapters/fastify.js')
    const { auth } = forFastify(oauth)
    const app = Fastify()
    const nothing = (_request, _reply, done) => done()
    inOrder([
      () => app.get(paths.bare, async () => somebody()),
      () => app.get(paths.passing, { onRequest: [nothing] }, async () => somebody()),
      () =>
        app.get(paths.resource, { onRequest: [auth('api')] }, async ({ user }) => answer(user.id)),
    ])
    await app.ready()
    return app.server
  },

  async hono(oauth, inOrder) {
    const { Hono } = await import('hono')
    const { createAdaptorServer } = await import('@hono/node-server')
    const { forHono } = await import('../../packages/oauth/dist/adapters/hono.js')
    const { routes, auth } = forHono(oauth)
    const app = new Hono()
    // If mounted for every path, it would be a middleware of the bare route, too.
    app.use('/oauth/*', routes)
    app.use('/.well-known/*', routes)
    const handler = (context) => context.json(somebody())
    const nothing = (_context, next) => next()
    inOrder([
      () => app.get(paths.bare, handler),
      () => app.get(paths.passing, nothing, handler),
      () =>
        app.get(paths.resource, auth('api'), (context) =>
          context.json(answer(context.get('user').id)),
        ),
      () =>
        app.get(
          paths.joined,
          auth('api', (context) => context.json(answer(context.get('user').id))),
        ),
    ])
    return createAdaptorServer({ fetch: app.fetch })
  },

  async express(oauth, inOrder) {
    const { default: express } = await import('express')
    const { forExpress } = await import('../../packages/oauth/dist/adapters/express.js')
    const { auth } = forExpress(oauth)
    const app = express()
    const handler = (_request, response) => response.json(somebody())
    const nothing = (_request, _response, next) => next()
    inOrder([
      () => app.get(paths.bare, handler),
      () => app.get(paths.passing, nothing, handler),
      () =>
        app.get(paths.resource, auth('api'), ({ user }, response) =>
          response.json(answer(user.id)),
        ),
    ])
    return createServer(app)
  },
}
