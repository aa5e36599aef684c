import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../context.ts'

/**
 * Handles GET /oauth/pages.css: the stylesheet of the default pages. It is a separate file because
 * their Content-Security-Policy forbids inline styles.
 */
export async function handleStylesheet(
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
