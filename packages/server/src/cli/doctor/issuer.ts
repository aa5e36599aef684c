import type { Config } from '../../config/config.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

const PATIENCE = 5000
const METADATA = '/.well-known/oauth-authorization-server'

/** Asks the service from outside, as a client would. */
export async function checkIssuer(
  config: Config,
): Promise<{ readonly findings: Finding[]; readonly answers: boolean }> {
  const { url } = config
  if (url === null) {
    return { findings: [warning('issuer', 'PORT is 0: the address is not known')], answers: false }
  }
  const findings: Finding[] = []
  if (url.startsWith('http:') && config.mode === 'production') {
    findings.push(warning('issuer', `${url} is not https`, 'Set TOLLGATE_URL to an https address.'))
  }
  let response: Response
  try {
    response = await fetch(`${url}${METADATA}`, { signal: AbortSignal.timeout(PATIENCE) })
  } catch (error) {
    const fix = 'Start the service (tollgate serve), or check TOLLGATE_URL, DNS and the proxy.'
    findings.push(warning('issuer', `Nobody answers at ${url}: ${reason(error)}`, fix))
    return { findings, answers: false }
  }
  const metadata: unknown = await response.json().catch(() => null)
  const issuer = (metadata as { issuer?: unknown } | null)?.issuer
  if (response.status !== 200 || issuer !== url) {
    const found = typeof issuer === 'string' ? `is ${issuer}` : 'says nothing of an issuer'
    const fix = `Let ${url} lead to this service, and set TOLLGATE_URL to the same text everywhere.`
    findings.push(problem('issuer', `What answers at ${url} ${found}`, fix))
    return { findings, answers: false }
  }
  findings.push(ok('issuer', `${url} answers and names itself so`))
  return { findings, answers: true }
}
