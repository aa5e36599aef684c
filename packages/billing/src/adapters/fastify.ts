import type { FastifyPluginCallback } from 'fastify'
import type { Billing } from '../billing.ts'
import { fromNodeRequest } from '../http/node.ts'

/** What Fastify gets. */
export interface FastifyBilling {
  /** Both webhooks and the invoice download. `app.register(routes)` */
  readonly routes: FastifyPluginCallback
}

/**
 * @example
 * app.register(forFastify(billing).routes)
 */
/** Billing's routes for Fastify 5. */
export function forFastify(billing: Pick<Billing, 'handle' | 'paths'>): FastifyBilling {
  return {
    routes(instance, _options, done) {
      // A signature is over the raw bytes, so that the body must arrive unread whatever its type.
      instance.removeAllContentTypeParsers()
      instance.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
      for (const path of billing.paths) {
        instance.route({
          method: ['GET', 'HEAD', 'POST'],
          url: path.replace('{invoice}', ':invoice'),
          exposeHeadRoute: false,
          async handler(request, reply) {
            const answer = await billing.handle(fromNodeRequest(request.raw))
            const body =
              typeof answer.body === 'object' && answer.body
                ? Buffer.from(answer.body)
                : answer.body
            return reply.code(answer.status).headers(answer.headers).send(body)
          },
        })
      }
      done()
    },
  }
}
