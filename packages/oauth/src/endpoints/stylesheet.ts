import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'

/** GET /oauth/pages.css: one stylesheet for the default pages, which allow no inline style. */
export async function stylesheet(
  _request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
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
