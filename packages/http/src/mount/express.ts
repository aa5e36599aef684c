import type { Request, RequestHandler } from 'express'
import { fromNodeRequest } from '../node.ts'
import {
  createSignedInReader,
  createSignOutFunction,
  type HttpRoutes,
  type MountOptions,
} from '../routes.ts'
import { createAddressReader } from './address.ts'
import { sendWhenReady } from './node.ts'

/**
 * Mounts the routes as one Express handler. Requests for other paths go to the next handler.
 * @example
 * ```ts
 * app.use(mountExpress(routes, { signedIn: (request) => request.session?.userId }))
 * ```
 */
export function mountExpress(
  routes: Pick<HttpRoutes, 'handle'>,
  options: MountOptions<Request> = {},
): RequestHandler {
  return (request, response, next) => {
    const pending = routes.handle(
      fromNodeRequest(
        request,
        createSignedInReader(options, request),
        createSignOutFunction(options, request),
        createAddressReader(options, request, () => request.ip),
      ),
    )
    if (pending) void sendWhenReady(pending, response)
    else next()
  }
}
