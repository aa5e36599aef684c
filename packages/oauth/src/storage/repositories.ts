import type { StoreClock } from '../clock.ts'
import type {
  Approval,
  AuthorizationCode,
  Client,
  ClientSession,
  Consent,
  HolderTicketCount,
  Interaction,
  LimitCount,
  LimitPlaceRequest,
  LimitPlaceResult,
  NewRevocation,
  PendingLogout,
  RevocationFeedPage,
  SessionSelector,
  StoredKey,
  Ticket,
  Token,
  TokenRotation,
  TokenSelector,
} from './records.ts'

/** The place of a client in the order of `page()`. */
export interface ClientPosition {
  /** `createdAt` of the client. */
  readonly createdAt: Date
  /** Id of the client. */
  readonly id: string
}

/** A request for a part of the list of clients. */
export interface ClientQuery {
  /** Largest number of clients. */
  readonly limit: number
  /** Position of the last client of the previous part. `null` for the beginning. */
  readonly after: ClientPosition | null
  /** Text to find in the names of clients, in upper or lower case. `null` lists every client. */
  readonly search: string | null
}

/** A part of the list of clients. */
export interface ClientSlice {
  /** The clients in the order of `page()`. */
  readonly clients: readonly Client[]
  /** The `after` of the next part. `null` if there are no more clients. */
  readonly next: ClientPosition | null
}

