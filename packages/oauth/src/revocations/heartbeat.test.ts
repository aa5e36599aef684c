import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFeedHeartbeat } from './heartbeat.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const after = (milliseconds: number) => vi.advanceTimersByTime(milliseconds)

/**
 * Creates a heartbeat whose stored count the test sets, and a function that returns its verdict on
 * a read that begins now.
 */
function startHeartbeat() {
  const store: { count: number | Error } = { count: 1 }
  const heartbeat = createFeedHeartbeat({
    beat: async () => {
      if (store.count instanceof Error) throw store.count
      return store.count
    },
  })
  const pulse = async () => {
    const waiting = heartbeat.pulse()
    await waiting
    // Only the first beat is awaited.
    await Promise.resolve()
    await Promise.resolve()
    return waiting !== null
  }
  const read = (seen: number | null) => {
    try {
      return heartbeat.accepts(seen, performance.now()) ? 'accepted' : 'read again'
    } catch {
      return 'refused'
    }
  }
  return { store, pulse, read }
}

describe('the heartbeat of the revocation feed, which detects database servers that lag behind,', () => {
  it('waits only for its first write, and then writes at most every two seconds', async () => {
    const { pulse, store, read } = startHeartbeat()
    expect(await pulse()).toBe(true)
    store.count = 2
    after(1999)
    await pulse()
    expect(read(1)).toBe('accepted')
    after(1)
    expect(await pulse()).toBe(false)
    after(1000)
    expect(read(1)).toBe('refused')
  })

  it('refuses data from a database server that does not have the latest beat and was not up to date before (threat Q5)', async () => {
    const { pulse, read } = startHeartbeat()
    await pulse()
    expect(read(null)).toBe('read again')
    after(999)
    expect(read(0)).toBe('read again')
    after(1)
    expect(read(0)).toBe('refused')
    expect(read(1)).toBe('accepted')
  })

  it('gives a database server that was up to date one second to receive the latest beat, but refuses its data at once if it misses two beats (threat Q5)', async () => {
    const { store, pulse, read } = startHeartbeat()
    await pulse()
    expect(read(1)).toBe('accepted')
    store.count = 2
    after(2000)
    await pulse()
    expect(read(1)).toBe('accepted')
    // No read took place at the end of that second.
    store.count = 3
    after(2000)
    await pulse()
    expect(read(2)).toBe('accepted')
    expect(read(1)).toBe('read again')
    after(1000)
    expect(read(2)).toBe('refused')
    // The tolerance is over, so the read must show every beat.
    store.count = 4
    after(1000)
    await pulse()
    expect(read(3)).toBe('read again')
    expect(read(4)).toBe('accepted')
  })

  it('expects no new beat while the database accepts no writes', async () => {
    const { store, pulse, read } = startHeartbeat()
    await pulse()
    store.count = new Error('The disk is full')
    after(2000)
    await pulse()
    after(10_000)
    expect(read(1)).toBe('accepted')
    expect(read(0)).toBe('refused')
  })

  it('accepts a database server with a lower beat count after a failover', async () => {
    const { store, pulse, read } = startHeartbeat()
    store.count = 100
    await pulse()
    expect(read(100)).toBe('accepted')
    store.count = 90
    after(2000)
    await pulse()
    after(5000)
    expect(read(90)).toBe('accepted')
  })

  it('is neither written nor checked if the storage does not support heartbeats', async () => {
    const heartbeat = createFeedHeartbeat({})
    expect(heartbeat.pulse()).toBeNull()
    expect(heartbeat.accepts(undefined, 5000)).toBe(true)
  })
})
