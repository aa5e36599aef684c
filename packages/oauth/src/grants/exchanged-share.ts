import type { ServerContext } from '../context.ts'
import { InvalidRequest, InvalidScope, InvalidTarget, isOAuthError } from '../errors.ts'
import type { VerifiedToken } from '../guard/verify.ts'
import type { Form } from '../http/form.ts'
import {
  assertScopesKnown,
  chooseTokenResources,
  filterKnownScopes,
  findResource,
  listGrantedResources,
  readTargetResources,
} from '../resources/requested.ts'
import { holdsScope, parseScope, resolveScopes, WILDCARD_SCOPE } from '../scopes.ts'
import type { Client, Token } from '../storage/records.ts'
import { isForAudience } from '../tokens/formats/claims.ts'

/** A valid access token presented for token exchange, and its stored row. */
export interface PresentedToken {
  readonly verified: VerifiedToken
  readonly row: Token
}

export async function verifyPresentedToken(
  text: string,
  name: string,
  context: ServerContext,
): Promise<PresentedToken> {
  const refused = (cause?: unknown) =>
    new InvalidRequest(`The ${name} is not a valid access token of this server`, { cause })
  const verified = await context.verifyAccessToken(text).catch((error) => {
    throw isOAuthError(error, 'invalid_token') ? refused(error) : error
  })
  const row = await context.storage.tokens.find(verified.tokenId)
  if (!row || row.revokedAt) throw refused()
  return { verified, row }
}

export interface ExchangedTokenAccess {
  readonly scopes: readonly string[]
  /** URLs of the APIs that the new token is for. */
  readonly resources: readonly string[]
}

/**
 * Determines the scopes and APIs of a token that is issued by token exchange: the requested ones,
 * or all that are allowed. Never more than the presented token has.
 */
export function determineAccessFromSubjectToken(
  presentedSubjectToken: PresentedToken,
  { client, params }: { readonly client: Client; readonly params: Form },
  context: ServerContext,
): ExchangedTokenAccess {
  const resources = chooseExchangedResources(presentedSubjectToken, params, context)
  const requested = parseScope(params.get('scope'))
  const scopes =
    requested.length > 0
      ? requireHeldScopes(requested, presentedSubjectToken.verified, { client, resources }, context)
      : allowedScopes(presentedSubjectToken.verified, { client, resources }, context)
  return { scopes, resources }
}

/** Reads the APIs from the token rather than from its row: the token may be for fewer of them. */
function chooseExchangedResources(
  { verified, row }: PresentedToken,
  params: Form,
  context: ServerContext,
) {
  const known = context.options.resources
  const granted = listGrantedResources(row, known).filter((uri) => {
    const resource = findResource(uri, known)
    return resource !== null && isForAudience(resource.audience, verified.claims)
  })
  const share = chooseTokenResources(granted, readTargetResources(params, known), known)
  if (share.length > 0) return share
  throw new InvalidTarget('The subject_token is not for any resource of this server')
}

type ExchangeTarget = { readonly client: Client; readonly resources: readonly string[] }

function requireHeldScopes(
  requested: readonly string[],
  { scopes }: VerifiedToken,
  { client, resources }: ExchangeTarget,
  { options }: ServerContext,
): readonly string[] {
  const { identityScopes, scopeNames: defined } = options
  const policy = { defined, client: client.scopes, wildcard: 'refused' } as const
  for (const name of resolveScopes(requested, policy)) {
    if (identityScopes.has(name)) {
      throw new InvalidScope(
        `The scope '${name}' needs a sign-in of the user, so a token exchange cannot grant it`,
      )
    }
    if (!holdsScope(scopes, name)) {
      throw new InvalidScope(`The subject_token does not hold the scope '${name}'`)
    }
  }
  assertScopesKnown(requested, resources, options.resources, identityScopes)
  return requested
}

/**
 * Returns the scopes that may be passed on: without `*`, which only the password grant issues,
 * without scopes about the person, and without machine scopes.
 */
function allowedScopes(
  { scopes }: VerifiedToken,
  { client, resources }: ExchangeTarget,
  { options }: ServerContext,
): readonly string[] {
  const { resources: known, identityScopes, machineScopeNames } = options
  const mayHave = (name: string) => client.scopes === null || client.scopes.includes(name)
  return filterKnownScopes(scopes, resources, known, identityScopes).filter(
    (name) =>
      name !== WILDCARD_SCOPE &&
      !identityScopes.has(name) &&
      !machineScopeNames.has(name) &&
      mayHave(name),
  )
}
