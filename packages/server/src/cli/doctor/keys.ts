import type { Config } from '../../config/config.ts'
import type { Core } from '../../core.ts'
import { describeErrorBriefly, type Finding, ok, problem, warning } from './finding.ts'

const YEAR = 365 * 24 * 3600 * 1000

/**
 * Checks that the signing keys can be decrypted with the secret, and that the key used for signing
 * is at most a year old.
 */
export async function checkKeys(
  { oauth, factors }: Pick<Core, 'oauth' | 'factors'>,
  now: Date,
  configuredValues: Config['given'],
): Promise<Finding[]> {
  try {
    await oauth.ready()
    const keys = await oauth.keys.list()
    const active = keys.filter(({ activeFrom }) => activeFrom <= now).at(-1)
    if (!active)
      return [
        problem(
          'keys',
          'There is no active signing key',
          'Run: tollgate keys rotate --immediately',
        ),
      ]
    const age = now.getTime() - active.activeFrom.getTime()
    if (age > YEAR) {
      const days = Math.round(age / (24 * 3600 * 1000))
      return [
        warning(
          'keys',
          `The key ${active.kid} has been signing for ${days} days`,
          'Run: tollgate keys rotate',
        ),
      ]
    }
    const signs = ok(
      'keys',
      `The signing keys can be decrypted (${keys.length}); ${active.kid} is the current one`,
    )
    return [signs, ...(await checkSecret({ oauth, factors }, configuredValues))]
  } catch (error) {
    const fix =
      'Use the TOLLGATE_SECRET that the keys were created with; to change the secret, set the old one as TOLLGATE_PREVIOUS_SECRET.'
    return [problem('keys', describeErrorBriefly(error), fix)]
  }
}

/** Reports the progress of a secret rotation. */
async function checkSecret(
  { oauth, factors }: Pick<Core, 'oauth' | 'factors'>,
  given: Config['given'],
): Promise<Finding[]> {
  if (given.has('TOLLGATE_NEXT_SECRET')) {
    const fix =
      'Once every process runs with it, set it as TOLLGATE_SECRET, and the current secret as TOLLGATE_PREVIOUS_SECRET.'
    return [warning('secret', 'TOLLGATE_NEXT_SECRET is accepted, but not used yet', fix)]
  }
  if (!given.has('TOLLGATE_PREVIOUS_SECRET')) return []
  const left = (await oauth.keys.toReseal()) + (await factors.toReseal())
  if (left > 0) {
    const fix = 'Once every process runs with both secrets, run: tollgate keys reseal'
    return [
      warning('secret', `Stored entries that still need TOLLGATE_PREVIOUS_SECRET: ${left}`, fix),
    ]
  }
  return [ok('secret', 'TOLLGATE_PREVIOUS_SECRET is no longer needed and can be removed')]
}
