import { resourcesFor, scopeLimitOf } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidGrant, InvalidScope } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import {
  assertKnownThere,
  knownThere,
  readResources,
  resourcesOfOneToken,
} from '../../resources/requested.ts'
import type { Resources } from '../../resources/resources.ts'
import { parseScope } from '../../scopes.ts'
import type { Client } from '../../storage/records.ts'
import type { VerifiedAssertion } from './assertion.ts'

/** The client that asks for a token, and its request. */
export interface AskedShare {
  readonly client: Client
  readonly params: Form
}

export interface AssertedShare {
  readonly scopes: readonly string[]
  /** `null`: the API of the server itself. */
  readonly resources: readonly string[] | null
}

/** Decides what a token by this assertion is for: never more than the assertion, its issuer or the client may have. */
export function shareOfAssertion(
  assertion: VerifiedAssertion,
  { client, params }: AskedShare,
  context: ServerContext,
): AssertedShare {
  const { options } = context
  const resources = resourcesFor(client, targetsOf(assertion, params, context), options)
  const { resources: known, identityScopes } = options
  const asked = context.resolveScopes(params.get('scope'), client)
  const mayHave = limitOf(assertion)
  const refused = asked.find((name) => !mayHave(name))
  if (refused !== undefined) {
    throw new InvalidScope(`The scope '${refused}' is more than this assertion gives`)
  }
  if (asked.length > 0) {
    assertKnownThere(asked, resources, known, identityScopes)
    return { scopes: asked, resources }
  }
  const ofClient = scopeLimitOf(client, options)
  const all = assertion.settings.scopes.filter(
    (name) => mayHave(name) && (ofClient === null || ofClient.includes(name)),
  )
  return { scopes: knownThere(all, resources, known, identityScopes), resources }
}

/** The ceiling of the issuer and, if the assertion has one, its own `scope`. */
function limitOf({ claims, settings }: VerifiedAssertion): (name: string) => boolean {
  const { scope } = claims
  if (scope === undefined) return (name) => settings.scopes.includes(name)
  if (typeof scope !== 'string') throw new InvalidGrant('The scope of the assertion must be a text')
  const own = parseScope(scope)
  return (name) => settings.scopes.includes(name) && own.includes(name)
}

/** RFC 8707: those of the assertion, of which the request may name some. */
function targetsOf(
  { claims: { resource } }: VerifiedAssertion,
  params: Form,
  { options: { resources: known } }: ServerContext,
): readonly string[] | null {
  const named = readResources(params, known)
  const granted = resource === undefined ? named : readClaimed(resource, known)
  return granted && resourcesOfOneToken(granted, named, known)
}

function readClaimed(resource: unknown, known: Resources): readonly string[] | null {
  const uris: readonly unknown[] = [resource].flat()
  const isAddress = (uri: unknown) => typeof uri === 'string' && /^\S+$/.test(uri)
  if (uris.length === 0 || !uris.every(isAddress)) {
    throw new InvalidGrant('The resource of the assertion must be an address or a list of them')
  }
  return readResources(new Map([['resource', uris.join(' ')]]), known)
}
