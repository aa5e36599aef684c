import { ValidationFailed } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import { newRedirectProblem, splitRedirects } from './redirect-uris.ts'

export const LONGEST_NAME = 191
const MOST_REDIRECTS = 50
/** C0 and C1 controls, line and paragraph separators, and marks that turn the reading direction. */
const DECEPTIVE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
/** What shows nothing by itself: blanks, format and filler characters, marks without a letter. */
const INVISIBLE = /[\s\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** A client may have these whether or not this server offers them now. */
const GRANT_TYPES: readonly GrantType[] = [
  'authorization_code',
  'refresh_token',
  'password',
  'client_credentials',
  'implicit',
]

/** Null when a person may be shown this name, else why not. */
export function nameProblem(name: string): string | null {
  if (name.replace(INVISIBLE, '') === '') return 'The name field is required.'
  if (name.length > LONGEST_NAME) {
    return `The name field must not be greater than ${LONGEST_NAME} characters.`
  }
  if (DECEPTIVE.test(name) || !name.isWellFormed()) {
    return 'The name field must not contain control or direction characters.'
  }
  return null
}

export function parseClientName(name: string): string {
  const problem = nameProblem(name)
  if (problem) throw new ValidationFailed({ name: [problem] })
  return name
}

export function redirectProblems(redirects: readonly string[], issuer: string): string[] {
  if (redirects.length > MOST_REDIRECTS) {
    return [`The redirect field must not hold more than ${MOST_REDIRECTS} addresses.`]
  }
  return redirects
    .map((uri) => ({ uri, problem: newRedirectProblem(uri, issuer) }))
    .filter(({ problem }) => problem !== null)
    .map(({ uri, problem }) => `The redirect '${uri.slice(0, 200)}' ${problem}.`)
}

/** Clients that send people to the authorization endpoint need somewhere to get them back. */
export function parseRedirects(
  redirect: string | readonly string[] | undefined,
  grantTypes: readonly string[],
  issuer: string,
): string[] {
  const uris = typeof redirect === 'string' ? splitRedirects(redirect) : [...(redirect ?? [])]
  const needed = grantTypes.includes('authorization_code') || grantTypes.includes('implicit')
  const problems =
    needed && uris.length === 0
      ? ['The redirect field is required.']
      : redirectProblems(uris, issuer)
  if (problems.length > 0) throw new ValidationFailed({ redirect: problems })
  return [...new Set(uris)]
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
      grants: [`'${unknown}' is not a grant. There are ${known.join(', ')}.`],
    })
  }
  return [...new Set(list)]
}

export function parseScopeLimit(
  scopes: readonly string[] | undefined,
  defined: ReadonlySet<string>,
): string[] | null {
  if (scopes === undefined) return null
  const unknown = scopes.find((name) => !defined.has(name))
  if (unknown !== undefined) {
    throw new ValidationFailed({ scopes: [`The scope '${unknown}' is not defined.`] })
  }
  return [...scopes]
}
