import type { NewRevocation, Revocation, RevocationKind } from '../storage/records.ts'

/** What is refused for as long as it could have lived. The other kinds tell of something else. */
export type RevokedKind = Extract<RevocationKind, 'token' | 'client' | 'session'>

/** When a sign-in was relied on: by the clock of a process, and by the store's, if it was known. */
export interface SignInTime {
  readonly at: number
  readonly storeAt: number | null
}

/** The last time somebody was signed out everywhere. */
interface SignOut {
  /** By the clocks of processes. */
  readonly at: number
  /** By the store's clock. */
  readonly storeAt: number
  /** By the clocks of processes of an older version, which left no time of the store. */
  readonly unstampedAt: number
  readonly until: number
  /** As which sign-out it was read here. */
  readonly order: number
}

export interface KnownRevocations {
  /** From the store. */
  takeIn(entry: Revocation): void
  /** Committed by this process just now. */
  note(entry: NewRevocation): void
  isRevoked(kind: RevokedKind, subject: string): boolean
  /** Whether the person was signed out everywhere at or after this sign-in. */
  isSignedOut(userId: string, since: SignInTime): boolean
  /** How many sign-outs were read here: what comes later has a larger number. */
  signOutMark(): number
  signedOutAfter(userId: string, mark: number): boolean
  /** By the store's clock: after every sign-out of the person known here, and not before `storeAt`. */
  afterSignOuts(userId: string, storeAt: number): number
  endedBefore(): number
}

/** What a process knows of the feed. It never forgets what may still be alive. */
export function createKnownRevocations(
  notify: (kind: RevocationKind, subject: string) => void,
): KnownRevocations {
  const revoked: Record<RevokedKind, Map<string, number>> = {
    token: new Map(),
    client: new Map(),
    session: new Map(),
  }
  /** By person; everyone's under EVERYONE. */
  const signOuts = new Map<string, SignOut>()
  /** What was noted comes again with the next read, and must not count as another sign-out then. */
  const noted = new Map<string, NewRevocation>()
  let signOutsRead = 0
  let endedBefore = 0

  /** `storeAt`: null where an older version wrote it, 0 where it is not known yet. */
  function keepSignOut(entry: NewRevocation, storeAt: number | null): void {
    const known = signOuts.get(nameOf(entry))
    const at = entry.at.getTime()
    signOuts.set(nameOf(entry), {
      at: Math.max(known?.at ?? 0, at),
      storeAt: Math.max(known?.storeAt ?? 0, storeAt ?? 0),
      unstampedAt: Math.max(known?.unstampedAt ?? 0, storeAt === null ? at : 0),
      until: Math.max(known?.until ?? 0, entry.until.getTime()),
      order: signOutsRead,
    })
  }

  function apply(entry: NewRevocation, storeAt: number | null): void {
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

  /** What concerned only things that ended need not be known any more. */
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
      const storeAt = entry.writtenAt?.getTime() ?? null
      if (isSignOut(entry) && noted.delete(keyOf(entry))) keepSignOut(entry, storeAt)
      else apply(entry, storeAt)
    },
    note(entry) {
      if (isSignOut(entry)) {
        const isRead = signOuts.get(nameOf(entry))?.at === entry.at.getTime()
        if (isRead) return
        noted.set(keyOf(entry), entry)
      }
      apply(entry, 0)
    },
    isRevoked: (kind, subject) => revoked[kind].has(subject),
    isSignedOut: (userId, since) =>
      isNoted(userId, since.at) || signOutsOf(userId).some((end) => isAtOrAfter(end, since)),
    signOutMark: () => signOutsRead,
    signedOutAfter: (userId, mark) => signOutsOf(userId).some(({ order }) => order > mark),
    afterSignOuts: (userId, storeAt) =>
      Math.max(storeAt, ...signOutsOf(userId).map((end) => end.storeAt + 1)),
    endedBefore: () => endedBefore,
  }
}

const EVERYONE = 'everyone'

const isSignOut = ({ kind }: NewRevocation) => kind === 'user' || kind === 'everyone'
const nameOf = ({ kind, subject }: NewRevocation) =>
  kind === 'everyone' ? EVERYONE : `user ${subject}`
const keyOf = (entry: NewRevocation) => `${entry.at.getTime()} ${nameOf(entry)}`

/** By the store's clock, which is one; by those of the processes only where an older version wrote. */
function isAtOrAfter(end: SignOut, since: SignInTime): boolean {
  if (since.storeAt === null) return end.at >= since.at
  return end.storeAt >= since.storeAt || end.unstampedAt >= since.at
}
