import { randomInt } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../../config/config.ts'
import { ADDRESS_PROBE, addressProbe } from '../../http/address-probe.ts'
import { createProxyList } from '../../limits/network.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

const PATIENCE = 5000
const GUIDE = 'See "The reverse proxy" in the production guide.'

/** Asks the service through its public address with an invented `X-Forwarded-For`, as an attacker would (threat Q9). */
export async function checkProxies({
  url,
  trustedProxies,
  secrets,
}: Pick<Config, 'url' | 'trustedProxies' | 'secrets'>): Promise<Finding[]> {
  const [secret] = secrets
  if (url === null || secret === undefined) return []
  if (url.startsWith('https:') && trustedProxies.length === 0) {
    const fix = `Set TOLLGATE_TRUSTED_PROXIES to the proxy's address. ${GUIDE}`
    return [
      warning(
        'proxies',
        'A proxy must stand in front of an https address, and none is trusted: all callers share one rate limit',
        fix,
      ),
    ]
  }
  // Of the networks that are reserved for documentation, so it is nobody's address.
  const invented = `192.0.2.${randomInt(1, 255)}`
  let seen: unknown
  try {
    const response = await fetch(`${url}/healthz`, {
      headers: { 'x-forwarded-for': invented, [ADDRESS_PROBE]: addressProbe(secret) },
      signal: AbortSignal.timeout(PATIENCE),
    })
    seen = ((await response.json()) as { address?: unknown } | null)?.address
  } catch (error) {
    return [warning('proxies', `The proxies could not be tried at ${url}: ${reason(error)}`)]
  }
  if (typeof seen !== 'string' || isIP(seen) === 0) {
    const fix = 'Use the same TOLLGATE_SECRET here and there, and one version.'
    return [warning('proxies', `What answers at ${url} does not say whom it sees`, fix)]
  }
  if (seen === invented) {
    const fix = `Let the proxy overwrite X-Forwarded-For, and trust the proxy alone. ${GUIDE}`
    const message = 'Callers choose their own address by X-Forwarded-For: no rate limit holds'
    return [problem('proxies', message, fix)]
  }
  if (createProxyList(trustedProxies)(seen)) {
    const fix = `Let the proxy set X-Forwarded-For to the address of its caller. ${GUIDE}`
    const message = `The trusted proxy ${seen} names no caller: all its callers share one rate limit`
    return [warning('proxies', message, fix)]
  }
  return [ok('proxies', `An invented X-Forwarded-For is not believed; this is seen as ${seen}`)]
}
