import { InvalidScope, InvalidTarget } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'
import type { Resource, Resources } from './resources.ts'

/** RFC 8707 §2. The addresses that a request names; null where it names none. */
export function readResources(params: Form, known: Resources): readonly string[] | null {
  const text = params.get('resource')
  if (text === undefined) return null
  // http/form.ts has put a blank between those that were sent one by one.
  const uris = [...new Set(text.split(' ').map(asKnown(known)))]
  if (uris.every((uri) => findResource(uri, known) !== null)) return uris
  throw new InvalidTarget('The resource is not one that this server issues tokens for')
}

/** RFC 8693 §2.1: APIs may be named by `resource`, by `audience`, or by both. Null where none is. */
export function readTargets(params: Form, known: Resources): readonly string[] | null {
  const names = params.get('audience')?.split(' ') ?? []
  const ofAudiences = names.map((name) => addressOf(name, known))
  const all = [...ofAudiences, ...(params.get('resource')?.split(' ') ?? [])]
  return all.length === 0 ? null : readResources(new Map([['resource', all.join(' ')]]), known)
}

function addressOf(audience: string, { own, others }: Resources): string {
  const found = [own, ...others.values()].find((each) => each.audience === audience)
  // An address is one too, and what is neither is refused with it.
  return found?.uri ?? audience
}

/** Clients write an address as they like: with a slash after a bare host, or the host in capital letters. */
function asKnown(known: Resources): (uri: string) => string {
  const isKnown = (uri: string) => findResource(uri, known) !== null
  return (uri) => {
    if (isKnown(uri) || !URL.canParse(uri)) return uri
    const { href } = new URL(uri)
    return [uri.replace(/\/$/, ''), href, href.replace(/\/$/, '')].find(isKnown) ?? uri
  }
}

/** Null for one that this server does not know (any more): it must never be taken for another. */
export function findResource(uri: string, { own, others }: Resources): Resource | null {
  return others.get(uri) ?? (uri === own.uri ? own : null)
}

/** Tells whether one token can be written for both: in one format, with one algorithm and one `typ`. */
function takesSameTokens(one: Resource, other: Resource): boolean {
  return (
    one.format === other.format &&
    one.algorithm === other.algorithm &&
    one.tokenType === other.tokenType
  )
}

/**
 * Lists the APIs that one token is for. People may approve APIs that take different tokens together; each of their
 * tokens is written for APIs of one kind. A request that names no API gets a token for those like the first.
 */
export function resourcesOfOneToken(
  granted: readonly string[],
  requested: readonly string[] | null,
  known: Resources,
): readonly string[] {
  const uris = narrowResources(granted, requested)
  const [first, ...others] = uris.flatMap((uri) => findResource(uri, known) ?? [])
  if (!first || others.every((each) => takesSameTokens(first, each))) return uris
  if (requested !== null) {
    throw new InvalidTarget('These resources take different tokens; ask for one at a time')
  }
  return uris.filter((uri) => {
    const resource = findResource(uri, known)
    return resource !== null && takesSameTokens(first, resource)
  })
}

/** RFC 8707 §2.2: a token request may name some of what was granted, never more. */
function narrowResources(
  granted: readonly string[],
  requested: readonly string[] | null,
): readonly string[] {
  if (requested === null) return granted
  if (requested.every((uri) => granted.includes(uri))) return requested
  throw new InvalidTarget('The resource was not named when access was granted')
}

/** Of a grant, those that are still there. Where none are written down it is for the server's own. */
export function grantedResources(
  { details }: Pick<Token, 'details'>,
  known: Resources,
): readonly string[] {
  const uris = details?.resources ?? [known.own.uri]
  return uris.filter((uri) => findResource(uri, known) !== null)
}

/** Whether a request or grant is for another API than the server's own. */
export function isElsewhere(details: GrantDetails | null): boolean {
  return details?.resources !== undefined
}

/** What is written down of them: nothing, where it is the server's own as usual. */
export function resourceDetails(
  uris: readonly string[] | null,
  { own }: Resources,
): Pick<GrantDetails, 'resources'> | null {
  return uris === null || (uris.length === 1 && uris[0] === own.uri) ? null : { resources: uris }
}

/** A scope that none of the APIs knows would be worth nothing, or would mean something else there. */
export function assertKnownThere(
  scopes: readonly string[],
  uris: readonly string[] | null,
  known: Resources,
  identityScopes: ReadonlySet<string>,
): void {
  const there = knownThere(scopes, uris, known, identityScopes)
  if (there.length === scopes.length) return
  const unknown = scopes.find((name) => !there.includes(name))
  throw new InvalidScope(`The scope '${unknown}' means nothing to the resource asked for`)
}

/** Those that one of the APIs knows; null: the server's own. What is about the person counts everywhere. */
export function knownThere(
  scopes: readonly string[],
  uris: readonly string[] | null | undefined,
  known: Resources,
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
