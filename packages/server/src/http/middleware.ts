import { getNetwork } from '@tollgate/oauth'
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { ServiceContext } from '../context.ts'
import { createProxyList, findCallerAddress } from '../limits/network.ts'
import { withLogFields } from '../log-context.ts'
import { areaLogger } from '../logger.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { readRequestId } from './request-id.ts'
import type { AppEnv } from './variables.ts'

/**
 * Determines the caller's IP address from the socket, or from `X-Forwarded-For` if a trusted proxy
 * set it, and the id of the request. Warns once if the trusted proxies seem to be configured wrongly.
 */
export function identifyCaller(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const isProxy = createProxyList(context.config.trustedProxies)
  const warned = new Set<string>()
  const warnOnce = (address: string, message: string) => {
    if (warned.has(message)) return
    warned.add(message)
    context.logger.warn({ address }, message)
  }
  return async (c, next) => {
    const peer = c.env?.incoming?.socket.remoteAddress
    const header = c.req.header('x-forwarded-for') ?? null
    const { address, forwarded } = findCallerAddress(peer, header, isProxy)
    // Load balancers request these paths for themselves, so no forwarded address is expected.
    if (!PROBES.includes(c.req.path)) {
      if (forwarded === 'missing') warnOnce(address, NO_ADDRESS)
      if (forwarded === 'ignored') warnOnce(address, NOT_TRUSTED)
    }
    c.set('address', address)
    c.set('network', getNetwork(address))
    // Only a trusted proxy has a forwarded address, or should have sent one.
    const isFromProxy = forwarded === 'used' || forwarded === 'missing'
    const requestId = readRequestId((name) => c.req.header(name), isFromProxy)
    c.set('isFromProxy', isFromProxy)
    c.set('requestId', requestId)
    await withLogFields({ request_id: requestId }, next)
    c.header('x-request-id', requestId)
  }
}

/**
 * Records a span for each request except those of load balancers. The spans do not contain the
 * path, the query and the address, which may contain secrets or personal data.
 */
export function traceRequests(telemetry: Telemetry): MiddlewareHandler<AppEnv> {
  return (c, next) => {
    if (PROBES.includes(c.req.path)) return next()
    const { method } = c.req
    const header = (name: string) => c.req.header(name)
    const parent = telemetry.contextOf(c.get('isFromProxy') ? header : null)
    const attributes = {
      'http.request.method': method,
      'tollgate.request_id': c.get('requestId'),
    }
    return telemetry.trace(method, { kind: 'server', parent, attributes }, async (span) => {
      await next()
      const { status } = c.res
      span.updateName(`${method} ${c.get('route')}`)
      span.setAttributes({ 'http.route': c.get('route'), 'http.response.status_code': status })
      if (status >= 500) telemetry.markFailed(span)
    })
  }
}

const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics']

const NO_ADDRESS =
  'A trusted proxy sent no usable X-Forwarded-For, so all its callers share one rate limit. Configure the proxy to set that header to the address of its caller, overwriting any value that the caller sent: see "The reverse proxy" in the production guide.'

const NOT_TRUSTED =
  'A caller on a private network sent X-Forwarded-For, which is ignored. If it is your reverse proxy, add its address to TOLLGATE_TRUSTED_PROXIES; until then all its callers share one rate limit.'

/**
 * Logs each request and records its metrics. Never logs its query, headers or body, which may
 * contain secrets.
 */
export function recordRequests(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const { config, database, metrics, outages } = context
  const logger = areaLogger(context.logger, 'requests', config.logAreas)
  return async (c, next) => {
    const start = performance.now()
    await next()
    const seconds = (performance.now() - start) / 1000
    const { status } = c.res
    const patterns = matchedRoutes(c).map(({ path }) => path)
    const route = toRouteLabel(context, c.req.path, patterns)
    c.set('route', route)
    metrics.observeRequest(route, c.req.method, status, seconds)
    const line = {
      method: c.req.method,
      path: c.req.path.slice(0, 200),
      status,
      ms: Math.round(seconds * 1e4) / 10,
      address: c.get('address'),
    }
    // One warning covers a whole outage. A wrong clock is reported elsewhere, and probes get a 503
    // during any outage.
    const isOutage = status === 503 && !PROBES.includes(c.req.path) && !database.clock.isWrong()
    if (isOutage) outages.notice()
    if (status >= 500 && status !== 503) logger.error(line, 'request')
    else logger.info(line, 'request')
  }
}

/** Path without ids, so that callers cannot create an unlimited number of metric labels. */
function toRouteLabel(
  { oauth, billing }: ServiceContext,
  path: string,
  patterns: readonly string[],
): string {
  const known = [...oauth.paths, ...billing.paths]
  if (known.includes(path)) return path
  if (oauth.handles(path) || billing.handles(path)) {
    const pattern = known.find((each) => {
      const [before = '', after] = each.split(/\{\w+\}/)
      return after !== undefined && path.startsWith(before) && path.endsWith(after)
    })
    if (pattern) return pattern
  }
  return patterns.find((each) => !each.includes('*')) ?? 'other'
}

/** Sets security headers on every response, unless the route has set them. */
export function secureHeaders(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const isHttps = context.url.startsWith('https:')
  return async (c, next) => {
    await next()
    const set = (name: string, value: string) => {
      if (!c.res.headers.has(name)) c.header(name, value)
    }
    set('x-content-type-options', 'nosniff')
    set('referrer-policy', 'same-origin')
    set('x-frame-options', 'DENY')
    set('cross-origin-opener-policy', 'same-origin')
    if (isHttps) set('strict-transport-security', 'max-age=31536000')
    if (context.isLeaving()) c.header('connection', 'close')
  }
}

/**
 * Redirects page requests to the URL of the demo, for example from 127.0.0.1 to localhost, because
 * forms are accepted only at that URL.
 */
export function redirectToOneHost({ config, url }: ServiceContext): MiddlewareHandler<AppEnv> {
  const { host } = new URL(url)
  return (c, next) => {
    const navigates =
      ['GET', 'HEAD'].includes(c.req.method) && c.req.header('sec-fetch-mode') === 'navigate'
    if (config.mode !== 'demo' || !navigates || c.req.header('host') === host) return next()
    const { pathname, search } = new URL(c.req.url)
    return Promise.resolve(c.redirect(`${url}${pathname}${search}`, 302))
  }
}
