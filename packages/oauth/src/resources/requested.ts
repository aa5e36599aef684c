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
  for (const uri of uris) {
    if (uri !== known.own.uri && !known.others.has(uri)) {
      throw new InvalidTarget('The resource is not one that this server issues tokens for')
    }
  }
  assertAlike(uris.map((uri) => resourceOf(uri, known)))
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
function asKnown({ own, others }: Resources): (uri: string) => string {
  const isKnown = (uri: string) => uri === own.uri || others.has(uri)
  return (uri) => {
    if (isKnown(uri) || !URL.canParse(uri)) return uri
    const { href } = new URL(uri)
    return [uri.replace(/\/$/, ''), href, href.replace(/\/$/, '')].find(isKnown) ?? uri
  }
}

export function resourceOf(uri: string, { own, others }: Resources): Resource {
  return others.get(uri) ?? own
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

/** Of a grant. Those that have none written down are for the server's own. */
export function grantedResources(
  { details }: Pick<Token, 'details'>,
  { own }: Resources,
): readonly string[] {
  return details?.resources ?? [own.uri]
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
  if (uris === null) return
  const lists = uris.map((uri) => resourceOf(uri, known).scopes)
  if (lists.includes(null)) return
  const all = new Set(lists.flatMap((list) => list ?? []))
  const unknown = scopes.find((name) => !all.has(name) && !identityScopes.has(name))
  if (unknown === undefined) return
  throw new InvalidScope(`The scope '${unknown}' means nothing to the resource asked for`)
}
