import { forHono as forBilling } from '@tollgate/billing/hono'
import { isUnavailable } from '@tollgate/database'
import { isHttpError } from '@tollgate/http'
import { isOAuthError, TooManyRequests } from '@tollgate/oauth'
import { forHono as forOAuth } from '@tollgate/oauth/hono'
import { type Context, Hono } from 'hono'
import { AdminProblem } from './admin/problems.ts'
import { addGateApi } from './api/admin/gate.ts'
import { addAdminApi, isAdminApi, respondToAdminError } from './api/admin/routes.ts'
import { addApi } from './api/api.ts'
import { addBillingApi } from './api/billing.ts'
import type { ServiceContext } from './context.ts'
import {
  identifyCaller,
  recordRequests,
  redirectToOneHost,
  secureHeaders,
  traceRequests,
} from './http/middleware.ts'
import { addOperations } from './http/operations.ts'
import { limitBody, rejectUnreadable, UnreadableRequest } from './http/readable.ts'
import { limitClientRegistration, limitTokenRoutes, tooManyJson } from './http/token-limits.ts'
import { type AppEnv, OWN_PAYER } from './http/variables.ts'
import { ENGLISH, type PageText } from './messages/messages.ts'
import { renderProblem } from './pages/admin/parts.tsx'
import { addPages } from './pages/pages.ts'
import { findAsset } from './pages/parts/assets.ts'
import { getBrand } from './pages/parts/brand.ts'
import {
  choosePageText,
  ForeignForm,
  preferAccountLanguage,
  providePageContext,
} from './pages/parts/forms.ts'
import { errorPage } from './pages/parts/render.tsx'
import { withReplacements } from './pages/replacements.ts'
import { SignInEnded } from './sessions/account-lock.ts'

/**
 * Largest body in bytes. No form or JSON request of the service needs more; webhooks have their own
 * limit.
 */
const MAX_BODY_BYTES = 64 * 1024

/**
 * Creates the HTTP application: maps each URL to its handler, first the APIs, then the pages, and
 * handles all errors in one place.
 */
export function createApp(context: ServiceContext): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const oauth = forOAuth(context.oauth, { address: (c) => c.get('address') })
  const billing = forBilling(context.billing)

  app.use(identifyCaller(context))
  if (context.telemetry) app.use(traceRequests(context.telemetry))
  app.use(recordRequests(context), secureHeaders(context))
  app.onError((error, c) => respondToError(error, c, context))
  app.notFound((c) => respondNotFound(c, context))

  addOperations(app, context)
  const brand = getBrand(context.config.settings)
  app.get('/assets/*', (c) => {
    const own = brand.files.get(c.req.path)
    const asset = own ?? findAsset(c.req.path)
    if (!asset) return c.notFound()
    // An SVG image may contain scripts, which would run if it was opened as a page.
    if (own)
      c.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return c.body(new Uint8Array(asset.body), 200, {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })

  app.use(redirectToOneHost(context))
  app.use(context.statistics.countDeliveries(context.billing.handles))
  app.use(billing.routes)
  if (context.config.settings.cors) app.use('/api/*', oauth.cors())
  app.use(limitBody(MAX_BODY_BYTES))
  app.use(limitTokenRoutes(context), limitClientRegistration(context))
  app.use('/oauth/*', preferAccountLanguage(context))
  app.use(oauth.routes)
  app.use(rejectUnreadable())
  addApi(app, context)
  addBillingApi(app, context)
  addGateApi(app, context)
  addAdminApi(app, context)

  app.use(oauth.freshToken(), providePageContext(context))
  withReplacements(app, context.config.settings.servicePages, () => addPages(app, context))
  return app
}

function isPageRequest(c: Context<AppEnv>): boolean {
  return (c.req.header('accept') ?? '').includes('text/html')
}

/**
 * Sets the page context if it is missing: an error can occur before the page's own middleware has
 * run.
 */
function ensurePageContext(c: Context<AppEnv>, service: ServiceContext): void {
  if (!c.get('page')) {
    const signedOut = { user: null, signedInAt: null, session: null, csrfToken: null }
    c.set('page', {
      service,
      ...signedOut,
      path: c.req.path,
      payer: OWN_PAYER,
      ...choosePageText(c),
    })
  }
}

function respondNotFound(c: Context<AppEnv>, context: ServiceContext) {
  if (!isPageRequest(c)) return c.json({ error: 'not_found' }, 404)
  ensurePageContext(c, context)
  return errorPage(c, {
    status: 404,
    title: c.get('page').t('error.notFound.title'),
    message: c.get('page').t('error.notFound.text'),
  })
}

function respondToError(error: Error, c: Context<AppEnv>, context: ServiceContext) {
  if (isAdminApi(c)) return respondToAdminError(c, error, context)
  ensurePageContext(c, context)
  const { t } = c.get('page')
  if (error instanceof TooManyRequests) {
    context.metrics.countRefusal(c.req.path === '/register' ? 'register' : 'login')
    if (!isPageRequest(c)) return tooManyJson(error)
    c.header('retry-after', String(error.retryAfterSeconds))
    const minutes = Math.ceil(error.retryAfterSeconds / 60)
    const message = t('error.tooMany.text', { minutes })
    return errorPage(c, { status: 429, title: t('error.tooMany.title'), message })
  }
  if (error instanceof ForeignForm) {
    const message = (text: PageText) => text('error.foreignForm.text', { url: context.url })
    return isPageRequest(c)
      ? errorPage(c, { status: 403, title: t('error.foreignForm.title'), message: message(t) })
      : c.json({ error: 'csrf_mismatch', error_description: message(ENGLISH) }, 403)
  }
  if (error instanceof SignInEnded && isPageRequest(c)) return c.redirect('/login?unsent=yes', 303)
  if (isHttpError(error)) {
    const body = { error: error.code, error_description: error.message }
    return c.json(body, error.status, error.headers())
  }
  if (error instanceof UnreadableRequest) {
    return isPageRequest(c)
      ? errorPage(c, {
          status: 400,
          title: t('error.foreignForm.title'),
          message: t('error.unreadable.text'),
        })
      : c.json({ error: 'invalid_request', error_description: error.message }, 400)
  }
  if (error instanceof AdminProblem) return renderProblem(c, error)
  const away = isUnavailable(error) || isOAuthError(error, 'temporarily_unavailable')
  if (away) c.header('retry-after', '1')
  else context.logger.error({ err: error }, 'A request failed unexpectedly')
  const status = away ? 503 : 500
  if (!isPageRequest(c)) {
    return c.json({ error: away ? 'temporarily_unavailable' : 'server_error' }, status)
  }
  const message = t(away ? 'error.unavailable.text' : 'error.failed.text')
  return errorPage(c, { status, title: t('error.unavailable.title'), message })
}
