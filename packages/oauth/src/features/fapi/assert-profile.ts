import type { ServerContext } from '../../context.ts'
import type { Feature } from '../feature.ts'

/** Features that fapi2() brings itself, with settings that an own one would not have. */
const STRICT: readonly string[] = [
  'requirePkce',
  'pushedRequests',
  'dpop',
  'jwtClientAuthentication',
  'requestObjects',
]

/** How features that sign with RS256 unless they are told otherwise are told. */
const FIXES: Readonly<Record<string, string>> = {
  openid: "Write openid({ idTokenAlgorithms: ['ES256'] }).",
  signedIntrospection: "Write signedIntrospection({ algorithms: ['ES256'] }).",
}

/** Refuses a server that would do something else beside the profile: whoever relies on it would not notice. */
export function assertProfile(brought: readonly Feature[], context: ServerContext): void {
  const problem = findProblem(brought, context)
  if (problem !== null) throw new TypeError(`fapi2(): ${problem}`)
}

function findProblem(brought: readonly Feature[], context: ServerContext): string | null {
  const { features, grants, responses, keys } = context
  const listed = features.all.find(
    (feature) => STRICT.includes(feature.name) && !brought.includes(feature),
  )
  if (listed) {
    return `take ${listed.name}() out of features. fapi2() brings it as the profile wants it, and has options for the rest.`
  }
  const forbidden = ['implicit', 'password'].find((type) => grants.has(type))
  if (forbidden !== undefined) {
    return `take ${forbidden}() out of grants. FAPI 2.0 forbids it.`
  }
  const type = [...responses.keys()].find((name) => name !== 'code')
  if (type !== undefined) {
    return `take '${type}' out of responseTypes. FAPI 2.0 knows response_type=code alone.`
  }
  if (!keys.algorithms.has('RS256')) return null
  const signs = features.all.find(({ algorithms }) => algorithms?.includes('RS256'))?.name
  const what = signs
    ? `${signs}()`
    : 'The signingAlgorithm of the server, or of one of its resources,'
  const fix = FIXES[signs ?? ''] ?? 'Give ES256 or EdDSA.'
  return `${what} signs with RS256, which FAPI 2.0 forbids. ${fix}`
}
