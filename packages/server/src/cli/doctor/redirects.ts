import type { Database } from '@tollgate/database'
import { kyselyStorage, newRedirectProblem } from '@tollgate/oauth'
import { type Finding, ok, warning } from './finding.ts'

const MOST_SHOWN = 20

/** Addresses that were registered before and would be refused today; they keep working. */
export async function checkRedirects(database: Database, issuer: string): Promise<Finding[]> {
  const all = await kyselyStorage(database).clients.list()
  const clients = all.filter(({ revokedAt }) => revokedAt === null)
  const found = clients.flatMap(({ id, name, redirectUris }) =>
    redirectUris.flatMap((uri) => {
      const problem = newRedirectProblem(uri, issuer)
      return problem ? [`${name} (${id}): ${uri} ${problem}`] : []
    }),
  )
  if (found.length === 0) return [ok('redirects', 'All could be registered today')]
  const fix = 'They keep working. Give these clients another address on their page or by the API.'
  const shown = found.slice(0, MOST_SHOWN).map((text) => warning('redirects', text, fix))
  const rest = found.length - shown.length
  return rest > 0 ? [...shown, warning('redirects', `${rest} more like these`)] : shown
}
