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
  const found = uris.map((uri) => {
    const resource = findResource(uri, known)
    if (resource) return resource
    throw new InvalidTarget('The resource is not one that this server issues tokens for')
  })
  assertAlike(found)
  return uris
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

/** One token cannot have two formats. */
function assertAlike([first, ...others]: readonly Resource[]): void {
  const differs = others.some(
    (each) =>
      each.format !== first?.format ||
      each.algorithm !== first.algorithm ||
      each.tokenType !== first.tokenType,
  )
  if (differs) {
    throw new InvalidTarget('These resources take different tokens; ask for one at a time')
  }
}

/** RFC 8707 §2.2: a token request may name some of what was granted, never more. */
export function narrowResources(
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
