import { type Clock, isAfter, systemClock } from '../clock.ts'
import { createRandomSecret } from '../crypto.ts'
import { createMemoryLimits } from './memory-limits.ts'
import { createMemorySessions } from './memory-sessions.ts'
import { MemoryTokens } from './memory-tokens.ts'
import { mergeConsents } from './merge-consents.ts'
import {
  type AuthorizationCode,
  buildEndedEntry,
  type Client,
  type Consent,
  FEED_RETENTION_MS,
  type Interaction,
  type NewRevocation,
  type Revocation,
  type StoredKey,
  type Ticket,
  type TokenSelector,
} from './records.ts'
import type { ActiveCounts, ClientPosition, Storage } from './repositories.ts'
import { createRotatedToken, listRevocationsByRotation } from './rotated-token.ts'
import { parseUnusedClient, UNUSED_CLIENT } from './tickets.ts'

/**
 * Stores the state of the server in memory, for tests and demos: a single process, and lost when it
 * ends. Fulfils the same contract as `kyselyStorage()`.
 *
 * `clock` is the clock of the store, which the revocation feed uses as it would use a database's.
 * @example
 * ```ts
 * const oauth = createAuthorizationServer({ ...options, storage: memoryStorage() })
 * ```
 */
export function memoryStorage({ clock = systemClock }: { readonly clock?: Clock } = {}): Storage {
  const clients = new Map<string, Client>()
  const clientUses = new Map<string, Date>()
  const tokens = new MemoryTokens()
  const codes = new Map<string, AuthorizationCode>()
  const interactions = new Map<string, Interaction>()
  const consents = new Map<string, Consent>()
  const tickets = new Map<string, Ticket>()
  const counted = createMemoryLimits()
  const participation = createMemorySessions()
  const keys = new Map<string, StoredKey>()
  let revocations: Revocation[] = []
  let lastRevocation = 0

  function append(entry: NewRevocation): void {
    lastRevocation += 1
    const own = { id: lastRevocation, mark: createRandomSecret(), writtenAt: clock.now() }
    revocations.push({ ...entry, ...own })
  }

  /** Whether an entry may be purged by the rules of RevocationRepository. */
  function isDeletable(before: Date): (entry: Revocation) => boolean {
    const retentionStart = clock.now().getTime() - FEED_RETENTION_MS
    const settled = revocations.findLast(({ writtenAt }) => +writtenAt <= retentionStart)
    const limit = Math.min(before.getTime(), retentionStart)
    return ({ id, until }) => id < (settled?.id ?? 0) && until.getTime() < limit
  }

  function countActive(at: Date): ActiveCounts {
    const living = tokens.all().filter((each) => !each.revokedAt && each.liveUntil > at)
    return {
      tokens: living.length,
      personalAccessTokens: living.filter((each) => each.grantType === 'personal_access').length,
      codes: [...codes.values()].filter((each) => !each.usedAt && each.expiresAt > at).length,
      interactions: [...interactions.values()].filter(
        (each) => !each.decidedAt && each.expiresAt > at,
      ).length,
      consents: consents.size,
    }
  }

  function dropTokens(before: Date, limit: number): number {
    const over = tokens.all().filter(({ liveUntil }) => liveUntil < before)
    const dropped = over.slice(0, limit)
    for (const { id } of dropped) tokens.delete(id)
    return dropped.length
  }

  /** Deletes a ticket and, for an `UNUSED_CLIENT` ticket, its client. */
  function dropTicket(ticket: Ticket): void {
    tickets.delete(ticket.hash)
    if (ticket.kind !== UNUSED_CLIENT) return
    const { clientId, until } = parseUnusedClient(ticket)
    const registration = clients.get(clientId)?.settings.self_registered
    if (registration?.unused_until !== until) return
    clients.delete(clientId)
    clientUses.delete(clientId)
  }

  function dropTickets(before: Date, limit: number): number {
    const over = [...tickets.values()].filter(({ expiresAt }) => expiresAt < before).slice(0, limit)
    for (const ticket of over) dropTicket(ticket)
    return over.length
  }

  const heldBy = (kind: string, holder: string) =>
    [...tickets.values()].filter((each) => each.kind === kind && each.holder === holder)

  function decide(hash: string, at: Date): boolean {
    const interaction = interactions.get(hash)
    if (!interaction || interaction.decidedAt || interaction.expiresAt <= at) return false
    interactions.set(hash, { ...interaction, decidedAt: at })
    return true
  }

  function deletePendingRequests(selector: TokenSelector): void {
    for (const pending of [codes, interactions]) {
      for (const [hash, entry] of pending) if (matches(entry, selector)) pending.delete(hash)
    }
  }

  function rememberConsent(consent: Consent): void {
    const key = consentKey(consent.userId, consent.clientId)
    consents.set(key, mergeConsents(consents.get(key) ?? null, consent))
  }

  return {
    clients: {
      find: async (id) => clients.get(id) ?? null,
      findMany: async (ids) => [...clients.values()].filter(({ id }) => ids.includes(id)),
      listByUser: async (userId) =>
        [...clients.values()]
          .filter((client) => client.userId === userId && !client.revokedAt)
          .sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id)),
      list: async () => [...clients.values()],
      async page({ limit, after, search }) {
        const isAfterwards = (client: Client) => !after || compareAge(client, after) > 0
        const text = search?.toLowerCase() ?? ''
        const found = [...clients.values()]
          .filter((client) => isAfterwards(client) && client.name.toLowerCase().includes(text))
          .sort(compareAge)
        const page = found.slice(0, limit)
        return { clients: page, next: found.length > limit ? positionOf(page.at(-1)) : null }
      },
      async create(client) {
        if (clients.has(client.id)) return false
        clients.set(client.id, client)
        return true
      },
      async update(id, change, notice, unchangedSince = clients.get(id)?.updatedAt) {
        const client = clients.get(id)
        if (!client || client.revokedAt) return false
        if (client.updatedAt.getTime() !== unchangedSince?.getTime()) return false
        const { secretVersion = client.secretVersion + 1 } = change
        if (secretVersion !== client.secretVersion + 1) return false
        clients.set(id, { ...client, ...change })
        append(notice)
        return true
      },
      async recordUse(id, at, unlessAfter) {
        const before = clientUses.get(id)
        if (clients.has(id) && (!before || before <= unlessAfter)) clientUses.set(id, at)
      },
      lastUsed: async (ids) => new Map([...clientUses].filter(([id]) => ids.includes(id))),
    },
    tokens: {
      async create(token) {
        if (tokens.has(token.id)) throw new Error(`A token with the id ${token.id} already exists`)
        tokens.set(token)
      },
      find: async (id) => tokens.get(id) ?? null,
      listByUser: async (userId, at) =>
        tokens
          .all()
          .filter((token) => token.userId === userId && !token.revokedAt && token.liveUntil > at)
          .sort((a, b) => +b.createdAt - +a.createdAt || compare(b.id, a.id)),
      page: async ({ userId, clientId, at, limit, after }) =>
        tokens
          .all()
          .filter((token) => !token.revokedAt && token.liveUntil > at)
          .filter((token) => userId === null || token.userId === userId)
          .filter((token) => clientId === null || token.clientId === clientId)
          .filter((token) => after === null || compare(token.id, after) < 0)
          .sort((a, b) => compare(b.id, a.id))
          .slice(0, limit),
      async listWithClients(userId, at) {
        const listed = await this.listByUser(userId, at)
        return listed.flatMap((token) => {
          const client = clients.get(token.clientId)
          return client ? [{ token, client }] : []
        })
      },
      async rotate(rotation) {
        const token = tokens.get(rotation.id)
        const alive =
          token?.generation === rotation.generation &&
          token.clientId === rotation.clientId &&
          token.clientSecretVersion === rotation.clientSecretVersion &&
          token.revokedAt === null &&
          token.refreshExpiresAt !== null &&
          isAfter(token.refreshExpiresAt, rotation.issuedAt)
        if (!alive) return null
        const kept = { ...token, previousExpiresAt: token.refreshExpiresAt }
        const next = createRotatedToken(kept, rotation)
        tokens.set(next)
        for (const ended of listRevocationsByRotation(rotation, next)) append(ended)
        return next
      },
      async markLateRepeat(id, generation) {
        const token = tokens.get(id)
        if (!token || token.generation !== generation || token.revokedAt) return false
        if (token.lateGeneration === generation - 1) return false
        tokens.set({ ...token, lateGeneration: generation })
        return true
      },
      async recordUse(id, at, unlessAfter) {
        const token = tokens.get(id)
        const before = token?.lastUsedAt
        if (token && (!before || before <= unlessAfter)) tokens.set({ ...token, lastUsedAt: at })
      },
      async revoke(selector, at) {
        if (!('id' in selector)) deletePendingRequests(selector)
        const rows = 'id' in selector ? [tokens.get(selector.id) ?? []].flat() : tokens.all()
        const found = rows.filter((token) => !token.revokedAt && matches(token, selector))
        for (const token of found) {
          tokens.set({ ...token, revokedAt: at, liveUntil: at })
          append({ kind: 'token', subject: token.id, at, until: token.liveUntil })
        }
        return found
      },
    },
    codes: {
      async create(code) {
        codes.set(code.hash, code)
      },
      find: async (hash) => codes.get(hash) ?? null,
      async exchange(hash, at, token) {
        const code = codes.get(hash)
        if (!code || code.usedAt) return false
        codes.set(hash, { ...code, usedAt: at })
        tokens.set(token)
        return true
      },
    },
    interactions: {
      async create(interaction, limit) {
        const theirs = [...interactions.values()]
          .filter(({ userId }) => userId === interaction.userId)
          .sort((a, b) => +b.createdAt - +a.createdAt)
        for (const { hash } of theirs.slice(limit - 1)) interactions.delete(hash)
        interactions.set(interaction.hash, interaction)
      },
      find: async (hash) => interactions.get(hash) ?? null,
      async approve(hash, approval) {
        if (!decide(hash, approval.at)) return false
        if (approval.consent) rememberConsent(approval.consent)
        if (approval.code) codes.set(approval.code.hash, approval.code)
        if (approval.token) tokens.set(approval.token)
        return true
      },
      deny: async (hash, at) => decide(hash, at),
    },
    consents: {
      find: async (userId, clientId) => consents.get(consentKey(userId, clientId)) ?? null,
      listByUser: async (userId) =>
        [...consents.values()].filter((consent) => consent.userId === userId),
      async use(consent, { code, token }) {
        const present = consents.get(consentKey(consent.userId, consent.clientId))
        if (present?.scopes.join(' ') !== consent.scopes.join(' ')) return false
        if (code) codes.set(code.hash, code)
        if (token) tokens.set(token)
        return true
      },
      async remove(userId, clientId) {
        deletePendingRequests({ userId, clientId })
        consents.delete(consentKey(userId, clientId))
      },
    },
    tickets: {
      async add(ticket) {
        if (tickets.has(ticket.hash)) return false
        tickets.set(ticket.hash, ticket)
        return true
      },
      find: async (hash) => tickets.get(hash) ?? null,
      async take(hash) {
        const found = tickets.get(hash) ?? null
        tickets.delete(hash)
        return found
      },
      async change(hash, before, after, also = {}) {
        const found = tickets.get(hash)
        if (found?.content !== before) return false
        tickets.set(hash, { ...found, ...also, content: after })
        return true
      },
      countHeld: async (kind, holder) => heldBy(kind, holder).length,
      countAllHeld: async (kind) =>
        [...tickets.values()].filter((each) => each.kind === kind && each.holder !== null).length,
      async listHolders(kind, limit) {
        const counts = new Map<string, number>()
        for (const each of tickets.values()) {
          if (each.kind !== kind || each.holder === null) continue
          counts.set(each.holder, (counts.get(each.holder) ?? 0) + 1)
        }
        return [...counts]
          .map(([holder, count]) => ({ holder, count }))
          .sort((a, b) => b.count - a.count || compare(a.holder, b.holder))
          .slice(0, limit)
      },
      async evict(kind, holder, limit) {
        const doomed = heldBy(kind, holder)
          .sort((a, b) => +a.expiresAt - +b.expiresAt)
          .slice(0, limit)
        for (const ticket of doomed) dropTicket(ticket)
        return doomed.length
      },
    },
    limits: counted.limits,
    sessions: participation.sessions,
    logouts: participation.logouts,
    keys: {
      list: async () => [...keys.values()],
      async addFirst(algorithm, create) {
        const isThere = () => [...keys.values()].some((key) => key.algorithm === algorithm)
        if (isThere()) return
        const key = await create()
        if (!isThere()) keys.set(key.kid, key)
      },
      async add(key, notice) {
        keys.set(key.kid, key)
        append(notice)
      },
      async replaceAll(all, notice) {
        keys.clear()
        for (const key of all) keys.set(key.kid, key)
        append(notice)
      },
      async reseal(kid, before, after) {
        const key = keys.get(kid)
        if (key?.sealedPrivateJwk !== before) return false
        keys.set(kid, { ...key, sealedPrivateJwk: after })
        return true
      },
      async remove(kid, notice) {
        keys.delete(kid)
        append(notice)
      },
    },
    revocations: {
      readFrom: async (id, limit) => {
        const entries = revocations.filter((entry) => entry.id >= id).slice(0, limit)
        return { entries, now: clock.now() }
      },
      async append(entry) {
        append(entry)
      },
      async markEnded(before) {
        const doomed = isDeletable(before)
        if (!revocations.some(doomed)) return null
        const limit = Math.min(before.getTime(), clock.now().getTime() - FEED_RETENTION_MS)
        const former = revocations.filter(({ kind }) => kind === 'ended').map(({ at }) => +at)
        const mark = buildEndedEntry(new Date(Math.max(limit, ...former)))
        revocations = revocations.filter(
          (entry) => entry.kind !== 'ended' || !doomed({ ...entry, until: new Date(0) }),
        )
        append(mark)
        return mark
      },
    },
    async migrate() {},
    async purge(before, limit) {
      const doomed = revocations.filter(isDeletable(before)).slice(0, limit)
      revocations = revocations.filter((entry) => !doomed.includes(entry))
      return (
        doomed.length +
        dropTokens(before, limit) +
        drop(codes, limit, (code) => code.expiresAt < before) +
        drop(interactions, limit, (interaction) => interaction.expiresAt < before) +
        participation.purge(before, limit)
      )
    },
    purgeExpired: async (before, limit) =>
      dropTickets(before, limit) + counted.purge(before, limit),
    async endAll(at) {
      const living = countActive(at)
      for (const token of tokens.all()) {
        if (!token.revokedAt) tokens.set({ ...token, revokedAt: at, liveUntil: at })
      }
      for (const all of [codes, interactions, consents]) all.clear()
      drop(tickets, tickets.size, ({ kind }) => kind !== UNUSED_CLIENT)
      return living
    },
    countActive: async (at) => countActive(at),
    isUnavailable: () => false,
  }
}

function consentKey(userId: string, clientId: string): string {
  return `${clientId} ${userId}`
}

function matches(
  entry: { readonly id?: string; readonly userId: string | null; readonly clientId: string },
  selector: TokenSelector,
): boolean {
  if ('id' in selector) return entry.id === selector.id
  if (entry.userId !== selector.userId) return false
  return !('clientId' in selector) || entry.clientId === selector.clientId
}

function drop<T>(map: Map<string, T>, limit: number, isDeletable: (value: T) => boolean): number {
  const over = [...map].filter(([, value]) => isDeletable(value)).slice(0, limit)
  for (const [key] of over) map.delete(key)
  return over.length
}

function positionOf(client: Client | undefined): ClientPosition | null {
  return client ? { createdAt: client.createdAt, id: client.id } : null
}

function compareAge(left: ClientPosition, right: ClientPosition): number {
  return +left.createdAt - +right.createdAt || compare(left.id, right.id)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
