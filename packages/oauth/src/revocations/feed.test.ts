import { describe, expect, it, vi } from 'vitest'
import { memoryStorage } from '../storage/memory.ts'
import type { NewRevocation, RevocationFeedPage } from '../storage/records.ts'
import { followRevocations } from './feed.ts'

function ending(subject: string, at: number): NewRevocation {
  return { kind: 'user', subject, at: new Date(at), until: new Date(at + 1000) }
}

/** Creates a feed, and a function to append to the store that it reads. */
function feedOf() {
  const { revocations } = memoryStorage()
  const feed = followRevocations(revocations, { error() {} })
  return { feed, append: revocations.append }
}

describe('sign-outs read from the revocation feed', () => {
  it('are counted once if this process records them first and then reads them from the database', async () => {
    const { feed, append } = feedOf()
    await append(ending('ada', 1))
    feed.note(ending('ada', 1))
    const mark = feed.signOutMark()
    expect(await feed.signedOutSince('ada', mark)).toBe(false)
    expect(feed.signOutMark()).toBe(mark)
  })

  it('are counted once if this process reads them from the database first and then records them', async () => {
    const { feed, append } = feedOf()
    await append(ending('ada', 1))
    await feed.sync()
    const mark = feed.signOutMark()
    feed.note(ending('ada', 1))
    expect(await feed.signedOutSince('ada', mark)).toBe(false)
  })

  it.each([
    ['by this process', true],
    ['by another process', false],
  ])(
    'are noticed by comparing two positions in the feed if they were made %s',
    async (_where, here) => {
      const { feed, append } = feedOf()
      await append(ending('ada', 5))
      await feed.sync()
      const mark = feed.signOutMark()
      // The clock of the process that signed the user out is behind.
      await append(ending('ada', 3))
      if (here) feed.note(ending('ada', 3))
      expect(await feed.signedOutSince('ada', mark)).toBe(true)
      expect(await feed.signedOutSince('bob', mark)).toBe(false)
    },
  )

  it('affect every user if all users are signed out together', async () => {
    const { feed, append } = feedOf()
    await feed.sync()
    const mark = feed.signOutMark()
    const storeAt = feed.storeNow()
    await append({ ...ending('all', 3), kind: 'everyone' })
    expect(await feed.signedOutSince('ada', mark)).toBe(true)
    expect(feed.isSignedOut('bob', { at: Date.now(), storeAt })).toBe(true)
    const after = feed.afterSignOuts('bob', storeAt)
    expect(feed.isSignedOut('bob', { at: Date.now(), storeAt: after })).toBe(false)
  })

  it('count as later than an earlier sign-in even if the clocks of the processes differ', async () => {
    const { feed, append } = feedOf()
    await feed.sync()
    const signedIn = { at: Date.now(), storeAt: feed.afterSignOuts('ada', feed.storeNow()) }
    // Appended by a process whose clock is an hour behind.
    await append(ending('ada', Date.now() - 3_600_000))
    await feed.sync()
    expect(feed.isSignedOut('ada', signedIn)).toBe(true)
    // A sign-in by a process whose clock is an hour behind, after a sign-out by one whose clock is
    // ahead.
    await append(ending('bob', Date.now() + 3_600_000))
    await feed.sync()
    const later = {
      at: Date.now() - 3_600_000,
      storeAt: feed.afterSignOuts('bob', feed.storeNow()),
    }
    expect(feed.isSignedOut('bob', later)).toBe(false)
  })
})

it('the revocation feed waits for a database read no longer than the timeout of the storage', async () => {
  vi.useFakeTimers()
  try {
    let give = (_: RevocationFeedPage) => {}
    const readFrom = () => new Promise<RevocationFeedPage>((resolve) => (give = resolve))
    const hasty = followRevocations({ readFrom }, { error() {} })
    const refused = expect(hasty.sync()).rejects.toThrow('cannot check tokens')
    await vi.advanceTimersByTimeAsync(2_000)
    await refused
    const patient = followRevocations({ readFrom }, { error() {} }, { storeTimeout: 10_000 })
    const synced = patient.sync()
    await vi.advanceTimersByTimeAsync(9_999)
    give({ entries: [], now: new Date() })
    await synced
  } finally {
    vi.useRealTimers()
  }
})
