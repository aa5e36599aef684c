import type { Context, MiddlewareHandler } from 'hono'
import { createBodyReadError, type HttpRequest } from '../request.ts'
import {
  createSignedInReader,
  createSignOutFunction,
  type HttpRoutes,
  type MountOptions,
} from '../routes.ts'
import { toWebResponse, WebRequest } from '../web.ts'

/**
 * Mounts the routes as a Hono middleware. Requests for other paths go to the next handler.
 * @example
 * ```ts
 * app.use(mountHono(routes))
 * ```
 */
export function mountHono(
  routes: Pick<HttpRoutes, 'handle'>,
  options: MountOptions<Context> = {},
): MiddlewareHandler {
  return (c, next) => {
    const pending = routes.handle(fromHonoContext(c, options))
    return pending ? pending.then(toWebResponse) : next()
  }
}

/** Converts Hono's request to an HttpRequest. */
export function fromHonoContext(c: Context, options: MountOptions<Context> = {}): HttpRequest {
  return new HonoRequest(c, options)
}

/** A request whose body an earlier middleware may have read and cached in Hono. */
class HonoRequest extends WebRequest {
  readonly #context: Context

  constructor(c: Context, options: MountOptions<Context>) {
    super(
      c.req.raw,
      createSignedInReader(options, c),
      createSignOutFunction(options, c),
      options.address && (() => options.address?.(c)),
    )
    this.#context = c
  }

  override text(limit: number): Promise<string> {
    const { req } = this.#context
    return req.raw.bodyUsed ? req.text() : super.text(limit)
  }

  override rawText(limit: number): Promise<string> {
    const { req } = this.#context
    if (!req.raw.bodyUsed) return super.rawText(limit)
    const { text, arrayBuffer, blob } = req.bodyCache
    // Any other kind of body was parsed, and Hono would serialize it differently from how it was
    // sent.
    return text || arrayBuffer || blob ? req.text() : Promise.reject(createBodyReadError())
  }
}
