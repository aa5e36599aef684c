import { randomUUID } from 'node:crypto'
import {
  type ActiveCounts,
  type AuthorizationCode,
  buildEndedEntry,
  buildLogout,
  type Client,
  type ClientPosition,
  type ClientSession,
  type Consent,
  createRotatedToken,
  FEED_RETENTION_MS,
  type Interaction,
  listRevocationsByRotation,
  mergeConsents,
  type NewRevocation,
  type PendingLogout,
  parseUnusedClient,
  type Revocation,
  type SessionSelector,
  type Storage,
  type StoredKey,
  type Ticket,
  type Token,
  type TokenSelector,
  UNUSED_CLIENT,
} from '@tollgate/oauth'
import { mapLimits } from './map-limits.ts'

/** Records of one kind, by key. */
class RecordMap<T> extends Map<string, T> {
  list(fits: (entry: T) => boolean = () => true): T[] {
    return [...this.values()].filter(fits)
  }

  drop(fits: (entry: T) => boolean, limit = Number.POSITIVE_INFINITY): number {
    const doomed = [...this].filter(([, entry]) => fits(entry)).slice(0, limit)
    for (const [key] of doomed) this.delete(key)
    return doomed.length
  }
}

/** A store in plain maps, written with only the published types. */
export function mapStorage(): Storage {
  const clients = new RecordMap<Client>()
  const uses = new Map<string, Date>()
  const tokens = new RecordMap<Token>()
  const codes = new RecordMap<AuthorizationCode>()
  const interactions = new RecordMap<Interaction>()
  const consents = new RecordMap<Consent>()
  const tickets = new RecordMap<Ticket>()
  const limits = mapLimits()
  const sessions = new RecordMap<ClientSession>()
  const logouts = new RecordMap<PendingLogout>()
  const keys = new RecordMap<StoredKey>()
  let feed: Revocation[] = []
  let lastId = 0

  const consentKey = (userId: string, clientId: string) => JSON.stringify([userId, clientId])

  function append(entry: NewRevocation): void {
    lastId += 1
    feed.push({ ...entry, id: lastId, mark: randomUUID(), writtenAt: new Date() })
  }

  function store(grant: { readonly code?: AuthorizationCode; readonly token?: Token }): void {
    if (grant.code) codes.set(grant.code.hash, grant.code)
    if (grant.token) tokens.set(grant.token.id, grant.token)
  }

  /** Deletes a ticket, and its client if the client was never used. */
  function dropTicket(ticket: Ticket): void {
    tickets.delete(ticket.hash)
    if (ticket.kind !== UNUSED_CLIENT) return
    const { clientId, until } = parseUnusedClient(ticket)
    const registration = clients.get(clientId)?.settings.self_registered
    if (registration?.unused_until === until) clients.delete(clientId)
  }

  const ticketsWithHolder = (kind: string) =>
    tickets.list((each) => each.kind === kind && each.holder !== null)

  function decide(hash: string, at: Date): boolean {
    const found = interactions.get(hash)
    if (!found || found.decidedAt || found.expiresAt <= at) return false
    interactions.set(hash, { ...found, decidedAt: at })
    return true
  }

  function deletePendingRequests(selector: TokenSelector): void {
    codes.drop((code) => isMeant(code, selector))
    interactions.drop((interaction) => isMeant(interaction, selector))
  }

  function countActive(at: Date): ActiveCounts {
    const living = tokens.list((token) => !token.revokedAt && token.liveUntil > at)
    return {
      tokens: living.length,
      personalAccessTokens: living.filter(({ grantType }) => grantType === 'personal_access')
        .length,
      codes: codes.list((code) => !code.usedAt && code.expiresAt > at).length,
      interactions: interactions.list((each) => !each.decidedAt && each.expiresAt > at).length,
      consents: consents.size,
    }
  }

  /**
   * Returns a filter for the feed entries that may be deleted. The newest entry stays, and so does
   * every entry that was the newest within the last `FEED_RETENTION_MS` milliseconds.
   */
  function isDeletable(before: Date): (entry: Revocation) => boolean {
    const kept = Date.now() - FEED_RETENTION_MS
    const settled = feed.findLast(({ writtenAt }) => writtenAt.getTime() <= kept)
    const limit = Math.min(before.getTime(), kept)
    return ({ id, until }) => id < (settled?.id ?? 0) && until.getTime() < limit
  }

  const byAge = (a: ClientPosition, b: ClientPosition) =>
    a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

  const listByUser = (userId: string, at: Date) =>
    tokens
      .list((token) => token.userId === userId && !token.revokedAt && token.liveUntil > at)
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))

  return {
    clients: {
      find: async (id) => clients.get(id) ?? null,
      findMany: async (ids) => clients.list(({ id }) => ids.includes(id)),
      list: async () => clients.list(),
      async page({ limit, after, search }) {
        const text = (search ?? '').toLowerCase()
        const found = clients
          .list(({ name }) => name.toLowerCase().includes(text))
          .filter((client) => after === null || byAge(client, after) > 0)
          .sort(byAge)
        const page = found.slice(0, limit)
        return { clients: page, next: found.length > limit ? (page.at(-1) ?? null) : null }
      },
      listByUser: async (userId) =>
        clients
          .list((client) => client.userId === userId && !client.revokedAt)
          .sort((a, b) => (a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1)),
      async create(client) {
        if (clients.has(client.id)) return false
        clients.set(client.id, client)
        return true
      },
      async update(id, change, notice, unchangedSince) {
        const client = clients.get(id)
        if (!client || client.revokedAt) return false
        if (unchangedSince && +client.updatedAt !== +unchangedSince) return false
        const next = client.secretVersion + 1
        if (change.secretVersion !== undefined && change.secretVersion !== next) return false
        clients.set(id, { ...client, ...change })
        append(notice)
        return true
      },
      async recordUse(id, at, unlessAfter) {
        const before = uses.get(id)
        if (clients.has(id) && (!before || before <= unlessAfter)) uses.set(id, at)
      },
      lastUsed: async (ids) => new Map([...uses].filter(([id]) => ids.includes(id))),
    },
    tokens: {
      async create(token) {
        if (tokens.has(token.id)) throw new Error('The id is taken')
        tokens.set(token.id, token)
      },
      find: async (id) => tokens.get(id) ?? null,
      listByUser: async (userId, at) => listByUser(userId, at),
      page: async ({ userId, clientId, at, limit, after }) =>
        tokens
          .list((token) => !token.revokedAt && token.liveUntil > at)
          .filter((token) => userId === null || token.userId === userId)
          .filter((token) => clientId === null || token.clientId === clientId)
          .filter(({ id }) => after === null || id < after)
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .slice(0, limit),
      listWithClients: async (userId, at) =>
        listByUser(userId, at).flatMap((token) => {
          const client = clients.get(token.clientId)
          return client ? [{ token, client }] : []
        }),
      async rotate(rotation) {
        const token = tokens.get(rotation.id)
        if (!token || token.revokedAt || token.generation !== rotation.generation) return null
        if (token.clientId !== rotation.clientId) return null
        if (token.clientSecretVersion !== rotation.clientSecretVersion) return null
        if (!token.refreshExpiresAt || token.refreshExpiresAt <= rotation.issuedAt) return null
        const next = createRotatedToken(
          { ...token, previousExpiresAt: token.refreshExpiresAt },
          rotation,
        )
        tokens.set(token.id, next)
        for (const ended of listRevocationsByRotation(rotation, next)) append(ended)
        return next
      },
      async markLateRepeat(id, generation) {
        const token = tokens.get(id)
        if (!token || token.revokedAt || token.generation !== generation) return false
        if (token.lateGeneration === generation - 1) return false
        tokens.set(id, { ...token, lateGeneration: generation })
        return true
      },
      async recordUse(id, at, unlessAfter) {
        const token = tokens.get(id)
        const before = token?.lastUsedAt
        if (token && (!before || before <= unlessAfter))
          tokens.set(id, { ...token, lastUsedAt: at })
      },
      async revoke(selector, at) {
        deletePendingRequests(selector)
        const found = tokens.list((token) => !token.revokedAt && isMeant(token, selector))
        for (const token of found) {
          tokens.set(token.id, { ...token, revokedAt: at, liveUntil: at })
          append({ kind: 'token', subject: token.id, at, until: token.liveUntil })
        }
        return found
      },
    },
    codes: {
      create: async (code) => store({ code }),
      find: async (hash) => codes.get(hash) ?? null,
      async exchange(hash, at, token) {
        const code = codes.get(hash)
        if (!code || code.usedAt) return false
        store({ code: { ...code, usedAt: at }, token })
        return true
      },
    },
    interactions: {
      async create(interaction, limit) {
        const theirs = interactions
          .list(({ userId }) => userId === interaction.userId)
          .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
        for (const { hash } of theirs.slice(limit - 1)) interactions.delete(hash)
        interactions.set(interaction.hash, interaction)
      },
      find: async (hash) => interactions.get(hash) ?? null,
      async approve(hash, approval) {
        if (!decide(hash, approval.at)) return false
        const { consent } = approval
        if (consent) {
          const key = consentKey(consent.userId, consent.clientId)
          consents.set(key, mergeConsents(consents.get(key) ?? null, consent))
        }
        store(approval)
        return true
      },
      deny: async (hash, at) => decide(hash, at),
    },
    consents: {
      find: async (userId, clientId) => consents.get(consentKey(userId, clientId)) ?? null,
      listByUser: async (userId) => consents.list((consent) => consent.userId === userId),
      async use(consent, grant) {
        const present = consents.get(consentKey(consent.userId, consent.clientId))
        if (present?.scopes.join(' ') !== consent.scopes.join(' ')) return false
        store(grant)
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
      countHeld: async (kind, holder) =>
        ticketsWithHolder(kind).filter((each) => each.holder === holder).length,
      countAllHeld: async (kind) => ticketsWithHolder(kind).length,
      async listHolders(kind, limit) {
        const holders = [...new Set(ticketsWithHolder(kind).map(({ holder }) => holder ?? ''))]
        return holders
          .map((holder) => ({
            holder,
            count: ticketsWithHolder(kind).filter((each) => each.holder === holder).length,
          }))
          .sort((a, b) => b.count - a.count)
          .slice(0, limit)
      },
      async evict(kind, holder, limit) {
        const doomed = ticketsWithHolder(kind)
          .filter((each) => each.holder === holder)
          .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
          .slice(0, limit)
        for (const ticket of doomed) dropTicket(ticket)
        return doomed.length
      },
    },
    limits,
    sessions: {
      async add(session) {
        if (sessions.has(session.sid)) return false
        sessions.set(session.sid, session)
        return true
      },
      async touch(sid, seenAt, liveUntil) {
        const found = sessions.get(sid)
        if (found) sessions.set(sid, { ...found, seenAt, liveUntil })
      },
      find: async (sid) => sessions.get(sid) ?? null,
      listByUser: async (userId) =>
        sessions
          .list((session) => session.userId === userId)
          .sort((a, b) => b.seenAt.getTime() - a.seenAt.getTime()),
      async move(before, after) {
        for (const session of sessions.list(({ sessionId }) => sessionId === before)) {
          sessions.set(session.sid, { ...session, sessionId: after })
        }
      },
      async end(selector, when, limit) {
        const ending = sessions.list((session) => isEnding(session, selector)).slice(0, limit)
        for (const session of ending) {
          const logout = buildLogout(session, when)
          if (!logouts.has(logout.id)) logouts.set(logout.id, logout)
          sessions.delete(session.sid)
        }
        return ending.length
      },
    },
    logouts: {
      listDue: async (at, limit, exceptOf = []) =>
        logouts
          .list(({ dueAt, expiresAt }) => dueAt <= at && expiresAt > at)
          .filter(({ clientId }) => !exceptOf.includes(clientId))
          .sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime())
          .slice(0, limit),
      async claim({ id, attempts, dueAt }, next) {
        const found = logouts.get(id)
        if (found?.attempts !== attempts || found.dueAt.getTime() !== dueAt.getTime()) return false
        logouts.set(id, { ...found, attempts: attempts + 1, dueAt: next })
        return true
      },
      async postpone(clientId, next) {
        for (const logout of logouts.list((each) => each.clientId === clientId)) {
          if (logout.dueAt < next) logouts.set(logout.id, { ...logout, dueAt: next })
        }
      },
      remove: async (id) => void logouts.delete(id),
    },
    keys: {
      list: async () => keys.list(),
      async addFirst(algorithm, create) {
        const isThere = () => keys.list().some((key) => key.algorithm === algorithm)
        if (isThere()) return
        const key = await create()
        if (!isThere()) keys.set(key.kid, key)
      },
      async add(key, notice) {
        keys.set(key.kid, key)
        append(notice)
      },
      async remove(kid, notice) {
        keys.delete(kid)
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
    },
    revocations: {
      readFrom: async (id, limit) => ({
        entries: feed.filter((entry) => entry.id >= id).slice(0, limit),
        now: new Date(),
      }),
      append: async (entry) => append(entry),
      async markEnded(before) {
        const doomed = isDeletable(before)
        if (!feed.some(doomed)) return null
        const limit = Math.min(before.getTime(), Date.now() - FEED_RETENTION_MS)
        const former = feed.filter(({ kind }) => kind === 'ended').map(({ at }) => at.getTime())
        const mark = buildEndedEntry(new Date(Math.max(limit, ...former)))
        feed = feed.filter(
          (entry) => entry.kind !== 'ended' || !doomed({ ...entry, until: new Date(0) }),
        )
        append(mark)
        return mark
      },
    },
    migrate: async () => {},
    async purge(before, limit) {
      const doomed = feed.filter(isDeletable(before)).slice(0, limit)
      feed = feed.filter((entry) => !doomed.includes(entry))
      const ended = [
        tokens.drop(({ liveUntil }) => liveUntil < before, limit),
        codes.drop(({ expiresAt }) => expiresAt < before, limit),
        interactions.drop(({ expiresAt }) => expiresAt < before, limit),
        sessions.drop(({ liveUntil }) => liveUntil < before, limit),
        logouts.drop(({ expiresAt }) => expiresAt < before, limit),
      ]
      return ended.reduce((sum, count) => sum + count, doomed.length)
    },
    async purgeExpired(before, limit) {
      const over = tickets.list((each) => each.expiresAt < before).slice(0, limit)
      for (const ticket of over) dropTicket(ticket)
      return over.length + limits.drop(before, limit)
    },
    async endAll(at) {
      const living = countActive(at)
      for (const [id, token] of tokens) {
        if (!token.revokedAt) tokens.set(id, { ...token, revokedAt: at, liveUntil: at })
      }
      for (const records of [codes, interactions, consents]) records.clear()
      tickets.drop(({ kind }) => kind !== UNUSED_CLIENT)
      return living
    },
    countActive: async (at) => countActive(at),
    isUnavailable: () => false,
  }
}

function isMeant(
  entry: { readonly id?: string; readonly userId: string | null; readonly clientId: string },
  selector: TokenSelector,
): boolean {
  if ('id' in selector) return entry.id === selector.id
  if (entry.userId !== selector.userId) return false
  return !('clientId' in selector) || entry.clientId === selector.clientId
}

function isEnding(session: ClientSession, selector: SessionSelector): boolean {
  if ('sessionId' in selector) return session.sessionId === selector.sessionId
  return 'everyone' in selector || session.userId === selector.userId
}
