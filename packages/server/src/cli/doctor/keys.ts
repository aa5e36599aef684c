import type { AuthorizationServer } from '@tollgate/oauth'
import type { User } from '../../users/user.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

const YEAR = 365 * 24 * 3600 * 1000

/** Reading the keys proves that the secret opens them. */
export async function checkKeys(
  oauth: AuthorizationServer<User>,
  now: Date,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  try {
    await oauth.ready()
    const keys = await oauth.keys.list()
    const active = keys.filter(({ activeFrom }) => activeFrom <= now).at(-1)
    if (!active)
      return [problem('keys', 'None signs yet', 'Run: tollgate keys rotate --immediately')]
    const age = now.getTime() - active.activeFrom.getTime()
    if (age > YEAR) {
      const days = Math.round(age / (24 * 3600 * 1000))
      return [
        warning('keys', `${active.kid} has signed for ${days} days`, 'Run: tollgate keys rotate'),
      ]
    }
    const signs = ok('keys', `${keys.length} can be opened; ${active.kid} signs`)
    return [signs, ...(await checkSecret(oauth, environment))]
  } catch (error) {
    const fix =
      'Start with the TOLLGATE_SECRET they were made with; to change it give the old one as TOLLGATE_PREVIOUS_SECRET.'
    return [problem('keys', reason(error), fix)]
  }
}

/** How far a change of the secret has come. */
async function checkSecret(
  oauth: AuthorizationServer<User>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  if (environment.TOLLGATE_NEXT_SECRET) {
    const fix =
      'When every process runs with it, make it TOLLGATE_SECRET and the present one TOLLGATE_PREVIOUS_SECRET.'
    return [warning('secret', 'TOLLGATE_NEXT_SECRET is known, and not used yet', fix)]
  }
  if (!environment.TOLLGATE_PREVIOUS_SECRET) return []
  const left = await oauth.keys.toReseal()
  if (left > 0) {
    const fix = 'When every process runs with both, run: tollgate keys reseal'
    return [warning('secret', `${left} stored still need TOLLGATE_PREVIOUS_SECRET`, fix)]
  }
  return [ok('secret', 'TOLLGATE_PREVIOUS_SECRET is needed no more and can be dropped')]
}
