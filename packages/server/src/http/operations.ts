import { timingSafeEqual } from 'node:crypto'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import { ADDRESS_PROBE, isAddressProbe } from './address-probe.ts'
import { checkClock, createReadiness } from './readiness.ts'
import type { AppEnv } from './variables.ts'

/** What those who run the service ask it. */
export function addOperations(app: Hono<AppEnv>, context: ServiceContext): void {
  const checkDatabase = createReadiness(context.database, () => context.oauth.checkReady())

  app.get('/healthz', (c) =>
    // Only `tollgate doctor` learns whom the proxies make it look like.
    isAddressProbe(c.req.header(ADDRESS_PROBE), context.config.secrets)
      ? c.json({ status: 'ok', address: c.get('address') })
      : c.json({ status: 'ok' }),
  )

  app.get('/readyz', async (c) => {
    if (context.isLeaving()) return c.json({ status: 'draining' }, 503)
    const status = await checkClock(await checkDatabase(), context.clock)
    return c.json({ status }, status === 'ok' ? 200 : 503)
  })

  app.get('/metrics', async (c) => {
    // Others are told that there is nothing here.
    if (!mayReadMetrics(context, c.req.raw, c.env.incoming?.socket.remoteAddress)) {
      return c.notFound()
    }
    const { registry } = context.metrics
    return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType })
  })
}

/** Whoever knows the token; without one, programs on this machine that no proxy stands in front of. */
function mayReadMetrics({ config }: ServiceContext, request: Request, peer?: string): boolean {
  const given = request.headers.get('authorization') ?? ''
  if (config.metricsToken !== null) return equal(given, `Bearer ${config.metricsToken}`)
  const forwarded = ['forwarded', 'x-forwarded-for', 'via'].some((name) =>
    request.headers.has(name),
  )
  return !forwarded && /^(?:::ffff:)?127\.|^::1$/.test(peer ?? '')
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
