import type { Client, Token } from '../../storage/records.ts'
import { withinPatience } from '../../users/patience.ts'
import type { ApplicationUser } from '../../users/users.ts'
import { isReservedClaim } from './claims.ts'

/** A token has to fit into a header, beside everything else. */
const MOST_BYTES = 4096

/** Claims that the application adds to access tokens, where their type is not known. */
export type AddedClaims = Readonly<Record<string, unknown>>

/** An access token that is about to be issued or refreshed. */
export interface ClaimsQuestion<User extends ApplicationUser = ApplicationUser> {
  /** The client that gets the token. */
  readonly client: Client
  /** The id of the person it acts for; null when the client acts for itself. */
  readonly userId: string | null
  /** Reads the application's record of that person through `users.findById()`; null when the client acts for itself. */
  findUser(): Promise<User | null>
  /** The scopes of the token. */
  readonly scopes: readonly string[]
  /** The addresses of the APIs that the token is for. */
  readonly resources: readonly string[]
  /** The grant that the token began with; `personal_access` for personal access tokens. */
  readonly grantType: Token['grantType']
}

/** Claims with fixed values, or a function that reads them for one token. */
export type AccessTokenClaimsOption<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> = Claims | ((question: ClaimsQuestion<User>) => Claims | Promise<Claims>)

/** Answers with the claims for one token, checked. */
export type ClaimsHook = (question: ClaimsQuestion) => Promise<AddedClaims>

/** Makes the hook of the option `accessTokenClaims`. Fixed claims are checked here, computed ones at every token. */
export function parseAccessTokenClaims(
  option: AccessTokenClaimsOption<never, object> | undefined,
): ClaimsHook | null {
  if (option === undefined) return null
  if (typeof option !== 'function') {
    const fixed = checkedClaims(option)
    return async () => fixed
  }
  const read = option as (question: ClaimsQuestion) => unknown
  return async (question) =>
    checkedClaims(await withinPatience('accessTokenClaims()', (async () => read(question))()))
}

/** The claims as a token carries them, or a TypeError that names what cannot stand in one. */
function checkedClaims(claims: unknown): AddedClaims {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) {
    throw new BadClaims('accessTokenClaims: give an object, such as { tenant: "t1" }.')
  }
  const reserved = Object.keys(claims).find(isReservedClaim)
  if (reserved !== undefined) {
    throw new BadClaims(
      `accessTokenClaims: '${reserved}' is a claim of the server itself. Choose another name, e.g. 'https://api.example.com/${reserved}'.`,
    )
  }
  const json = toJson(claims)
  const bytes = Buffer.byteLength(json)
  if (bytes > MOST_BYTES) {
    throw new BadClaims(
      `accessTokenClaims: these are ${bytes} bytes, and a token that fits into a header has room for ${MOST_BYTES}.`,
    )
  }
  return JSON.parse(json)
}

function toJson(claims: object): string {
  try {
    return JSON.stringify(claims)
  } catch (cause) {
    throw new BadClaims('accessTokenClaims: these claims cannot be written as JSON.', { cause })
  }
}

/** A mistake in the application's code, not an outage. */
export class BadClaims extends TypeError {}
