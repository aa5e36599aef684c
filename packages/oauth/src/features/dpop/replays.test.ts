import { describe, expect, it } from 'vitest'
import type { ServerContext } from '../../context.ts'
import { memoryStorage } from '../../storage/memory.ts'
import { movableClock } from '../../testing/movable-clock.ts'
import { createReplayDetector } from './replays.ts'

/** Creates a replay check that counts its writes to the store. */
function setUp(most?: number) {
  const clock = movableClock()
  const storage = memoryStorage()
  const { add } = storage.tickets
  let writes = 0
  const tickets = {
    ...storage.tickets,
    add: (ticket: Parameters<typeof add>[0]) => {
      writes += 1
      return add.call(storage.tickets, ticket)
    },
  }
  const context = { clock, storage: { ...storage, tickets } } as unknown as ServerContext
  const replays = createReplayDetector(most)
  const claim = (jti: string, where: 'everywhere' | 'process' = 'process', by = replays) =>
    by.claim({ jti, thumbprint: 'key', until: clock.now().getTime() + 5 * 60_000 }, where, context)
  return { clock, claim, writes: () => writes }
}

describe('createReplayDetector(), which finds DPoP proofs that are used twice,', () => {
  it('uses memory only, and no database, if replays are to be detected within each process only', async () => {
    const { claim, writes } = setUp()
    expect(await claim('a')).toBe(true)
    expect(await claim('a')).toBe(false)
    expect(writes()).toBe(0)
  })

  it('detects a proof that another process has already seen, and writes each proof to the database once', async () => {
    const { claim, writes } = setUp()
    expect(await claim('a', 'everywhere')).toBe(true)
    expect(await claim('a', 'everywhere')).toBe(false)
    expect(writes()).toBe(1)
    expect(await claim('a', 'everywhere', createReplayDetector())).toBe(false)
  })

  it('detects the replay of every valid proof, even if more proofs arrived than fit into memory', async () => {
    const { clock, claim } = setUp(4)
    const names = Array.from({ length: 10 }, (_, index) => `proof ${index}`)
    for (const name of names) expect(await claim(name)).toBe(true)
    for (const name of names) expect(await claim(name)).toBe(false)
    clock.advance({ minutes: 4 })
    for (const name of names) expect(await claim(name)).toBe(false)
  })

  it('removes expired proofs from memory', async () => {
    const { clock, claim, writes } = setUp(4)
    for (const name of ['a', 'b', 'c', 'd']) expect(await claim(name)).toBe(true)
    clock.advance({ minutes: 31 })
    expect(await claim('e')).toBe(true)
    expect(writes()).toBe(0)
  })

  it('detects a replay even after the clock was set back', async () => {
    const { clock, claim } = setUp()
    expect(await claim('a')).toBe(true)
    clock.set(new Date(clock.now().getTime() - 3600_000))
    expect(await claim('a')).toBe(false)
  })
})
