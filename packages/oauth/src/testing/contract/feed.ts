import assert from 'node:assert/strict'
import {
  CONTRACT_START,
  createTestRevocation,
  exampleCode,
  exampleInteraction,
  exampleKey,
  exampleToken,
  secondsAfterStart,
} from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles signing keys, the revocation feed and purging. */
export const defineFeedContract: ContractPart = ({ describe, it }, create) => {
  describe('the key repository', () => {
    it('stores only one first key for an algorithm, however many processes start concurrently', async () => {
      const { keys } = await create()
      let made = 0
      const first = (algorithm: string) =>
        keys.addFirst(algorithm, async () => {
          made += 1
          return { ...exampleKey, kid: `key-${made}`, algorithm }
        })
      await Promise.all([first('EdDSA'), first('EdDSA'), first('EdDSA')])
      await Promise.all([first('RS256'), first('EdDSA'), first('RS256')])
      const algorithms = (await keys.list()).map(({ algorithm }) => algorithm)
      assert.deepEqual(algorithms.sort(), ['EdDSA', 'RS256'])
    })

    it('replaces all keys by several new ones', async () => {
      const { keys, revocations } = await create()
      await keys.add(exampleKey, createTestRevocation('keys', 'changed'))
      const others = ['a', 'b'].map((kid) => ({ ...exampleKey, kid }))
      await keys.replaceAll(others, createTestRevocation('keys', 'changed'))
      const kids = (await keys.list()).map(({ kid }) => kid)
      assert.deepEqual(kids.sort(), ['a', 'b'])
      assert.equal((await revocations.readFrom(0, 10)).entries.length, 2)
    })

    it('adds and deletes keys, and adds an entry to the revocation feed each time', async () => {
      const { keys, revocations } = await create()
      await keys.add(exampleKey, createTestRevocation('keys', 'changed'))
      assert.deepEqual(await keys.list(), [exampleKey])
      await keys.remove(exampleKey.kid, createTestRevocation('keys', 'changed'))
      assert.deepEqual(await keys.list(), [])
      assert.equal((await revocations.readFrom(0, 10)).entries.length, 2)
    })
  })

  describe('entries of the revocation feed', () => {
    it('are read in order and page by page, starting at the given id', async () => {
      const { revocations } = await create()
      assert.deepEqual((await revocations.readFrom(0, 2)).entries, [])
      for (const subject of ['1', '2', '3'])
        await revocations.append(createTestRevocation('token', subject))
      const { entries } = await revocations.readFrom(0, 2)
      assert.deepEqual(
        entries.map(({ subject }) => subject),
        ['1', '2'],
      )
      const rest = await revocations.readFrom(entries[1]?.id ?? 0, 5)
      assert.deepEqual(
        rest.entries.map(({ subject }) => subject),
        ['2', '3'],
      )
      assert.deepEqual(rest.entries[0], entries[1])
    })

    it('have different marks, even if they are otherwise equal', async () => {
      const { revocations } = await create()
      for (let i = 0; i < 3; i += 1) await revocations.append(createTestRevocation('token', 'same'))
      const { entries } = await revocations.readFrom(0, 10)
      const marks = new Set(entries.map(({ mark }) => mark))
      assert.equal(marks.size, 3)
      for (const mark of marks) assert.ok(mark !== null && mark.length >= 22)
    })

    it('have the time of the database, whatever time the caller passes', async () => {
      const { revocations } = await create()
      const { now: before } = await revocations.readFrom(0, 10)
      await revocations.append({
        ...createTestRevocation('token', '1'),
        at: secondsAfterStart(-1e6),
        until: secondsAfterStart(1e6),
      })
      const { entries, now: after } = await revocations.readFrom(0, 10)
      const writtenAt = entries[0]?.writtenAt.getTime() ?? 0
      assert.ok(before.getTime() <= writtenAt && writtenAt <= after.getTime())
    })

    it('are read together with the latest beat if the storage counts beats', async () => {
      const { revocations } = await create()
      if (!revocations.beat) return
      const counts = await Promise.all([1, 2, 3].map(() => revocations.beat?.()))
      const last = await revocations.beat()
      assert.ok(counts.every((count) => count !== undefined && count >= 1 && count <= last))
      assert.equal((await revocations.readFrom(0, 10)).beat, last)
    })

    it('are kept for a day by the clock of the database, and the newest entry is always kept', async () => {
      const storage = await create()
      const over = { ...createTestRevocation('token', 'old'), until: secondsAfterStart(-10) }
      for (let i = 0; i < 3; i += 1) await storage.revocations.append(over)
      assert.equal(await storage.revocations.markEnded(CONTRACT_START), null)
      assert.equal(await storage.purge(CONTRACT_START, 10), 0)
      assert.equal((await storage.revocations.readFrom(0, 10)).entries.length, 3)
    })
  })

  describe('purge()', () => {
    it('deletes expired rows and keeps valid ones', async () => {
      const storage = await create()
      await storage.tokens.create(exampleToken)
      await storage.tokens.create({ ...exampleToken, id: 'old', liveUntil: secondsAfterStart(-10) })
      await storage.codes.create({ ...exampleCode, expiresAt: secondsAfterStart(-10) })
      await storage.interactions.create(
        { ...exampleInteraction, expiresAt: secondsAfterStart(-10) },
        10,
      )
      let deleted = 0
      for (;;) {
        const batch = await storage.purge(CONTRACT_START, 1)
        if (batch === 0) break
        deleted += batch
      }
      assert.equal(deleted, 3)
      assert.notEqual(await storage.tokens.find(exampleToken.id), null)
      assert.equal(await storage.tokens.find('old'), null)
    })
  })
}
