import { findScopeLimit, resolveClientResources } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidGrant, InvalidScope } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import {
  assertScopesKnown,
  chooseTokenResources,
  filterKnownScopes,
  readResources,
} from '../../resources/requested.ts'
import type { ResourceServers } from '../../resources/resources.ts'
import { parseScope } from '../../scopes.ts'
import type { Client } from '../../storage/records.ts'
import type { VerifiedAssertion } from './assertion.ts'

/** The client that requests a token, and the parameters of its request. */
export interface AssertionTokenRequest {
  readonly client: Client
  readonly params: Form
}

export interface AssertionTokenAccess {
  readonly scopes: readonly string[]
  /** URLs of the APIs that the new token is for. `null` for the server's own API. */
  readonly resources: readonly string[] | null
}

/**
 * Determines the scopes and APIs of a token that is issued for an assertion: never more than the
 * assertion, the settings of its issuer and those of the client allow.
 */
export function determineAccessFromAssertion(
  assertion: VerifiedAssertion,
  { client, params }: AssertionTokenRequest,
  context: ServerContext,
): AssertionTokenAccess {
  const { options } = context
  const resources = resolveClientResources(
    client,
    chooseAssertionResources(assertion, params, context),
    options,
  )
  const { resources: known, identityScopes } = options
  const requestedScopes = context.resolveScopes(params.get('scope'), client)
  const mayHave = createScopeFilter(assertion)
  const refused = requestedScopes.find((name) => !mayHave(name))
  if (refused !== undefined) {
    throw new InvalidScope(`The scope '${refused}' is not allowed by this assertion`)
  }
  if (requestedScopes.length > 0) {
    assertScopesKnown(requestedScopes, resources, known, identityScopes)
    return { scopes: requestedScopes, resources }
  }
  const ofClient = findScopeLimit(client, options)
  const all = assertion.settings.scopes.filter(
    (name) => mayHave(name) && (ofClient === null || ofClient.includes(name)),
  )
  return { scopes: filterKnownScopes(all, resources, known, identityScopes), resources }
}

/**
 * Returns a function that tells whether a scope is within the limit of the issuer and, if present,
 * within the `scope` claim of the assertion.
 */
function createScopeFilter({ claims, settings }: VerifiedAssertion): (name: string) => boolean {
  const { scope } = claims
  if (scope === undefined) return (name) => settings.scopes.includes(name)
  if (typeof scope !== 'string')
    throw new InvalidGrant('The scope of the assertion must be a string')
  const own = parseScope(scope)
  return (name) => settings.scopes.includes(name) && own.includes(name)
}

/** Returns the APIs of the assertion, or only those that the request names (RFC 8707). */
function chooseAssertionResources(
  { claims: { resource } }: VerifiedAssertion,
  params: Form,
  { options: { resources: known } }: ServerContext,
): readonly string[] | null {
  const named = readResources(params, known)
  const granted = resource === undefined ? named : readResourceClaim(resource, known)
  return granted && chooseTokenResources(granted, named, known)
}

function readResourceClaim(resource: unknown, known: ResourceServers): readonly string[] | null {
  const uris: readonly unknown[] = [resource].flat()
  const isAddress = (uri: unknown) => typeof uri === 'string' && /^\S+$/.test(uri)
  if (uris.length === 0 || !uris.every(isAddress)) {
    throw new InvalidGrant('The resource of the assertion must be a URI or a list of URIs')
  }
  return readResources(new Map([['resource', uris.join(' ')]]), known)
}
