import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from './variables.ts'

/** Adds the endpoints for operators: `/healthz`, `/readyz` and `/metrics`. */
export function addOperations(app: Hono<AppEnv>, context: ServiceContext): void {
  app.get('/healthz', (c) =>
    // Only `tollgate doctor` may learn which address the proxies report.
    isAddressProbe(c.req.header(ADDRESS_PROBE), context.config.secrets)
      ? c.json({ status: 'ok', address: c.get('address') })
      : c.json({ status: 'ok' }),
  )

  app.get('/readyz', async (c) => {
    const status = await context.checkReady()
    return c.json({ status }, status === 'ok' ? 200 : 503)
  })

  app.get('/metrics', async (c) => {
    // 404 does not reveal that there are metrics.
    if (!mayReadMetrics(context, c.req.raw, c.env.incoming?.socket.remoteAddress)) {
      return c.notFound()
    }
    const { registry, read } = context.metrics
    return c.body(await read(), 200, { 'content-type': registry.contentType })
  })
}

/**
 * Allows requests with the metrics token. If none is configured, allows programs on this machine,
 * unless a proxy forwards the request.
 */
function mayReadMetrics({ config }: ServiceContext, request: Request, peer?: string): boolean {
  const given = request.headers.get('authorization') ?? ''
  if (config.metricsToken !== null) return equal(given, `Bearer ${config.metricsToken}`)
  const forwarded = ['forwarded', 'x-forwarded-for', 'via'].some((name) =>
    request.headers.has(name),
  )
  return !forwarded && /^(?:::ffff:)?127\.|^::1$/.test(peer ?? '')
}

function equal(sentValue: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sentValue), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Name of the request header by which `tollgate doctor` asks `/healthz` for the caller's IP address
 * as the service sees it.
 */
export const ADDRESS_PROBE = 'tollgate-address-probe'

/**
 * Creates the value of the header `ADDRESS_PROBE`, which proves knowledge of the service's secret.
 */
export function createAddressProbe(secret: string): string {
  return createHmac('sha256', secret).update('tollgate address probe').digest('base64url')
}

function isAddressProbe(probeHeader: string | undefined, secrets: readonly string[]): boolean {
  if (probeHeader === undefined) return false
  return secrets.some((secret) => {
    const [a, b] = [Buffer.from(probeHeader), Buffer.from(createAddressProbe(secret))]
    return a.length === b.length && timingSafeEqual(a, b)
  })
}
