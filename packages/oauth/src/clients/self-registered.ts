/**
 * The rules for clients that came here by themselves: nobody has looked at them, so people are always asked, their
 * access tokens are short, and they go when nobody uses them.
 */
import { isAfter } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { InvalidTarget, isOAuthError } from '../errors.ts'
import { wholeSecond } from '../lifetimes.ts'
import { shares } from '../limits/policies.ts'
import type { ResolvedOptions } from '../options.ts'
import type { SelfRegistration } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'
import { type UnusedClient, unusedTicket } from '../storage/unused-client.ts'
import { type ClientFields, changeClient } from './save.ts'

const LONGEST_ACCESS = 3600 * 1000

/** The grants that they may have, if the server offers them. None where the client alone decides what it gets. */
export const selfRegisteredGrants: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
]

/** What a client may ask for; null: any defined scope. Of its own scopes a stranger gets those marked today. */
export function scopeLimitOf(
  { scopes, settings }: Client,
  { selfRegisteredScopes }: Pick<ResolvedOptions, 'selfRegisteredScopes'>,
): readonly string[] | null {
  if (settings.self_registered === undefined) return scopes
  return [...selfRegisteredScopes].filter((name) => scopes === null || scopes.includes(name))
}

/**
 * For which APIs a request of this client is; null: for the server's own. Where only some are open to strangers, a
 * token for another would be let in wherever no scope is asked for.
 */
export function resourcesFor(
  client: Client,
  named: readonly string[] | null,
  options: Pick<ResolvedOptions, 'selfRegisteredResources' | 'resources'>,
): readonly string[] | null {
  const { selfRegisteredResources: open, resources } = options
  if (open === null || client.settings.self_registered === undefined) return named
  if (named?.every((uri) => mayReach(client, uri, options))) return named
  if (named) throw new InvalidTarget('Clients that registered themselves get no token for it')
  if (open.has(resources.own.uri)) return null
  const [only, ...others] = open
  if (only !== undefined && others.length === 0) return [only]
  throw new InvalidTarget("Name what the token is for: the parameter 'resource' is missing")
}

/** Whether it may have tokens for this API today. */
export function mayReach(
  { settings }: Client,
  uri: string,
  { selfRegisteredResources: open }: Pick<ResolvedOptions, 'selfRegisteredResources'>,
): boolean {
  return open === null || settings.self_registered === undefined || open.has(uri)
}

/** What is left of what it was granted: a stranger keeps only what is marked today. */
export function stillGranted(
  scopes: readonly string[],
  client: Client,
  options: Pick<ResolvedOptions, 'selfRegisteredScopes'>,
): readonly string[] {
  if (client.settings.self_registered === undefined) return scopes
  const limit = scopeLimitOf(client, options) ?? []
  return scopes.filter((name) => limit.includes(name))
}

/** It came by itself, and nobody here vouches for it. */
export function isStranger({ settings }: Client): boolean {
  return settings.self_registered !== undefined && settings.self_registered.verified !== true
}

/**
 * Whether those who run this server have registered the client or vouch for it. Nobody has looked at one that came by
 * itself or that a person has registered, until `clients.verify()`.
 */
export function isVerified({ firstParty, userId, settings }: Client): boolean {
  if (firstParty) return true
  if (settings.self_registered) return settings.self_registered.verified === true
  return userId === null || settings.verified === true
}

/** When its access tokens end at the latest. */
export function latestFor({ settings }: Client, end: Date, now: Date): Date {
  if (settings.self_registered === undefined) return end
  const latest = wholeSecond(now.getTime() + LONGEST_ACCESS)
  return isAfter(end, latest) ? latest : end
}

/** Somebody has vouched for what it was before. */
export function unverified({ verified: _, ...registration }: SelfRegistration): SelfRegistration {
  return registration
}

export function isUnused({ settings }: Client): boolean {
  return settings.self_registered?.unused_until !== undefined
}

/** Stores a client that goes when it is not used until then. Null when its id is taken. */
export async function createUnused(
  client: Client,
  registration: SelfRegistration & { readonly unused_until: number },
  context: ServerContext,
): Promise<Client | null> {
  const settings = { ...client.settings, self_registered: registration }
  const unused = { ...client, settings }
  // First: without it the row would never be found again once it is over.
  await keepUnused({ clientId: client.id, until: registration.unused_until }, context)
  return (await context.storage.clients.create(unused)) ? unused : null
}

/** Counts the client among the unused ones of the network that it came from, until then. */
export async function keepUnused(
  unused: UnusedClient,
  { resources, network }: ServerContext,
): Promise<void> {
  await resources.add(unusedTicket(unused), shares.unusedClients, network)
}

/**
 * Somebody approves it, or has got a token by it: it stays, and takes no share of its network any more. False when it is
 * gone.
 */
export async function markUsed(client: Client, context: ServerContext): Promise<boolean> {
  const until = client.settings.self_registered?.unused_until
  try {
    // What is remembered may be older than its last change.
    await changeClient(client.id, withoutEnd, context)
    if (until !== undefined) {
      await context.storage.tickets.take(unusedTicket({ clientId: client.id, until }).hash)
    }
    return true
  } catch (error) {
    if (!isOAuthError(error, 'not_found')) throw error
    return false
  }
}

function withoutEnd({ settings }: Client): ClientFields | null {
  const { self_registered, ...others } = settings
  if (self_registered?.unused_until === undefined) return null
  const { unused_until: _, ...registration } = self_registered
  return { settings: { ...others, self_registered: registration } }
}
