import { afterEach, describe, expect, it } from 'vitest'
import type { ChangeEntry, ChangeSource } from './changes.ts'
import { type Follower, followChanges } from './follow.ts'

const followers: Follower[] = []
afterEach(() => {
  for (const follower of followers.splice(0)) follower.stop()
})

/** A list of changes in memory, whose entries may appear in any order. */
class ChangeList implements ChangeSource {
  entries: ChangeEntry[] = []
  now = 1_000_000
  fails = false
  reads = 0

  add(id: number, subject: string, changedAt = this.now): void {
    this.entries.push({ id, subject, changedAt: new Date(changedAt) })
    this.entries.sort((a, b) => a.id - b.id)
  }

  async readFrom(id: number, limit: number) {
    this.reads += 1
    if (this.fails) throw new Error('The database is away')
    const entries = this.entries.filter((entry) => entry.id >= id).slice(0, limit)
    return { entries, now: new Date(this.now) }
  }
}

function follow(list: ChangeList) {
  const changed: string[] = []
  const breaks: string[] = []
  const follower = followChanges({
    sources: [list],
    logger: { warn: (text) => breaks.push(text), error: (text) => breaks.push(text) },
    onChange: (subject) => changed.push(subject),
    onBreak: () => changed.push('everything'),
  })
  followers.push(follower)
  return { follower, changed, breaks }
}

/** Reads now, also if the last read is still fresh. */
async function readAgain(follower: Follower, list: ChangeList): Promise<void> {
  const { reads } = list
  follower.start()
  await expect.poll(() => list.reads, { interval: 5 }).toBeGreaterThan(reads + 1)
  follower.stop()
}

describe('the follower of changes to plans', () => {
  it('reports each change once, and no change from before its first read', async () => {
    const list = new ChangeList()
    list.add(1, 'user:1')
    const { follower, changed } = follow(list)
    expect(follower.isFresh()).toBe(false)
    await follower.sync()
    expect(follower.isFresh()).toBe(true)
    list.add(2, 'user:2')
    list.add(3, 'user:3')
    await readAgain(follower, list)
    expect(changed).toEqual(['user:2', 'user:3'])
  })

  it('reports a change whose transaction commits after that of a change with a higher id', async () => {
    const list = new ChangeList()
    list.add(1, 'user:1', list.now - 60_000)
    const { follower, changed } = follow(list)
    await follower.sync()
    list.add(3, 'user:3')
    await readAgain(follower, list)
    list.add(2, 'user:2')
    await readAgain(follower, list)
    expect(changed).toEqual(['user:3', 'user:2'])
  })

  it('reports that every plan may have changed if the database lost an entry that was read before', async () => {
    const list = new ChangeList()
    list.add(1, 'user:1', list.now - 60_000)
    list.add(2, 'user:2', list.now - 50_000)
    const { follower, changed, breaks } = follow(list)
    await follower.sync()
    list.entries = []
    list.add(1, 'user:1', list.now - 60_000)
    list.add(2, 'user:9', list.now - 40_000)
    await readAgain(follower, list)
    expect(changed).toEqual(['everything'])
    expect(breaks).toEqual([expect.stringContaining('has lost part of the changes')])
  })

  it('reports that every plan may have changed if the database has another entry under an id that was read before', async () => {
    const list = new ChangeList()
    const { follower, changed } = follow(list)
    await follower.sync()
    list.add(1, 'user:1')
    await readAgain(follower, list)
    list.entries = []
    list.add(1, 'user:2')
    await readAgain(follower, list)
    expect(changed).toEqual(['user:1', 'everything'])
  })

  it('reports 2,500 changes at once, each of them once', async () => {
    const list = new ChangeList()
    const { follower, changed } = follow(list)
    await follower.sync()
    for (let id = 1; id <= 2500; id += 1) list.add(id, `user:${id}`)
    await readAgain(follower, list)
    expect(new Set(changed).size).toBe(2500)
    expect(changed).toHaveLength(2500)
  })

  it('throws GATE_UNAVAILABLE and is not fresh while the list of changes cannot be read', async () => {
    const list = new ChangeList()
    list.fails = true
    const { follower } = follow(list)
    await expect(follower.sync()).rejects.toMatchObject({ code: 'GATE_UNAVAILABLE' })
    expect(follower.isFresh()).toBe(false)
    list.fails = false
    await follower.sync()
    expect(follower.isFresh()).toBe(true)
  })
})
