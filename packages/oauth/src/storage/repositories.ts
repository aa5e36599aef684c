import type { StoreClock } from '../clock.ts'
import type {
  Approval,
  AuthorizationCode,
  Client,
  ClientSession,
  Consent,
  FeedPage,
  HeldTickets,
  Interaction,
  LimitCount,
  NewRevocation,
  PendingLogout,
  PlaceRequest,
  Rotation,
  SessionSelector,
  StoredKey,
  TakenPlace,
  Ticket,
  Token,
  TokenSelector,
} from './records.ts'

/** The clients. */
export interface ClientRepository {
  /** Null when there is none. A revoked one is found. */
  find(id: string): Promise<Client | null>
  /** Those not revoked, by name. */
  listByUser(userId: string): Promise<Client[]>
  /** All of them. */
  list(): Promise<Client[]>
  /** False when the id is taken. */
  create(client: Client): Promise<boolean>
  /**
   * Writes the fields given and tells every process, in one step. False, and nothing is done, when the
   * client is unknown or revoked, when `secretVersion` is given and does not follow the present one, or when
   * `unchangedSince` is given and is not the client's `updatedAt` to the millisecond: it comes with `settings`.
   */
  update(
    id: string,
    change: ClientChange,
    notice: NewRevocation,
    unchangedSince?: Date,
  ): Promise<boolean>
}

/** Only what changes, so that two changes at once do not undo each other. */
export type ClientChange = Partial<
  Pick<
    Client,
    | 'name'
    | 'redirectUris'
    | 'grantTypes'
    | 'scopes'
    | 'secretHash'
    | 'secretVersion'
    | 'settings'
    | 'revokedAt'
  >
> &
  Pick<Client, 'updatedAt'>

/** A token and who holds it. */
export interface TokenWithClient {
  /** The token. */
  readonly token: Token
  /** Its client. */
  readonly client: Client
}

/** The tokens. */
export interface TokenRepository {
  /** Stores a new one; fails when the id is taken. */
  create(token: Token): Promise<void>
  /** Null when there is none. A revoked one is found. */
  find(id: string): Promise<Token | null>
  /** Neither revoked nor expired, newest first. */
  listByUser(userId: string, at: Date): Promise<Token[]>
  /** The same, each with its client, in one step however many there are. */
  listWithClients(userId: string, at: Date): Promise<TokenWithClient[]>
  /** Moves to `nextGeneration` if `generation` is the present one and all is alive, else null. */
  rotate(rotation: Rotation): Promise<Token | null>
  /**
   * Writes down that this generation is handed out a second time late. False, and nothing is done, when it
   * is not the present one any more, the token has ended, or the same happened one generation before.
   */
  markLateRepeat(id: string, generation: number): Promise<boolean>
  /** Ends all that match and are not yet ended, with pending codes, and tells every process. */
  revoke(selector: TokenSelector, at: Date): Promise<Token[]>
}

/** The authorization codes. */
export interface AuthorizationCodeRepository {
  /** Stores a new one. */
  create(code: AuthorizationCode): Promise<void>
  /** Null when there is none. */
  find(hash: string): Promise<AuthorizationCode | null>
  /** Marks the code used and stores its token in one step; false when someone was here before. */
  exchange(hash: string, at: Date, token: Token): Promise<boolean>
}

/** The requests that wait for a person. */
export interface InteractionRepository {
  /** Keeps at most `limit` undecided ones of a person, dropping the oldest. */
  create(interaction: Interaction, limit: number): Promise<void>
  /** Null when there is none. */
  find(hash: string): Promise<Interaction | null>
  /** Decides, remembers the consent and stores the code or token in one step; false when decided before. */
  approve(hash: string, approval: Approval): Promise<boolean>
  /** Decides that nothing is given; false when decided before. */
  deny(hash: string, at: Date): Promise<boolean>
}

/** What people have approved. */
export interface ConsentRepository {
  /** Null when nothing was approved. */
  find(userId: string, clientId: string): Promise<Consent | null>
  /** All of one person. */
  listByUser(userId: string): Promise<Consent[]>
  /**
   * Stores the code, the token or both if the consent is still the one that was read, in one step. Says whether it
   * is, also where there is nothing to store.
   */
  use(
    consent: Consent,
    grant: { readonly code?: AuthorizationCode; readonly token?: Token },
  ): Promise<boolean>
  /** Forgets the approval, with codes and requests still pending on it; tokens are revoked apart. */
  remove(userId: string, clientId: string): Promise<void>
}

