import {
  filterAllowedScopes,
  findScopeLimit,
  mayAccessResource,
  resolveClientResources,
} from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { InvalidGrant } from '../errors.ts'
import type { Form } from '../http/form.ts'
import {
  assertScopesKnown,
  buildResourceDetails,
  chooseTokenResources,
  filterKnownScopes,
  listGrantedResources,
  readResources,
} from '../resources/requested.ts'
import { narrowScopes } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Token } from '../storage/records.ts'
import type { TokenAccess } from '../tokens/formats/format.ts'

/**
 * Returns the scopes that the request names. If it names none, returns the default scopes (RFC 6749
 * §3.3) that the client may have and the requested APIs know.
 */
export function withDefaultScopes(
  requestedScopeNames: readonly string[],
  { client, params }: { readonly client: Client; readonly params: Form },
  { options }: Pick<ServerContext, 'options'>,
): readonly string[] {
  const { defaultScopes, resources, identityScopes } = options
  if (requestedScopeNames.length > 0 || defaultScopes.length === 0) return requestedScopeNames
  const limit = findScopeLimit(client, options)
  const own = defaultScopes.filter((name) => limit === null || limit.includes(name))
  const uris = resolveClientResources(client, readResources(params, resources), options)
  return filterKnownScopes(own, uris, resources, identityScopes)
}

/**
 * Returns the details to store for the APIs that a request to the token endpoint names
 * (`resource`). `null` for the server's own API.
 */
export function readResourceDetails(
  params: Form,
  scopes: readonly string[],
  { options: { resources, identityScopes } }: ServerContext,
): GrantDetails | null {
  const requested = readResources(params, resources)
  if (requested !== null) chooseTokenResources(requested, requested, resources)
  assertScopesKnown(scopes, requested, resources, identityScopes)
  return buildResourceDetails(requested, resources)
}

/** A client's request for a token with all or some of the scopes and APIs of a grant. */
export interface TokenAccessRequest {
  readonly client: Client
  readonly params: Form
  /** The requested scopes; empty for all. */
  readonly scopes: readonly string[]
}

/**
 * Determines the scopes and APIs of the next access token of a grant: all that were granted and are
 * still available, or only the requested ones among them.
 */
export function determineAccessFromGrant(
  granted: Pick<Token, 'scopes' | 'details'>,
  { client, params, scopes: requested }: TokenAccessRequest,
  context: ServerContext,
): TokenAccess {
  const { options } = context
  const { resources: known, identityScopes } = options
  const resources = chooseGrantedResources(granted, { client, params }, context)
  const left = filterAllowedScopes(granted.scopes, client, options)
  if (requested.length === 0) {
    return { scopes: filterKnownScopes(left, resources, known, identityScopes), resources }
  }
  const scopes = narrowScopes(left, requested, identityScopes)
  assertScopesKnown(scopes, resources ?? null, known, identityScopes)
  return { scopes, resources }
}

function chooseGrantedResources(
  granted: Pick<Token, 'details'>,
  { client, params }: Pick<TokenAccessRequest, 'client' | 'params'>,
  { options }: ServerContext,
): readonly string[] | undefined {
  const { resources } = options
  const requested = readResources(params, resources)
  const open = listGrantedResources(granted, resources).filter((uri) =>
    mayAccessResource(client, uri, options),
  )
  // Clients start a new authorization on `invalid_grant`; on any other error they would be stuck.
  if (open.length === 0)
    throw new InvalidGrant('This client can no longer access any of the granted resources')
  return buildResourceDetails(chooseTokenResources(open, requested, resources), resources)
    ?.resources
}
