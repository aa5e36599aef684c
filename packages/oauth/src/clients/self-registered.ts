import { isAfter } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { InvalidTarget, isOAuthError } from '../errors.ts'
import { floorToSecond } from '../lifetimes.ts'
import { ticketQuotas } from '../limits/policies.ts'
import type { ResolvedOptions } from '../options.ts'
import type { SelfRegistration } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { createUnusedClientTicket, type UnusedClient } from '../storage/tickets.ts'
import { type ClientFields, changeClient } from './save.ts'

/**
 * Rules for self-registered clients. The operator has not reviewed them, so users are always asked
 * for consent, access tokens are short-lived, and unused clients are deleted.
 */

const MAX_ACCESS_LIFETIME = 3600 * 1000

/**
 * Grant types that self-registered clients may have, if the server offers them. Grants without
 * approval by a user, such as client credentials, are not included.
 */
export const selfRegisteredGrants: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
]

/**
 * Returns the scopes that a client may request, or `null` if it may request every defined scope.
 * Self-registered clients are also limited to the option `selfRegistered.scopes`.
 */
export function findScopeLimit(
  { scopes, settings }: Client,
  { selfRegisteredScopes }: Pick<ResolvedOptions, 'selfRegisteredScopes'>,
): readonly string[] | null {
  if (settings.self_registered === undefined) return scopes
  return [...selfRegisteredScopes].filter((name) => scopes === null || scopes.includes(name))
}

/**
 * Returns the URLs of the APIs that a client's request is for. `null` for the server's own API.
 * Rejects requests of self-registered clients for APIs that the option `selfRegistered.resources`
 * does not list.
 * @throws InvalidTarget if a named API is not open to the client, or if none is named and several
 * are open
 */
export function resolveClientResources(
  client: Client,
  requestedUris: readonly string[] | null,
  options: Pick<ResolvedOptions, 'selfRegisteredResources' | 'resources'>,
): readonly string[] | null {
  const { selfRegisteredResources: open, resources } = options
  if (open === null || client.settings.self_registered === undefined) return requestedUris
  if (requestedUris?.every((uri) => mayAccessResource(client, uri, options))) return requestedUris
  if (requestedUris)
    throw new InvalidTarget('Self-registered clients cannot get tokens for this resource')
  if (open.has(resources.own.uri)) return null
  const [only, ...others] = open
  if (only !== undefined && others.length === 0) return [only]
  throw new InvalidTarget("The parameter 'resource' is missing: name the API that the token is for")
}

/**
 * Whether the client may currently get tokens for this API. Only self-registered clients are
 * limited, by the option `selfRegistered.resources`.
 */
export function mayAccessResource(
  { settings }: Client,
  uri: string,
  { selfRegisteredResources: open }: Pick<ResolvedOptions, 'selfRegisteredResources'>,
): boolean {
  return open === null || settings.self_registered === undefined || open.has(uri)
}

/**
 * Returns the granted scopes that the client may still have. Since they were granted, the operator
 * may have limited the scopes of the client, or those open to self-registered clients. One of them
 * may also have become a machine scope, which no user can grant.
 */
export function filterAllowedScopes(
  scopes: readonly string[],
  client: Client,
  options: Pick<ResolvedOptions, 'selfRegisteredScopes' | 'machineScopeNames'>,
): readonly string[] {
  const limit = findScopeLimit(client, options)
  const { machineScopeNames } = options
  if (limit === null && machineScopeNames.size === 0) return scopes
  return scopes.filter(
    (name) => (limit === null || limit.includes(name)) && !machineScopeNames.has(name),
  )
}

/** Whether the client registered itself and the operator has not verified it. */
export function isUnverifiedSelfRegistered({ settings }: Client): boolean {
  return settings.self_registered !== undefined && settings.self_registered.verified !== true
}

/**
 * Whether the operator registered or verified the client. Clients that registered themselves or
 * that a user registered are unverified until `clients.verify()`.
 */
export function isVerifiedClient({ firstParty, userId, settings }: Client): boolean {
  if (firstParty) return true
  if (settings.self_registered) return settings.self_registered.verified === true
  return userId === null || settings.verified === true
}

/**
 * Limits the expiry `end` of an access token to one hour from `now` if the client registered
 * itself. Returns `end` unchanged for other clients.
 */
export function limitSelfRegisteredExpiry({ settings }: Client, end: Date, now: Date): Date {
  if (settings.self_registered === undefined) return end
  const latest = floorToSecond(now.getTime() + MAX_ACCESS_LIFETIME)
  return isAfter(end, latest) ? latest : end
}

/**
 * Removes the mark that the operator has verified a self-registered client. Called when the client
 * changes, because the verification applied to its previous state.
 */
export function withoutVerification({
  verified: _,
  ...registration
}: SelfRegistration): SelfRegistration {
  return registration
}

export function isUnusedClient({ settings }: Client): boolean {
  return settings.self_registered?.unused_until !== undefined
}

/**
 * Stores a self-registered client that is deleted at `unused_until` if it was not used by then.
 * Returns `null` if the id of the client is taken.
 */
export async function createUnusedClient(
  client: Client,
  registration: SelfRegistration & { readonly unused_until: number },
  context: ServerContext,
): Promise<Client | null> {
  const settings = { ...client.settings, self_registered: registration }
  const unused = { ...client, settings }
  // Must come first: without its ticket, an unused client would never be found and deleted.
  await trackUnusedClient({ clientId: client.id, until: registration.unused_until }, context)
  return (await context.storage.clients.create(unused)) ? unused : null
}

/**
 * Counts a new self-registered client against the quota of unused clients per network, until the
 * client is used or deleted.
 */
export async function trackUnusedClient(
  unused: UnusedClient,
  { resources, network }: ServerContext,
): Promise<void> {
  await resources.add(createUnusedClientTicket(unused), ticketQuotas.unusedClients, network)
}

/**
 * Records that a self-registered client was used: a user approved it, or it got a token. The client
 * is then no longer deleted as unused, nor counted for its network. Returns `false` if the client
 * no longer exists.
 */
export async function markClientUsed(client: Client, context: ServerContext): Promise<boolean> {
  const until = client.settings.self_registered?.unused_until
  try {
    // Reads the client from the store, because the cached one may be outdated.
    await changeClient(client.id, withoutUnusedUntil, context)
    if (until !== undefined) {
      await context.storage.tickets.take(
        createUnusedClientTicket({ clientId: client.id, until }).hash,
      )
    }
    return true
  } catch (error) {
    if (!isOAuthError(error, 'not_found')) throw error
    return false
  }
}

function withoutUnusedUntil({ settings }: Client): ClientFields | null {
  const { self_registered, ...others } = settings
  if (self_registered?.unused_until === undefined) return null
  const { unused_until: _, ...registration } = self_registered
  return { settings: { ...others, self_registered: registration } }
}
