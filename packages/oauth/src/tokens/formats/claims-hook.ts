import type { Client, Token } from '../../storage/records.ts'
import { withHookTimeout } from '../../users/hook-timeout.ts'
import type { ApplicationUser } from '../../users/users.ts'
import { isReservedClaim } from './claims.ts'

/**
 * Maximum size of the added claims, because a token must fit into a header with everything else.
 */
const MAX_BYTES = 4096

/** Default type of the claims that the application adds to access tokens. */
export type AddedClaims = Readonly<Record<string, unknown>>

/** Describes an access token that is about to be issued or refreshed. */
export interface AccessTokenClaimsContext<User extends ApplicationUser = ApplicationUser> {
  /** The client that gets the token. */
  readonly client: Client
  /** Id of the user the token acts for. `null` if the client acts for itself. */
  readonly userId: string | null
  /**
   * Reads the application's record of the user through `users.findById()`. `null` if the client
   * acts for itself.
   */
  findUser(): Promise<User | null>
  /** The scopes of the token. */
  readonly scopes: readonly string[]
  /** Resource URIs of the APIs the token is for. */
  readonly resources: readonly string[]
  /** Grant type that created the token. `personal_access` for personal access tokens. */
  readonly grantType: Token['grantType']
}

/** Claims with fixed values, or a function that computes them for each token. */
export type AccessTokenClaimsOption<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> = Claims | ((question: AccessTokenClaimsContext<User>) => Claims | Promise<Claims>)

/** Calls the application for the claims to add to one access token, and checks them. */
export type ClaimsHook = (question: AccessTokenClaimsContext) => Promise<AddedClaims>

/**
 * Builds the hook for the option `accessTokenClaims`. Fixed claims are checked immediately,
 * computed ones for each token.
 * @throws TypeError if fixed claims are invalid
 */
export function parseAccessTokenClaims(
  option: AccessTokenClaimsOption<never, object> | undefined,
): ClaimsHook | null {
  if (option === undefined) return null
  if (typeof option !== 'function') {
    const fixed = checkedClaims(option)
    return async () => fixed
  }
  const read = option as (question: AccessTokenClaimsContext) => unknown
  return async (question) =>
    checkedClaims(await withHookTimeout('accessTokenClaims()', (async () => read(question))()))
}

/**
 * Returns the claims as they will be read from the token.
 * @throws InvalidAddedClaims (a TypeError) that names the invalid claim
 */
function checkedClaims(claims: unknown): AddedClaims {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) {
    throw new InvalidAddedClaims('accessTokenClaims: give an object, such as { tenant: "t1" }.')
  }
  const reserved = Object.keys(claims).find(isReservedClaim)
  if (reserved !== undefined) {
    throw new InvalidAddedClaims(
      `accessTokenClaims: '${reserved}' is reserved for the server. Choose another name, e.g. 'https://api.example.com/${reserved}'.`,
    )
  }
  const json = toJson(claims)
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_BYTES) {
    throw new InvalidAddedClaims(
      `accessTokenClaims: the claims have ${bytes} bytes, but a token that fits into a header has room for only ${MAX_BYTES}.`,
    )
  }
  return JSON.parse(json)
}

function toJson(claims: object): string {
  try {
    return JSON.stringify(claims)
  } catch (cause) {
    throw new InvalidAddedClaims('accessTokenClaims: these claims cannot be written as JSON.', {
      cause,
    })
  }
}

/**
 * Thrown if the claims from the option `accessTokenClaims` are invalid: a mistake in the code of
 * the application, not an outage.
 */
export class InvalidAddedClaims extends TypeError {}
