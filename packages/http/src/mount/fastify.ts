import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { fromNodeRequest } from '../node.ts'
import type { HttpResponse } from '../response.ts'
import { type HttpRoutes, type MountOptions, signedInReader, signOutCaller } from '../routes.ts'
import { addressReader } from './address.ts'

/**
 * The routes as a plugin.
 * @example
 * app.register(mountFastify(routes))
 */
export function mountFastify(
  routes: HttpRoutes,
  options: MountOptions<FastifyRequest> = {},
): FastifyPluginCallback {
  return (instance, _options, done) => {
    // The routes read the body by their own rules, so it must arrive unread whatever its type.
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    for (const path of routes.paths) {
      instance.route({
        // Also those that no route takes, for their 405. A CORS plugin is asked before.
        method: instance.supportedMethods,
        url: path.replace(/\{(\w+)\}/, ':$1'),
        exposeHeadRoute: false,
        handler(request, reply) {
          const plain = fromNodeRequest(
            request.raw,
            signedInReader(options, request),
            signOutCaller(options, request),
            addressReader(options, request, () => request.ip),
          )
          const pending = routes.handle(plain)
          // Fastify takes more spellings for the same path than the routes do.
          if (!pending) return reply.callNotFound()
          return pending.then((response) => sendFastify(response, reply))
        },
      })
    }
    done()
  }
}

/** Sends our response through Fastify. */
export function sendFastify(
  { status, headers, body }: HttpResponse,
  reply: FastifyReply,
): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}
