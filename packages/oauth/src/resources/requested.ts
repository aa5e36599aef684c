import { InvalidScope, InvalidTarget } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'
import type { ResourceServer, ResourceServers } from './resources.ts'

/**
 * Reads the resource URIs that a request names (RFC 8707 §2). `null` if it names none.
 * @throws InvalidTarget if one of them is unknown
 */
export function readResources(params: Form, known: ResourceServers): readonly string[] | null {
  const text = params.get('resource')
  if (text === undefined) return null
  // The form parser has joined repeated parameters with spaces.
  const uris = [...new Set(text.split(' ').map(toKnownUri(known)))]
  if (uris.every((uri) => findResource(uri, known) !== null)) return uris
  throw new InvalidTarget('This server does not issue tokens for this resource')
}

/**
 * Reads the APIs named by `resource`, `audience` or both (RFC 8693 §2.1). `null` if the request
 * names none.
 * @throws InvalidTarget if one of them is unknown
 */
export function readTargetResources(
  params: Form,
  known: ResourceServers,
): readonly string[] | null {
  const names = params.get('audience')?.split(' ') ?? []
  const ofAudiences = names.map((name) => uriOfAudience(name, known))
  const all = [...ofAudiences, ...(params.get('resource')?.split(' ') ?? [])]
  return all.length === 0 ? null : readResources(new Map([['resource', all.join(' ')]]), known)
}

function uriOfAudience(audience: string, { own, others }: ResourceServers): string {
  const found = [own, ...others.values()].find((each) => each.audience === audience)
  // The audience may be a resource URI itself. If it is neither, `readResources()` rejects it.
  return found?.uri ?? audience
}

/**
 * Normalizes a URI to a known one, because clients write URIs with a trailing slash or an
 * upper-case host.
 */
function toKnownUri(known: ResourceServers): (uri: string) => string {
  const isKnown = (uri: string) => findResource(uri, known) !== null
  return (uri) => {
    if (isKnown(uri) || !URL.canParse(uri)) return uri
    const { href } = new URL(uri)
    return [uri.replace(/\/$/, ''), href, href.replace(/\/$/, '')].find(isKnown) ?? uri
  }
}

/** Finds an API by its URI. `null` if the server does not know the API, or no longer knows it. */
export function findResource(uri: string, { own, others }: ResourceServers): ResourceServer | null {
  return others.get(uri) ?? (uri === own.uri ? own : null)
}

/**
 * Whether one token can be valid for both APIs, because they use the same format, algorithm and
 * `typ`.
 */
function acceptsSameTokens(one: ResourceServer, other: ResourceServer): boolean {
  return (
    one.format === other.format &&
    one.algorithm === other.algorithm &&
    one.tokenType === other.tokenType
  )
}

/**
 * Chooses which of the granted APIs one access token is for. APIs with different token formats
 * cannot share a token. If the request names no API, returns the first granted API and those with
 * the same kind of token.
 * @throws InvalidTarget if the requested APIs were not granted or need different kinds of tokens
 */
export function chooseTokenResources(
  granted: readonly string[],
  requested: readonly string[] | null,
  known: ResourceServers,
): readonly string[] {
  const uris = narrowResources(granted, requested)
  const [first, ...others] = uris.flatMap((uri) => findResource(uri, known) ?? [])
  if (!first || others.every((each) => acceptsSameTokens(first, each))) return uris
  if (requested !== null) {
    throw new InvalidTarget('These resources need different tokens; request one resource at a time')
  }
  return uris.filter((uri) => {
    const resource = findResource(uri, known)
    return resource !== null && acceptsSameTokens(first, resource)
  })
}

/** Limits the granted APIs to the requested ones, which must be among them (RFC 8707 §2.2). */
function narrowResources(
  granted: readonly string[],
  requested: readonly string[] | null,
): readonly string[] {
  if (requested === null) return granted
  if (requested.every((uri) => granted.includes(uri))) return requested
  throw new InvalidTarget('The resource is not part of the granted access')
}

/**
 * Returns the APIs of a grant that still exist. A grant without any is for the server's own API.
 */
export function listGrantedResources(
  { details }: Pick<Token, 'details'>,
  known: ResourceServers,
): readonly string[] {
  const uris = details?.resources ?? [known.own.uri]
  return uris.filter((uri) => findResource(uri, known) !== null)
}

/** Whether a request or grant is for named APIs, rather than only for the server's own. */
export function isForNamedResources(details: GrantDetails | null): boolean {
  return details?.resources !== undefined
}

/** Returns the APIs to store with a grant. `null` if the grant is for the server's own API only. */
export function buildResourceDetails(
  uris: readonly string[] | null,
  { own }: ResourceServers,
): Pick<GrantDetails, 'resources'> | null {
  return uris === null || (uris.length === 1 && uris[0] === own.uri) ? null : { resources: uris }
}

/**
 * Checks that each scope is known to at least one of the APIs (`uris`; `null` for the server's own
 * API). Identity scopes such as `openid` are always accepted.
 * @throws InvalidScope if none of the APIs knows one of the scopes
 */
export function assertScopesKnown(
  scopes: readonly string[],
  uris: readonly string[] | null,
  known: ResourceServers,
  identityScopes: ReadonlySet<string>,
): void {
  const there = filterKnownScopes(scopes, uris, known, identityScopes)
  if (there.length === scopes.length) return
  const unknown = scopes.find((name) => !there.includes(name))
  throw new InvalidScope(`The requested resource does not support the scope '${unknown}'`)
}

/**
 * Returns those scopes that at least one of the APIs knows (`uris`; `null` for the server's own
 * API). Identity scopes such as `openid` are always included.
 */
export function filterKnownScopes(
  scopes: readonly string[],
  uris: readonly string[] | null | undefined,
  known: ResourceServers,
  identityScopes: ReadonlySet<string>,
): readonly string[] {
  if (!uris && known.own.scopes === null) return scopes
  const lists = (uris ?? [known.own.uri]).map((uri) => {
    const resource = findResource(uri, known)
    return resource ? resource.scopes : []
  })
  if (lists.includes(null)) return scopes
  const all = new Set(lists.flatMap((list) => list ?? []))
  return scopes.filter((name) => all.has(name) || identityScopes.has(name))
}
