import { ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import { findNewRedirectProblem, splitRedirects } from './redirect-uris.ts'

export const MAX_NAME_LENGTH = 191
const MAX_REDIRECTS = 50
/**
 * Control characters, line and paragraph separators, and marks that change the writing direction.
 */
const DECEPTIVE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
/**
 * Characters that are invisible on their own: spaces, format and filler characters, combining
 * marks.
 */
const INVISIBLE = /[\s\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Grant types that a client may always have, even if the server does not offer them now. */
const GRANT_TYPES: readonly GrantType[] = [
  'authorization_code',
  'refresh_token',
  'password',
  'client_credentials',
  'implicit',
]

/**
 * Checks a name that is shown to users. Returns `null` if it is acceptable, otherwise the problem.
 */
export function findNameProblem(name: string): string | null {
  if (name.replace(INVISIBLE, '') === '') return 'The name field is required.'
  if (name.length > MAX_NAME_LENGTH) {
    return `The name field must not be greater than ${MAX_NAME_LENGTH} characters.`
  }
  if (DECEPTIVE.test(name) || !name.isWellFormed()) {
    return 'The name field must not contain control or direction characters.'
  }
  return null
}

export function parseClientName(name: string): string {
  const problem = findNameProblem(name)
  if (problem) throw new ValidationFailed({ name: [problem] })
  return name
}

export function findRedirectProblems(redirects: readonly string[], issuer: string): string[] {
  if (redirects.length > MAX_REDIRECTS) {
    return [`The redirect field must not hold more than ${MAX_REDIRECTS} addresses.`]
  }
  return redirects
    .map((uri) => ({ uri, problem: findNewRedirectProblem(uri, issuer) }))
    .filter(({ problem }) => problem !== null)
    .map(({ uri, problem }) => `The redirect '${uri.slice(0, 200)}' ${problem}.`)
}

/**
 * Parses redirect URIs, which are required for grants that use the authorization endpoint.
 * @throws ValidationFailed if a redirect URI is invalid, or if there is none although a grant needs
 * one
 */
export function parseRedirects(
  redirect: string | readonly string[] | undefined,
  grantTypes: readonly string[],
  issuer: string,
): string[] {
  const uris = typeof redirect === 'string' ? splitRedirects(redirect) : [...(redirect ?? [])]
  assertRedirectPresent(uris, grantTypes)
  const problems = findRedirectProblems(uris, issuer)
  if (problems.length > 0) throw new ValidationFailed({ redirect: problems })
  return [...new Set(uris)]
}

/**
 * Requires a redirect URI for grants that use the authorization endpoint.
 * @throws ValidationFailed if there is none
 */
export function assertRedirectPresent(
  uris: readonly string[],
  grantTypes: readonly string[],
): void {
  const needed = grantTypes.includes('authorization_code') || grantTypes.includes('implicit')
  if (!needed || uris.length > 0) return
  throw new ValidationFailed({ redirect: ['The redirect field is required.'] })
}

export function parseGrantTypes(
  grants: readonly GrantType[] | undefined,
  offered: Iterable<GrantType> = [],
): GrantType[] {
  const known = [...new Set([...GRANT_TYPES, ...offered])]
  const list = grants ?? ['authorization_code', 'refresh_token']
  const unknown = list.find((grant) => !known.includes(grant))
  if (unknown !== undefined) {
    throw new ValidationFailed({
      grants: [`'${unknown}' is not a grant. The grants are: ${known.join(', ')}.`],
    })
  }
  return [...new Set(list)]
}

export function parseScopeLimit(
  scopes: readonly string[] | null | undefined,
  defined: ReadonlySet<string>,
): string[] | null {
  if (scopes === undefined || scopes === null) return null
  const unknown = scopes.find((name) => !defined.has(name))
  if (unknown !== undefined) {
    throw new ValidationFailed({ scopes: [`The scope '${unknown}' is not defined.`] })
  }
  return [...scopes]
}