/** Stores clients. */
export interface ClientRepository {
  /** Finds a client, revoked ones included. `null` if there is none. */
  find(id: string): Promise<Client | null>
  /** Finds clients in one query, revoked ones included, in any order. There are at most 1000 ids. */
  findMany(ids: readonly string[]): Promise<Client[]>
  /** Lists the clients of a user that are not revoked, by name. */
  listByUser(userId: string): Promise<Client[]>
  /** Lists all clients, revoked ones included. */
  list(): Promise<Client[]>
  /**
   * Lists a part of all clients, revoked ones included, in the order of `createdAt` and then of
   * `id`. Ids are compared by bytes. A search must ignore case, at least for ASCII letters. To
   * bound its work, a search may return fewer clients than `limit` although more follow.
   */
  page(query: ClientQuery): Promise<ClientSlice>
  /** Stores a new client. Returns `false` if the id is taken. */
  create(client: Client): Promise<boolean>
  /**
   * Writes the given fields and announces the change in the revocation feed, atomically. Returns
   * `false` without changing anything if the client is unknown or revoked, if `secretVersion` is
   * given and is not one more than the stored version, or if `unchangedSince` is given and differs
   * from the client's `updatedAt`. Callers that change `settings` must pass `unchangedSince`.
   */
  update(
    id: string,
    change: ClientChange,
    notice: NewRevocation,
    unchangedSince?: Date,
  ): Promise<boolean>
  /**
   * Records that a client was used at this time, unless a use later than `unlessAfter` is recorded.
   * Neither changes `updatedAt` nor announces anything in the revocation feed. Does nothing for an
   * unknown client.
   */
  recordUse(id: string, at: Date, unlessAfter: Date): Promise<void>
  /** Returns the recorded last use of these clients, without those that were never used. */
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/**
 * The fields of a client to change. Absent fields keep their value, so that concurrent changes of
 * different fields do not overwrite each other.
 */
export type ClientChange = Partial<
  Pick<
    Client,
    | 'name'
    | 'redirectUris'
    | 'grantTypes'
    | 'scopes'
    | 'firstParty'
    | 'resourceServer'
    | 'secretHash'
    | 'secretVersion'
    | 'settings'
    | 'revokedAt'
  >
> &
  Pick<Client, 'updatedAt'>

/** A token together with its client. */
export interface TokenWithClient {
  /** The token. */
  readonly token: Token
  /** The client that holds the token. */
  readonly client: Client
}

/** A request for a part of the list of valid tokens. */
export interface TokenQuery {
  /** The user whose tokens are listed. `null` for the tokens of all users and of clients. */
  readonly userId: string | null
  /** The client whose tokens are listed. `null` for the tokens of all clients. */
  readonly clientId: string | null
  /** The current time. */
  readonly at: Date
  /** Largest number of tokens. */
  readonly limit: number
  /** Id of the last token of the previous part. `null` for the beginning. */
  readonly after: string | null
}

/** Stores tokens. */
export interface TokenRepository {
  /**
   * Stores a new token.
   * @throws Error if the id is taken
   */
  create(token: Token): Promise<void>
  /** Finds a token, revoked and expired ones included. `null` if there is none. */
  find(id: string): Promise<Token | null>
  /** Lists the user's tokens that are neither revoked nor expired, newest first. */
  listByUser(userId: string, at: Date): Promise<Token[]>
  /**
   * Lists a part of the tokens that are neither revoked nor expired, in the order of their ids,
   * largest first, compared by bytes. Ids begin with the time, so the newest come first.
   */
  page(query: TokenQuery): Promise<Token[]>
  /** Lists the same tokens as `listByUser()`, each with its client, in a single query. */
  listWithClients(userId: string, at: Date): Promise<TokenWithClient[]>
  /**
   * Rotates a refresh token: writes the new generation and times, if the stored token matches
   * `rotation` and is neither revoked nor expired. Otherwise changes nothing and returns `null`.
   */
  rotate(rotation: TokenRotation): Promise<Token | null>
  /**
   * Records that this generation of a refresh token is issued a second time, because the refresh
   * token before it was presented late. Returns `false` without changing anything if this is no
   * longer the current generation, if the token has ended, or if the previous generation was also
   * issued a second time.
   */
  markLateRepeat(id: string, generation: number): Promise<boolean>
  /**
   * Records in `lastUsedAt` that a token was used at this time, unless a use later than
   * `unlessAfter` is recorded. Does nothing for an unknown token.
   */
  recordUse(id: string, at: Date, unlessAfter: Date): Promise<void>
  /**
   * Revokes all matching tokens that are not revoked yet, and announces this in the revocation
   * feed. If the selector names a user, also deletes the pending requests and codes of that user.
   * Returns the revoked tokens.
   */
  revoke(selector: TokenSelector, at: Date): Promise<Token[]>
}

/** Stores authorization codes. */
export interface AuthorizationCodeRepository {
  /** Stores a new code. */
  create(code: AuthorizationCode): Promise<void>
  /** Finds a code. `null` if there is none. */
  find(hash: string): Promise<AuthorizationCode | null>
  /**
   * Marks the code as used and stores its token atomically. Returns `false` if the code was used
   * before.
   */
  exchange(hash: string, at: Date, token: Token): Promise<boolean>
}

/** Stores authorization requests that wait for the user's decision. */
export interface InteractionRepository {
  /**
   * Stores a new interaction. Deletes the user's oldest pending ones if there are more than
   * `limit`.
   */
  create(interaction: Interaction, limit: number): Promise<void>
  /** Finds an interaction. `null` if there is none. */
  find(hash: string): Promise<Interaction | null>
  /**
   * Marks the request as decided and stores the consent, the code and the token that `approval`
   * contains, atomically. Returns `false` if the request was decided before.
   */
  approve(hash: string, approval: Approval): Promise<boolean>
  /** Marks the request as denied. Returns `false` if it was decided before. */
  deny(hash: string, at: Date): Promise<boolean>
}

/** Stores remembered approvals. */
export interface ConsentRepository {
  /** Finds the user's consent for a client. `null` if there is none. */
  find(userId: string, clientId: string): Promise<Consent | null>
  /** Lists all consents of a user. */
  listByUser(userId: string): Promise<Consent[]>
  /**
   * Stores the code, the token or both, atomically, if the stored consent still equals the given
   * one. Returns whether the consent is still equal, even if there is nothing to store.
   */
  use(
    consent: Consent,
    grant: { readonly code?: AuthorizationCode; readonly token?: Token },
  ): Promise<boolean>
  /** Deletes the consent with pending requests and codes. Does not revoke tokens. */
  remove(userId: string, clientId: string): Promise<void>
}

/** The fields of a ticket that may change together with its content. */
export type TicketChange = Partial<Pick<Ticket, 'expiresAt' | 'holder'>>

/** Stores short-lived tickets. */
export interface TicketRepository {
  /** Stores a ticket. Returns `false` without changing anything if its hash is taken. */
  add(ticket: Ticket): Promise<boolean>
  /** Finds a ticket. `null` if there is none. May return an expired one. */
  find(hash: string): Promise<Ticket | null>
  /**
   * Deletes the ticket and returns it. Only the first of several concurrent callers gets it, the
   * others get `null`.
   */
  take(hash: string): Promise<Ticket | null>
  /**
   * Replaces the content of a ticket if it still equals `before`, together with the fields in
   * `also`, atomically. Returns whether the content was replaced.
   */
  change(hash: string, before: string, after: string, also?: TicketChange): Promise<boolean>
  /** Counts the tickets of a kind that count against the quota of one holder. */
  countHeld(kind: string, holder: string): Promise<number>
  /** Counts the tickets of a kind that count against the quota of any holder. */
  countAllHeld(kind: string): Promise<number>
  /** Lists the holders with the most tickets of a kind, largest first, at most `limit`. */
  listHolders(kind: string, limit: number): Promise<HolderTicketCount[]>
  /**
   * Deletes at most `limit` tickets of a holder, those that expire first, and returns how many.
   * Deleting an `UNUSED_CLIENT` ticket also deletes its client, as in `purgeExpired()`. Tickets
   * that have been used since are kept.
   */
  evict(kind: string, holder: string, limit: number): Promise<number>
}

/** Stores the counters and places of limits, shared by all processes. */
export interface LimitRepository {
  /**
   * Increments a counter, or starts a new one that expires at `until` if it has expired. Returns
   * the result.
   */
  count(name: string, at: Date, until: Date): Promise<LimitCount>
  /** Decrements a counter that has not expired. */
  uncount(name: string, at: Date): Promise<void>
  /**
   * If more than `max` counters have names that begin with `prefix`, deletes the excess, at most
   * `limit`: the counters that expire first. Returns how many were deleted. `prefix` may contain
   * letters, digits, spaces and colons only.
   */
  forget(prefix: string, max: number, limit: number): Promise<number>
  /**
   * Takes a free place of a limit on failed checks. Concurrent callers get different places or
   * none.
   */
  take(request: LimitPlaceRequest): Promise<LimitPlaceResult>
  /** Records that a check failed: its place stays taken until `until`. */
  fail(place: string, holder: string, until: Date): Promise<void>
  /** Records that a check finished without a failure: its place becomes free. */
  free(place: string, holder: string): Promise<void>
  /** Frees all places of a limit that failed checks have taken. */
  clear(name: string, max: number): Promise<void>
}

/** Stores which clients take part in which sessions. */
export interface SessionRepository {
  /** Stores a session. Returns `false` without changing anything if its `sid` is taken. */
  add(session: ClientSession): Promise<boolean>
  /** Records that the session was used. Does nothing if it has ended. */
  touch(sid: string, seenAt: Date, liveUntil: Date): Promise<void>
  /** Finds a session. `null` if there is none. */
  find(sid: string): Promise<ClientSession | null>
  /** Lists the sessions of a user, most recently used first. */
  listByUser(userId: string): Promise<ClientSession[]>
  /**
   * Assigns the client sessions of one application session to another application session of the
   * same user.
   */
  move(before: string, after: string): Promise<void>
  /**
   * Deletes sessions and queues a logout for each client, atomically, so that a crash loses
   * neither. Ends at most `limit` sessions and returns how many.
   */
  end(selector: SessionSelector, when: LogoutTimes, limit: number): Promise<number>
}

/** When clients are notified of a logout. */
export interface LogoutTimes {
  /** Time of the first attempt. */
  readonly dueAt: Date
  /** When the logout expires. No further attempts are made afterwards. */
  readonly expiresAt: Date
}

/** Stores queued logouts. */
export interface LogoutRepository {
  /**
   * Lists logout notifications that are due and have not expired, oldest first, except those to the
   * clients in `exceptOf`.
   */
  listDue(at: Date, limit: number, exceptOf?: readonly string[]): Promise<PendingLogout[]>
  /**
   * Claims a logout notification before it is sent: counts the attempt and makes the notification
   * due again at `next`, in case the process crashes. Returns `false` if another process has
   * claimed it.
   */
  claim(logout: PendingLogout, next: Date): Promise<boolean>
  /**
   * Postpones all logout notifications to a client until `next`, because the client cannot be
   * reached.
   */
  postpone(clientId: string, next: Date): Promise<void>
  /** Deletes a logout notification that was delivered or given up. */
  remove(id: string): Promise<void>
}

/** Stores signing keys. */
export interface KeyRepository {
  /** Lists all keys. */
  list(): Promise<StoredKey[]>
  /** Adds the first key of an algorithm, unless another process has added one. */
  addFirst(algorithm: string, create: () => Promise<StoredKey>): Promise<void>
  /** Adds a key and announces it in the revocation feed, atomically. */
  add(key: StoredKey, notice: NewRevocation): Promise<void>
  /** Deletes a key and announces the deletion in the revocation feed, atomically. */
  remove(kid: string, notice: NewRevocation): Promise<void>
  /** Replaces all signing keys and announces the change in the revocation feed, atomically. */
  replaceAll(keys: readonly StoredKey[], notice: NewRevocation): Promise<void>
  /**
   * Replaces the encrypted private key (`sealedPrivateJwk`) of a signing key if it still equals
   * `before`. Returns whether it was replaced.
   */
  reseal(kid: string, before: string, after: string): Promise<boolean>
}

/**
 * The revocation feed, which every process follows. Ids increase, but an entry may become visible
 * after one with a larger id. With each read, a reader also reads its last known entry again, to
 * notice when the store has lost part of its history. Therefore the newest entry is never purged,
 * nor one that was the newest within the last FEED_RETENTION_MS milliseconds.
 */
export interface RevocationRepository {
  /**
   * Reads the entry with this id, if it exists, and those after it, in a single query.
   * @throws an error with the code `TOLLGATE_NOT_PRIMARY` if the server that was read may lag
   * behind the primary
   */
  readFrom(id: number, limit: number): Promise<RevocationFeedPage>
  /**
   * Increases a counter (a beat), unless another process has done so within the last second or two.
   * Returns the count as the primary database has it. Used to detect reads from a lagging replica.
   * Omit it if every read of the store shows all committed writes.
   */
  beat?(): Promise<number>
  /** Appends an entry to the revocation feed. */
  append(revocation: NewRevocation): Promise<void>
  /**
   * Appends an `ended` entry to the revocation feed, and returns the entry. It states that
   * everything that had expired by `before` stays invalid. Call it before purging expired entries.
   * Uses the time of an earlier `ended` entry if that is later, and at most the store's current
   * time minus FEED_RETENTION_MS. Returns `null` if there is nothing to purge.
   */
  markEnded(before: Date): Promise<NewRevocation | null>
}

/** Number of objects that are neither expired nor revoked. */
export interface ActiveCounts {
  /** Number of tokens that are valid or can still be refreshed. */
  readonly tokens: number
  /** Number of personal access tokens, which are included in `tokens`. */
  readonly personalAccessTokens: number
  /** Number of codes that can still be exchanged. */
  readonly codes: number
  /** Number of authorization requests that wait for the user's decision. */
  readonly interactions: number
  /** Number of remembered approvals. */
  readonly consents: number
}

/**
 * Stores the state of a server. Every method that decides something is atomic. Implement it to use
 * your own database, and test it with `storageContract()`.
 */
export interface Storage {
  /**
   * Maximum duration of one call, in milliseconds.
   * @default 1500
   */
  readonly timeout?: number
  /** Clock shared by all processes that use this store. If absent, each process uses its own. */
  readonly clock?: StoreClock
  /** Registered clients. */
  readonly clients: ClientRepository
  /** Tokens, one row per grant. */
  readonly tokens: TokenRepository
  /** Authorization codes. */
  readonly codes: AuthorizationCodeRepository
  /** Authorization requests that wait for the user's decision. */
  readonly interactions: InteractionRepository
  /** Remembered approvals. */
  readonly consents: ConsentRepository
  /** Short-lived tickets. */
  readonly tickets: TicketRepository
  /** Counters and places of limits. */
  readonly limits: LimitRepository
  /** The clients that take part in each session. */
  readonly sessions: SessionRepository
  /** Queued logouts. */
  readonly logouts: LogoutRepository
  /** Signing keys, encrypted. */
  readonly keys: KeyRepository
  /** The feed that announces revocations to every process. */
  readonly revocations: RevocationRepository
  /** Creates or migrates the tables. */
  migrate(): Promise<void>
  /**
   * Checks that the tables have the version this release needs. Called instead of `migrate()` with
   * the option `migrate: false`. Optional.
   * @throws Error if the tables are older or newer
   */
  requireMigrations?(): Promise<void>
  /**
   * Deletes at most `limit` rows per table that expired before `before`, except tickets and limits.
   * Returns how many.
   */
  purge(before: Date, limit: number): Promise<number>
  /**
   * Deletes at most `limit` tickets and as many limits that expired before `before`. Returns how
   * many. Deleting an `UNUSED_CLIENT` ticket also deletes the client that `parseUnusedClient()` returns,
   * if its settings still have that `unused_until`.
   */
  purgeExpired(before: Date, limit: number): Promise<number>
  /**
   * Ends all tokens, codes, pending requests, tickets (except `UNUSED_CLIENT` ones) and remembered
   * approvals, in small batches. Does not announce this in the revocation feed: the caller revokes
   * all signing keys afterwards, which makes the tokens invalid in every process.
   */
  endAll(at: Date): Promise<ActiveCounts>
  /** Counts what `endAll()` would end. */
  countActive(at: Date): Promise<ActiveCounts>
  /**
   * Calls `run` when the transaction that the caller runs in is committed, and never if it is undone.
   * Only for stores whose calls can join a transaction of the application. Optional: without it,
   * every call is durable when it returns.
   */
  afterCommit?(run: () => void): void
  /** Whether an error means that the store is temporarily unavailable, rather than a defect. */
  isUnavailable(error: unknown): boolean
}
