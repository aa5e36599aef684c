import type { NewRevocation, Revocation, RevocationKind } from '../storage/records.ts'

/**
 * Kinds of revocation that reject a token or session until it would have expired. The other kinds
 * announce changes.
 */
export type RevokedKind = Extract<RevocationKind, 'token' | 'client' | 'session'>

/** Time of a sign-in, by the clock of the process and by that of the store, in milliseconds. */
export interface SignInTime {
  readonly at: number
  readonly storeAt: number
}

/** The last time a user was signed out everywhere. */
interface SignOut {
  /** Time by the clock of the process that signed the user out, in milliseconds. */
  readonly at: number
  /** Time by the clock of the store, in milliseconds. */
  readonly storeAt: number
  readonly until: number
  /** Number of this sign-out in the order in which this process learned of them. */
  readonly order: number
}

export interface KnownRevocations {
  /** Adds an entry of the revocation feed that was read from the store. */
  takeIn(entry: Revocation): void
  /** Adds an entry of the revocation feed that this process has just committed. */
  note(entry: NewRevocation): void
  isRevoked(kind: RevokedKind, subject: string): boolean
  /** Whether the user was signed out everywhere at or after this sign-in. */
  isSignedOut(userId: string, since: SignInTime): boolean
  /**
   * Returns the number of sign-outs known so far. Pass it to `signedOutSince()` later to find
   * sign-outs since this call.
   */
  signOutMark(): number
  signedOutAfter(userId: string, mark: number): boolean
  /**
   * Returns the earliest time, by the store's clock, that is not before `storeAt` and after every
   * known sign-out of the user.
   */
  afterSignOuts(userId: string, storeAt: number): number
  endedBefore(): number
}

/**
 * Creates the collection of revocations that a process knows. Each is kept as long as something
 * that it revokes could still be valid.
 */
export function createKnownRevocations(
  notify: (kind: RevocationKind, subject: string) => void,
): KnownRevocations {
  const revoked: Record<RevokedKind, Map<string, number>> = {
    token: new Map(),
    client: new Map(),
    session: new Map(),
  }
  /**
   * The last sign-out of each user. The entry EVERYONE is the last sign-out of all users together.
   */
  const signOuts = new Map<string, SignOut>()
  /**
   * Sign-outs noted by this process. They are read from the store later and must not count twice.
   */
  const noted = new Map<string, NewRevocation>()
  let signOutsRead = 0
  let endedBefore = 0

  /** Records a sign-out. `storeAt` is 0 until the entry has been read from the store. */
  function keepSignOut(entry: NewRevocation, storeAt: number): void {
    const known = signOuts.get(formatSignOutKey(entry))
    const at = entry.at.getTime()
    signOuts.set(formatSignOutKey(entry), {
      at: Math.max(known?.at ?? 0, at),
      storeAt: Math.max(known?.storeAt ?? 0, storeAt),
      until: Math.max(known?.until ?? 0, entry.until.getTime()),
      order: signOutsRead,
    })
  }

  function apply(entry: NewRevocation, storeAt: number): void {
    if (isSignOut(entry)) {
      signOutsRead += 1
      keepSignOut(entry, storeAt)
    } else if (entry.kind === 'ended') {
      endedBefore = Math.max(endedBefore, entry.at.getTime())
      forgetEnded()
    } else if (Object.hasOwn(revoked, entry.kind)) {
      revoked[entry.kind as RevokedKind].set(entry.subject, entry.until.getTime())
    }
    notify(entry.kind, entry.subject)
  }

  /** Forgets revocations and sign-outs that affect only tokens and sessions that have expired. */
  function forgetEnded(): void {
    for (const subjects of Object.values(revoked)) {
      for (const [key, until] of subjects) if (until < endedBefore) subjects.delete(key)
    }
    for (const [key, { until }] of signOuts) if (until < endedBefore) signOuts.delete(key)
  }

  function signOutsOf(userId: string): SignOut[] {
    const both = [signOuts.get(`user ${userId}`), signOuts.get(EVERYONE)]
    return both.filter((end) => end !== undefined)
  }

  function isNoted(userId: string, at: number): boolean {
    for (const entry of noted.values()) {
      const theirs = entry.kind === 'everyone' || entry.subject === userId
      if (theirs && entry.at.getTime() >= at) return true
    }
    return false
  }

  return {
    takeIn(entry) {
      const storeAt = entry.writtenAt.getTime()
      if (isSignOut(entry) && noted.delete(keyOf(entry))) keepSignOut(entry, storeAt)
      else apply(entry, storeAt)
    },
    note(entry) {
      if (isSignOut(entry)) {
        const isRead = signOuts.get(formatSignOutKey(entry))?.at === entry.at.getTime()
        if (isRead) return
        noted.set(keyOf(entry), entry)
      }
      apply(entry, 0)
    },
    isRevoked: (kind, subject) => revoked[kind].has(subject),
    isSignedOut: (userId, since) =>
      isNoted(userId, since.at) || signOutsOf(userId).some((end) => end.storeAt >= since.storeAt),
    signOutMark: () => signOutsRead,
    signedOutAfter: (userId, mark) => signOutsOf(userId).some(({ order }) => order > mark),
    afterSignOuts: (userId, storeAt) =>
      Math.max(storeAt, ...signOutsOf(userId).map((end) => end.storeAt + 1)),
    endedBefore: () => endedBefore,
  }
}

const EVERYONE = 'everyone'

const isSignOut = ({ kind }: NewRevocation) => kind === 'user' || kind === 'everyone'
const formatSignOutKey = ({ kind, subject }: NewRevocation) =>
  kind === 'everyone' ? EVERYONE : `user ${subject}`
const keyOf = (entry: NewRevocation) => `${entry.at.getTime()} ${formatSignOutKey(entry)}`