/** What may change of a ticket besides its content. */
export type TicketChange = Partial<Pick<Ticket, 'expiresAt' | 'holder'>>

/** What lives for a short time. */
export interface TicketRepository {
  /** False, and nothing is done, when there is one with this hash. */
  add(ticket: Ticket): Promise<boolean>
  /** Null when there is none. One that has expired may still be found. */
  find(hash: string): Promise<Ticket | null>
  /** Gives it to one caller only, whoever is first, and it is gone. */
  take(hash: string): Promise<Ticket | null>
  /** Changes the content if it is still what it was, and what else is given, in one step; says whether it did. */
  change(hash: string, before: string, after: string, also?: TicketChange): Promise<boolean>
  /** How many a holder has of a kind. */
  countHeld(kind: string, holder: string): Promise<number>
  /** How many have a holder, of a kind. */
  countAllHeld(kind: string): Promise<number>
  /** Those who have the most of a kind, the largest first; at most `limit`. */
  listHolders(kind: string, limit: number): Promise<HeldTickets[]>
  /**
   * Deletes those of a holder that end first, at most `limit`, and says how many. With one of the kind `UNUSED_CLIENT`
   * goes its client, as by `purgeExpired`. One that was used meanwhile stays.
   */
  evict(kind: string, holder: string, limit: number): Promise<number>
}

/** The counts and places of limits, which all processes share. */
export interface LimitRepository {
  /** Adds one to a count that has not ended, or begins a new one that ends at `until`; gives the result. */
  count(name: string, at: Date, until: Date): Promise<LimitCount>
  /** Takes one back from a count that has not ended. */
  uncount(name: string, at: Date): Promise<void>
  /**
   * Of the counts whose names begin with `prefix`, deletes those beyond `most` that end first, at most `limit`; says how
   * many. `prefix` has letters, digits, blanks and colons only.
   */
  forget(prefix: string, most: number, limit: number): Promise<number>
  /** Takes a free place. Of many callers at once each gets another place or none. */
  take(request: PlaceRequest): Promise<TakenPlace>
  /** The check of this holder failed: its place is taken until then. */
  fail(place: string, holder: string, until: Date): Promise<void>
  /** The check of this holder is finished: its place is free. */
  free(place: string, holder: string): Promise<void>
  /** Frees every place of the limit that a failed check has taken. */
  clear(name: string, most: number): Promise<void>
}

/** Which clients took part in which sessions. */
export interface SessionRepository {
  /** False, and nothing is done, when there is one with this `sid`. */
  add(session: ClientSession): Promise<boolean>
  /** That it is still used. Does nothing when it has ended. */
  touch(sid: string, seenAt: Date, liveUntil: Date): Promise<void>
  /** Null when there is none. */
  find(sid: string): Promise<ClientSession | null>
  /** All of one person, those that were used last first. */
  listByUser(userId: string): Promise<ClientSession[]>
  /** They belong to another session of the same person from now on. */
  move(before: string, after: string): Promise<void>
  /**
   * Takes them away and puts a logout for each into the queue, in one step for each client: whatever happens
   * to the process, both are done or neither. At most `limit`; says how many.
   */
  end(selector: SessionSelector, when: LogoutTimes, limit: number): Promise<number>
}

/** When clients are told. */
export interface LogoutTimes {
  /** First. */
  readonly dueAt: Date
  /** After this nobody tries any more. */
  readonly expiresAt: Date
}

/** Which clients have to be told of the end of a session. */
export interface LogoutRepository {
  /** Those that are due at this moment and not too old, the oldest first, but not those of some clients. */
  listDue(at: Date, limit: number, exceptOf?: readonly string[]): Promise<PendingLogout[]>
  /**
   * Before it is sent: counts the attempt and makes it due again at `next`, should the process not live to say
   * how it went. False when another process was faster.
   */
  claim(logout: PendingLogout, next: Date): Promise<boolean>
  /** The client cannot be reached: none of its logouts is due before `next`. */
  putOff(clientId: string, next: Date): Promise<void>
  /** It was told, or never will be. */
  remove(id: string): Promise<void>
}

