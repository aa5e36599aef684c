import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { fromNodeRequest } from '../node.ts'
import type { HttpResponse } from '../response.ts'
import {
  createSignedInReader,
  createSignOutFunction,
  type HttpRoutes,
  type MountOptions,
} from '../routes.ts'
import { createAddressReader } from './address.ts'

/**
 * Mounts the routes as a Fastify plugin.
 * @example
 * ```ts
 * await app.register(mountFastify(routes))
 * ```
 */
export function mountFastify(
  routes: HttpRoutes,
  options: MountOptions<FastifyRequest> = {},
): FastifyPluginCallback {
  return (instance, _options, done) => {
    // The routes parse the body by their own rules, so it must arrive unread whatever its type.
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    for (const path of routes.paths) {
      instance.route({
        // All methods, so that the routes can answer 405 to those that they do not support. A CORS
        // plugin runs first.
        method: instance.supportedMethods,
        url: path.replace(/\{(\w+)\}/, ':$1'),
        exposeHeadRoute: false,
        handler(request, reply) {
          const plain = fromNodeRequest(
            request.raw,
            createSignedInReader(options, request),
            createSignOutFunction(options, request),
            createAddressReader(options, request, () => request.ip),
          )
          const pending = routes.handle(plain)
          // Fastify accepts more spellings of the same path than the routes do.
          if (!pending) return reply.callNotFound()
          return pending.then((response) => sendFastify(response, reply))
        },
      })
    }
    done()
  }
}

/** Sends an HttpResponse through Fastify. */
export function sendFastify(
  { status, headers, body }: HttpResponse,
  reply: FastifyReply,
): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}
