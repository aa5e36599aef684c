import { forHono as forBilling } from '@tollgate/billing/hono'
import { isUnavailable } from '@tollgate/database'
import { isHttpError } from '@tollgate/http'
import { isOAuthError, TooManyRequests } from '@tollgate/oauth'
import { forHono as forOAuth } from '@tollgate/oauth/hono'
import { type Context, Hono } from 'hono'
import { addApi } from './api/api.ts'
import { addBillingApi } from './api/billing.ts'
import type { ServiceContext } from './context.ts'
import { limitBody } from './http/body.ts'
import { identifyCaller, recordRequests, secureHeaders, useOneAddress } from './http/middleware.ts'
import { addOperations } from './http/operations.ts'
import { refuseUnreadable, UnreadableRequest } from './http/readable.ts'
import { limitClientRegistration, limitTokenRoutes, tooManyJson } from './http/token-limits.ts'
import type { AppEnv } from './http/variables.ts'
import { addPages } from './pages/pages.ts'
import { findAsset } from './pages/parts/assets.ts'
import { errorPage } from './pages/parts/error.tsx'
import { ForeignForm } from './pages/parts/forms.ts'
import { providePageContext } from './pages/parts/page-context.ts'

/** No form or JSON of ours needs more; webhooks have a limit of their own. */
const LARGEST_BODY = 64 * 1024

/** URL → handler, from what programs ask to what people see; one catch for errors. */
export function createApp(context: ServiceContext): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const oauth = forOAuth(context.oauth, { address: (c) => c.get('address') })
  const billing = forBilling(context.billing)

  app.use(identifyCaller(context), recordRequests(context), secureHeaders(context))
  app.onError((error, c) => respondToError(error, c, context))
  app.notFound((c) => respondNotFound(c, context))

  addOperations(app, context)
  app.get('/assets/*', (c) => {
    const asset = findAsset(c.req.path)
    if (!asset) return c.notFound()
    return c.body(new Uint8Array(asset.body), 200, {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  app.use(useOneAddress(context))
  app.use(context.statistics.countDeliveries(context.billing.handles))
  app.use(billing.routes)
  if (context.config.settings.cors) app.use('/api/*', oauth.cors())
  app.use(limitBody(LARGEST_BODY))
  app.use(limitTokenRoutes(context), limitClientRegistration(context))
  app.use(oauth.routes)
  app.use(refuseUnreadable())
  addApi(app, context)
  addBillingApi(app, context)

  app.use(oauth.freshToken(), providePageContext(context))
  addPages(app, context)
  return app
}

function isPageRequest(c: Context<AppEnv>): boolean {
  return (c.req.header('accept') ?? '').includes('text/html')
}

/** Errors may come from before the page's own context was made. */
function pageContextOf(c: Context<AppEnv>, service: ServiceContext): void {
  if (!c.get('page')) c.set('page', { service, user: null, csrfToken: null, path: c.req.path })
}

function respondNotFound(c: Context<AppEnv>, context: ServiceContext) {
  if (!isPageRequest(c)) return c.json({ error: 'not_found' }, 404)
  pageContextOf(c, context)
  return errorPage(c, {
    status: 404,
    title: 'Not found',
    message: 'There is nothing at this address.',
  })
}

function respondToError(error: Error, c: Context<AppEnv>, context: ServiceContext) {
  pageContextOf(c, context)
  if (error instanceof TooManyRequests) {
    context.metrics.countRefusal(c.req.path === '/register' ? 'register' : 'login')
    if (!isPageRequest(c)) return tooManyJson(error)
    c.header('retry-after', String(error.retryAfterSeconds))
    const minutes = Math.ceil(error.retryAfterSeconds / 60)
    const message = `Too many attempts. Please try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
    return errorPage(c, { status: 429, title: 'Please wait', message })
  }
  if (error instanceof ForeignForm) {
    const message = `This form must be sent from ${context.url}, by whoever is signed in. Go back, reload the page and try again.`
    return isPageRequest(c)
      ? errorPage(c, { status: 403, title: 'Not accepted', message })
      : c.json({ error: 'csrf_mismatch', error_description: message }, 403)
  }
  if (isHttpError(error)) {
    const body = { error: error.code, error_description: error.message }
    return c.json(body, error.status, error.headers())
  }
  if (error instanceof UnreadableRequest) {
    return isPageRequest(c)
      ? errorPage(c, { status: 400, title: 'Not accepted', message: `${error.message}.` })
      : c.json({ error: 'invalid_request', error_description: error.message }, 400)
  }
  const away = isUnavailable(error) || isOAuthError(error, 'temporarily_unavailable')
  if (away) c.header('retry-after', '1')
  else context.logger.error({ err: error }, 'A request failed unexpectedly')
  const status = away ? 503 : 500
  if (!isPageRequest(c)) {
    return c.json({ error: away ? 'temporarily_unavailable' : 'server_error' }, status)
  }
  const message = away
    ? 'The service is busy or its database is away. Please try again in a moment.'
    : 'Something went wrong here. It has been noted.'
  return errorPage(c, { status, title: 'Not available', message })
}