/** The signing keys. */
export interface KeyRepository {
  /** All of them. */
  list(): Promise<StoredKey[]>
  /** Adds the first key of an algorithm unless another process was faster. */
  addFirst(algorithm: string, create: () => Promise<StoredKey>): Promise<void>
  /** Adds one and tells every process, in one step. */
  add(key: StoredKey, notice: NewRevocation): Promise<void>
  /** Takes one back and tells every process, in one step. */
  remove(kid: string, notice: NewRevocation): Promise<void>
  /** These in place of all others, in one step. */
  replaceAll(keys: readonly StoredKey[], notice: NewRevocation): Promise<void>
  /** Changes `sealedPrivateJwk` if it is still what it was; says whether it did. */
  reseal(kid: string, before: string, after: string): Promise<boolean>
}

/**
 * A feed every process follows; ids grow, though one may become visible after a larger one. A reader
 * looks again at the entry it stands on, so that it notices when the store has lost its history. Hence
 * the newest entry is never purged, nor one that was the newest within FEED_KEPT.
 */
export interface RevocationRepository {
  /**
   * The entries from this id on, the one that has it included, in one read.
   * @throws an error with the code `TOLLGATE_NOT_PRIMARY` when the server that was read may be behind
   */
  readFrom(id: number, limit: number): Promise<FeedPage>
  /**
   * Counts a beat unless another process has done so within the last second or two, and returns the count as the server
   * that takes writes has it. May be left out where what is committed shows in every later read.
   */
  beat?(): Promise<number>
  /** Adds an entry. */
  append(revocation: NewRevocation): Promise<void>
  /**
   * Before entries that ended by the moment are purged: appends an `ended` entry for this moment, or the
   * later one a former had, and gives it back. Null when there is nothing to purge. Never for a moment
   * later than FEED_KEPT ago by the clock of the store.
   */
  markEnded(before: Date): Promise<NewRevocation | null>
}

/** How many there are that are neither over nor revoked. */
export interface Living {
  /** Rows that something can still come of. */
  readonly tokens: number
  /** Of the tokens, those that people have made for themselves. */
  readonly personalAccessTokens: number
  /** Codes not yet exchanged. */
  readonly codes: number
  /** Requests that wait for a person to decide. */
  readonly interactions: number
  /** Approvals that are remembered. */
  readonly consents: number
}

/** Where a server keeps its state. Every method that decides something is one atomic step. */
export interface Storage {
  /** Milliseconds that one of its calls may take. May be left out: then it is about a second and a half. */
  readonly timeout?: number
  /** The time that all processes on this store share. May be left out: then each goes by its own clock. */
  readonly clock?: StoreClock
  /** Registered applications. */
  readonly clients: ClientRepository
  /** Tokens, one row for each grant. */
  readonly tokens: TokenRepository
  /** Authorization codes. */
  readonly codes: AuthorizationCodeRepository
  /** Consent screens that wait for a decision. */
  readonly interactions: InteractionRepository
  /** What people have approved. */
  readonly consents: ConsentRepository
  /** What lives for a short time. */
  readonly tickets: TicketRepository
  /** Counts and places of limits. */
  readonly limits: LimitRepository
  /** Which clients took part in which sessions. */
  readonly sessions: SessionRepository
  /** Which clients have to be told that a session has ended. */
  readonly logouts: LogoutRepository
  /** Signing keys, sealed. */
  readonly keys: KeyRepository
  /** The feed that tells every process what was revoked. */
  readonly revocations: RevocationRepository
  /** Makes or updates the tables. */
  migrate(): Promise<void>
  /** With `migrate: false`: fails when the tables are older or newer than this build needs. May be left out. */
  requireMigrations?(): Promise<void>
  /** Deletes at most `limit` rows of each table, tickets and limits excepted, that ended before the moment; says how many. */
  purge(before: Date, limit: number): Promise<number>
  /**
   * Deletes at most `limit` tickets, and as many limits, that ended before the moment; says how many. With a ticket of the
   * kind `UNUSED_CLIENT` goes the client that `parseUnused()` names, if its settings have still that `unused_until`.
   */
  purgeExpired(before: Date, limit: number): Promise<number>
  /**
   * Ends every token, code, open approval, ticket (but those of UNUSED_CLIENT) and remembered consent there is, with nothing said in the
   * feed: whoever asks for it takes all signing keys back afterwards. In small batches.
   */
  endAll(at: Date): Promise<Living>
  /** What `endAll` would end. */
  countLiving(at: Date): Promise<Living>
  /** Whether an error means that the store is away for now, not that something is wrong. */
  isUnavailable(error: unknown): boolean
}
