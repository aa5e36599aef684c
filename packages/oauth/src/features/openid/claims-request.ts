import { InvalidRequest } from '../../errors.ts'
import type { ClaimsRequest, ClaimWish } from '../../storage/details.ts'

const MOST_CLAIMS = 50

/** OpenID Connect Core §5.5. Members it does not know are left out, as §5.5 asks. */
export function parseClaimsRequest(text: string): ClaimsRequest {
  const parsed = parseObject(text)
  const request: { userinfo?: Wishes; id_token?: Wishes } = {}
  for (const place of ['userinfo', 'id_token'] as const) {
    const wishes = parsed[place]
    if (wishes === undefined || wishes === null) continue
    if (!isObject(wishes)) throw wrong(`its member ${place} is no object`)
    const names = Object.keys(wishes)
    if (names.length > MOST_CLAIMS) throw wrong(`it asks for more than ${MOST_CLAIMS} claims`)
    request[place] = Object.fromEntries(names.map((name) => [name, parseWish(wishes[name])]))
  }
  return request
}

type Wishes = Record<string, ClaimWish | null>

function parseWish(value: unknown): ClaimWish | null {
  if (value === null) return null
  if (!isObject(value)) throw wrong('a claim is asked for by null or an object')
  return {
    ...(value.essential === true && { essential: true }),
    ...(value.value !== undefined && { value: value.value }),
    ...(Array.isArray(value.values) && { values: value.values }),
  }
}

/** The values that a claim may have, where the request names some (§5.5.1). */
export function namedValues(wish: ClaimWish | null | undefined): readonly unknown[] | undefined {
  if (!wish || (wish.value === undefined && wish.values === undefined)) return undefined
  return [...(wish.value === undefined ? [] : [wish.value]), ...(wish.values ?? [])]
}

/** §5.5.1.1: the kinds of sign-in of which one must be there, or the request fails. */
export function demandedAcr(request: ClaimsRequest | undefined): readonly string[] | undefined {
  const wish = request?.id_token?.acr
  const named = wish?.essential ? namedValues(wish) : undefined
  return named?.filter((value) => typeof value === 'string')
}

function parseObject(text: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong('it is no JSON')
  }
  if (!isObject(parsed)) throw wrong('it is no object')
  return parsed
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(what: string): InvalidRequest {
  return new InvalidRequest(`The parameter 'claims' is wrong: ${what}`)
}
