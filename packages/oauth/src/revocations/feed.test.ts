import { describe, expect, it } from 'vitest'
import type { NewRevocation, Revocation } from '../storage/repositories.ts'
import { followRevocations } from './feed.ts'

function ending(subject: string, at: number): NewRevocation {
  return { kind: 'user', subject, at: new Date(at), until: new Date(at + 1000) }
}

/** A feed, and how a process appends to what it reads. */
function feedOf() {
  const stored: Revocation[] = []
  const feed = followRevocations({
    readAfter: async (id) => stored.filter((entry) => entry.id > id),
  })
  const append = (entry: NewRevocation) => stored.push({ ...entry, id: stored.length + 1 })
  return { feed, append }
}

describe('the end of sign-ins', () => {
  it('counts once when it was noted here and is read later', async () => {
    const { feed, append } = feedOf()
    append(ending('ada', 1))
    feed.note(ending('ada', 1))
    const mark = feed.endings()
    expect(await feed.endedMeanwhile('ada', mark)).toBe(false)
    expect(feed.endings()).toBe(mark)
  })

  it('counts once when it was read before it was noted', async () => {
    const { feed, append } = feedOf()
    append(ending('ada', 1))
    await feed.sync()
    const mark = feed.endings()
    feed.note(ending('ada', 1))
    expect(await feed.endedMeanwhile('ada', mark)).toBe(false)
  })

  it.each([
    ['here', true],
    ['elsewhere', false],
  ])('is seen when it comes after the mark, %s', async (_where, here) => {
    const { feed, append } = feedOf()
    append(ending('ada', 5))
    await feed.sync()
    const mark = feed.endings()
    // By a clock that is behind.
    append(ending('ada', 3))
    if (here) feed.note(ending('ada', 3))
    expect(await feed.endedMeanwhile('ada', mark)).toBe(true)
    expect(await feed.endedMeanwhile('bob', mark)).toBe(false)
  })
})
