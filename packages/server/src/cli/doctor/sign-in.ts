import type { Database } from '@tollgate/database'
import type { Config } from '../../config/config.ts'
import { UpstreamFailure } from '../../upstream/providers/provider.ts'
import { callbackPath, createUpstream } from '../../upstream/upstream.ts'
import { type Finding, ok, problem } from './finding.ts'

const CHECK = 'sign-in'

/**
 * Checks that the providers of the setting `signInWith` can be reached and describe themselves, and
 * says which redirect URI each must know.
 */
export function checkSignIn(config: Config, { clock }: Database): Promise<Finding[]> {
  const url = config.url ?? 'http://localhost'
  const { providers } = createUpstream({ config, url, clock })
  return Promise.all(
    providers.map(async (provider) => {
      try {
        const found = await provider.check()
        return ok(CHECK, `${found}. Its redirect URI is ${url}${callbackPath(provider.id)}`)
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        const fix = `Check the issuer in signInWith, and that this machine reaches it. Private addresses must be listed in signInRequests.privateAddresses.`
        return problem(CHECK, `People cannot sign in with ${provider.name}: ${error.message}`, fix)
      }
    }),
  )
}
