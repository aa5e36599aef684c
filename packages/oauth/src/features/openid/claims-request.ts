import { InvalidRequest } from '../../errors.ts'
import type { ClaimsRequest, RequestedClaim } from '../../storage/details.ts'

const MAX_CLAIMS = 50

/**
 * Parses the `claims` parameter (OpenID Connect Core §5.5). Ignores unknown members, as §5.5
 * requires.
 * @throws InvalidRequest
 */
export function parseClaimsRequest(text: string): ClaimsRequest {
  const parsed = parseJwtPart(text)
  const request: { userinfo?: RequestedClaims; id_token?: RequestedClaims } = {}
  for (const place of ['userinfo', 'id_token'] as const) {
    const wishes = parsed[place]
    if (wishes === undefined || wishes === null) continue
    if (!isObject(wishes)) throw createClaimsError(`its member ${place} is not an object`)
    const names = Object.keys(wishes)
    if (names.length > MAX_CLAIMS)
      throw createClaimsError(`it requests more than ${MAX_CLAIMS} claims`)
    request[place] = Object.fromEntries(
      names.map((name) => [name, parseRequestedClaim(wishes[name])]),
    )
  }
  return request
}

type RequestedClaims = Record<string, RequestedClaim | null>

function parseRequestedClaim(value: unknown): RequestedClaim | null {
  if (value === null) return null
  if (!isObject(value))
    throw createClaimsError('the value of a requested claim must be null or an object')
  return {
    ...(value.essential === true && { essential: true }),
    ...(value.value !== undefined && { value: value.value }),
    ...(Array.isArray(value.values) && { values: value.values }),
  }
}

/**
 * Returns the values that the `claims` parameter accepts for one claim (OpenID Connect Core
 * §5.5.1). `undefined` if any value is accepted.
 */
export function listAcceptedClaimValues(
  requestedClaim: RequestedClaim | null | undefined,
): readonly unknown[] | undefined {
  if (
    !requestedClaim ||
    (requestedClaim.value === undefined && requestedClaim.values === undefined)
  )
    return undefined
  return [
    ...(requestedClaim.value === undefined ? [] : [requestedClaim.value]),
    ...(requestedClaim.values ?? []),
  ]
}

/**
 * Returns the `acr` values of which the sign-in must have one (OpenID Connect Core §5.5.1.1).
 * `undefined` if the `claims` parameter demands none.
 */
export function listRequiredAcrValues(
  request: ClaimsRequest | undefined,
): readonly string[] | undefined {
  const wish = request?.id_token?.acr
  const named = wish?.essential ? listAcceptedClaimValues(wish) : undefined
  return named?.filter((value) => typeof value === 'string')
}

function parseJwtPart(text: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw createClaimsError('it is not JSON')
  }
  if (!isObject(parsed)) throw createClaimsError('it is not an object')
  return parsed
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function createClaimsError(what: string): InvalidRequest {
  return new InvalidRequest(`The parameter 'claims' is invalid: ${what}`)
}
