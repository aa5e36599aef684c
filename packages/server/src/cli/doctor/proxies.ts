import { randomInt } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../../config/config.ts'
import { ADDRESS_PROBE, createAddressProbe } from '../../http/operations.ts'
import { createProxyList } from '../../limits/network.ts'
import { describeErrorBriefly, type Finding, ok, problem, warning } from './finding.ts'

const TIMEOUT = 5000
const GUIDE = 'See "The reverse proxy" in the production guide.'

/**
 * Checks that callers cannot forge their IP address (threat Q9): sends a made-up `X-Forwarded-For`
 * to the public address, and checks which address the service sees.
 */
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
        'TOLLGATE_URL is https, which needs a reverse proxy, but no proxy is trusted: all callers share one rate limit',
        fix,
      ),
    ]
  }
  // From a range reserved for documentation (RFC 5737), so it cannot be a real caller.
  const invented = `192.0.2.${randomInt(1, 255)}`
  let seen: unknown
  try {
    const response = await fetch(`${url}/healthz`, {
      headers: { 'x-forwarded-for': invented, [ADDRESS_PROBE]: createAddressProbe(secret) },
      signal: AbortSignal.timeout(TIMEOUT),
    })
    seen = ((await response.json()) as { address?: unknown } | null)?.address
  } catch (error) {
    return [
      warning(
        'proxies',
        `The reverse proxies could not be tested at ${url}: ${describeErrorBriefly(error)}`,
      ),
    ]
  }
  if (typeof seen !== 'string' || isIP(seen) === 0) {
    const fix =
      'Run this command with the same TOLLGATE_SECRET and the same version as that server.'
    return [
      warning('proxies', `The server at ${url} does not report the address of the caller`, fix),
    ]
  }
  if (seen === invented) {
    const fix = `Configure the proxy to overwrite X-Forwarded-For, and trust only the proxy. ${GUIDE}`
    const message =
      'Callers can forge their address with X-Forwarded-For, which bypasses rate limits'
    return [problem('proxies', message, fix)]
  }
  if (createProxyList(trustedProxies)(seen)) {
    const fix = `Configure the proxy to set X-Forwarded-For to the address of its caller. ${GUIDE}`
    const message = `The trusted proxy ${seen} does not forward the address of its caller: all its callers share one rate limit`
    return [warning('proxies', message, fix)]
  }
  return [ok('proxies', `A forged X-Forwarded-For is ignored; this machine is seen as ${seen}`)]
}

const METADATA = '/.well-known/oauth-authorization-server'

/**
 * Requests the server metadata from the public address, as a client would, and compares the issuer
 * with the configured URL.
 */
export async function checkIssuer({ url, mode }: Config): Promise<Finding[]> {
  if (url === null)
    return [warning('issuer', 'PORT is 0, so the address of the service is not known')]
  const isPlainHttp = url.startsWith('http:') && mode === 'production'
  const fix = 'Set TOLLGATE_URL to an https address.'
  return [
    ...(isPlainHttp ? [warning('issuer', `${url} is not https`, fix)] : []),
    await askForIssuer(url),
  ]
}

async function askForIssuer(url: string): Promise<Finding> {
  let response: Response
  try {
    response = await fetch(`${url}${METADATA}`, { signal: AbortSignal.timeout(TIMEOUT) })
  } catch (error) {
    const fix = 'Start the service (tollgate serve), or check TOLLGATE_URL, DNS and the proxy.'
    return warning('issuer', `${url} does not respond: ${describeErrorBriefly(error)}`, fix)
  }
  const metadata: unknown = await response.json().catch(() => null)
  const issuer = (metadata as { issuer?: unknown } | null)?.issuer
  if (response.status === 200 && issuer === url) {
    return ok('issuer', `${url} responds and is the issuer`)
  }
  const found = typeof issuer === 'string' ? `is the issuer ${issuer}` : 'has no issuer metadata'
  const fix = `Route ${url} to this service, and set exactly the same TOLLGATE_URL for every process.`
  return problem('issuer', `The server at ${url} ${found}`, fix)
}
