import type { NewRevocation, Revocation, RevocationKind } from '../storage/repositories.ts'

/** What is refused for as long as it could have lived. The other kinds tell of something else. */
export type RevokedKind = Extract<RevocationKind, 'token' | 'client' | 'session'>

/** When a sign-in was relied on: by the clock of a process, and by the store's, if it was known. */
export interface SignInTime {
  readonly at: number
  readonly storeAt: number | null
}

/** The last end of somebody's sign-ins. */
interface Ending {
  /** By the clocks of processes. */
  readonly at: number
  /** By the store's clock. */
  readonly storeAt: number
  /** By the clocks of processes of an older version, which left no time of the store. */
  readonly unstampedAt: number
  readonly until: number
  /** As which ending it was read here. */
  readonly order: number
}

export interface KnownRevocations {
  /** From the store. */
  takeIn(entry: Revocation): void
  /** Committed by this process just now. */
  note(entry: NewRevocation): void
  isRevoked(kind: RevokedKind, subject: string): boolean
  /** Whether the person's sign-ins were ended at or after this one. */
  hasEnded(userId: string, since: SignInTime): boolean
  endings(): number
  endedAfter(userId: string, endings: number): boolean
  /** By the store's clock: after all ends of the person's sign-ins known here, and not before `storeAt`. */
  afterEndings(userId: string, storeAt: number): number
  endedBefore(): number
}

/** What a process knows of the feed. It never forgets what may still be alive. */
export function createKnownRevocations(
  announce: (kind: RevocationKind, subject: string) => void,
): KnownRevocations {
  const revoked: Record<RevokedKind, Map<string, number>> = {
    token: new Map(),
    client: new Map(),
    session: new Map(),
  }
  /** By person; everyone's under EVERYONE. */
  const ends = new Map<string, Ending>()
  /** What was noted comes again with the next read, and must not count as another ending then. */
  const noted = new Map<string, NewRevocation>()
  let endings = 0
  let endedBefore = 0

  /** `storeAt`: null where an older version wrote it, 0 where it is not known yet. */
  function keepEnding(entry: NewRevocation, storeAt: number | null): void {
    const known = ends.get(nameOf(entry))
    const at = entry.at.getTime()
    ends.set(nameOf(entry), {
      at: Math.max(known?.at ?? 0, at),
      storeAt: Math.max(known?.storeAt ?? 0, storeAt ?? 0),
      unstampedAt: Math.max(known?.unstampedAt ?? 0, storeAt === null ? at : 0),
      until: Math.max(known?.until ?? 0, entry.until.getTime()),
      order: endings,
    })
  }

  function apply(entry: NewRevocation, storeAt: number | null): void {
    if (isEnding(entry)) {
      endings += 1
      keepEnding(entry, storeAt)
    } else if (entry.kind === 'ended') {
      endedBefore = Math.max(endedBefore, entry.at.getTime())
      forgetEnded()
    } else if (Object.hasOwn(revoked, entry.kind)) {
      revoked[entry.kind as RevokedKind].set(entry.subject, entry.until.getTime())
    }
    announce(entry.kind, entry.subject)
  }

  /** What concerned only things that ended need not be known any more. */
  function forgetEnded(): void {
    for (const subjects of Object.values(revoked)) {
      for (const [key, until] of subjects) if (until < endedBefore) subjects.delete(key)
    }
    for (const [key, { until }] of ends) if (until < endedBefore) ends.delete(key)
  }

  function endsOf(userId: string): Ending[] {
    const both = [ends.get(`user ${userId}`), ends.get(EVERYONE)]
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
      if (isEnding(entry) && noted.delete(endingOf(entry))) keepEnding(entry, storeAt)
      else apply(entry, storeAt)
    },
    note(entry) {
      if (isEnding(entry)) {
        const isRead = ends.get(nameOf(entry))?.at === entry.at.getTime()
        if (isRead) return
        noted.set(endingOf(entry), entry)
      }
      apply(entry, 0)
    },
    isRevoked: (kind, subject) => revoked[kind].has(subject),
    hasEnded: (userId, since) =>
      isNoted(userId, since.at) || endsOf(userId).some((end) => isAtOrAfter(end, since)),
    endings: () => endings,
    endedAfter: (userId, mark) => endsOf(userId).some(({ order }) => order > mark),
    afterEndings: (userId, storeAt) =>
      Math.max(storeAt, ...endsOf(userId).map((end) => end.storeAt + 1)),
    endedBefore: () => endedBefore,
  }
}

const EVERYONE = 'everyone'

const isEnding = ({ kind }: NewRevocation) => kind === 'user' || kind === 'everyone'
const nameOf = ({ kind, subject }: NewRevocation) =>
  kind === 'everyone' ? EVERYONE : `user ${subject}`
const endingOf = (entry: NewRevocation) => `${entry.at.getTime()} ${nameOf(entry)}`

/** By the store's clock, which is one; by those of the processes only where an older version wrote. */
function isAtOrAfter(end: Ending, since: SignInTime): boolean {
  if (since.storeAt === null) return end.at >= since.at
  return end.storeAt >= since.storeAt || end.unstampedAt >= since.at
}
