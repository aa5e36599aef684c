import type { ServerContext } from '../context.ts'
import type { HttpRequest, Reply } from '../http/exchange.ts'

/** GET /oauth/pages.css: one stylesheet for the default pages, which allow no inline style. */
export async function stylesheet(_request: HttpRequest, context: ServerContext): Promise<Reply> {
  return {
    status: 200,
    body: context.options.pages.stylesheet,
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  }
}
