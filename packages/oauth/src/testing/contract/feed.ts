import assert from 'node:assert/strict'
import { code, interaction, key, later, notice, T0, token } from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** What a store must do for keys and for the news that every process follows, and what it may forget. */
export const feedContract: ContractPart = ({ describe, it }, create) => {
  describe('keys', () => {
    it('has one first key, however many processes start at once', async () => {
      const { keys } = await create()
      let made = 0
      const first = async () => {
        made += 1
        return { ...key, kid: `key-${made}` }
      }
      await Promise.all([keys.addFirst(first), keys.addFirst(first), keys.addFirst(first)])
      assert.equal((await keys.list()).length, 1)
    })

    it('adds and removes keys and announces it', async () => {
      const { keys, revocations } = await create()
      await keys.add(key, notice('keys', 'changed'))
      assert.deepEqual(await keys.list(), [key])
      await keys.remove(key.kid, notice('keys', 'changed'))
      assert.deepEqual(await keys.list(), [])
      assert.equal((await revocations.readAfter(0, 10)).length, 2)
    })
  })

  describe('revocations', () => {
    it('are read in order, a page at a time', async () => {
      const { revocations } = await create()
      for (const subject of ['1', '2', '3']) await revocations.append(notice('token', subject))
      const page = await revocations.readAfter(0, 2)
      assert.deepEqual(
        page.map(({ subject }) => subject),
        ['1', '2'],
      )
      const rest = await revocations.readAfter(page[1]?.id ?? 0, 2)
      assert.deepEqual(
        rest.map(({ subject }) => subject),
        ['3'],
      )
    })
  })

  describe('the mark of what has ended', () => {
    const ended = { ...notice('token', 'old'), until: later(-10) }

    it('is left only when there is something to purge, and never goes back', async () => {
      const { revocations } = await create()
      assert.equal(await revocations.markEnded(T0), null)
      await revocations.append(ended)
      assert.deepEqual((await revocations.markEnded(T0))?.at, T0)
      assert.deepEqual((await revocations.markEnded(later(-5)))?.at, T0)
      assert.deepEqual((await revocations.markEnded(later(5)))?.at, later(5))
    })

    it('stays alone, and stays when the rest is purged', async () => {
      const storage = await create()
      await storage.revocations.append(ended)
      await storage.revocations.markEnded(T0)
      await storage.revocations.markEnded(later(1))
      await storage.purge(later(1), 10)
      const entries = await storage.revocations.readAfter(0, 10)
      assert.deepEqual(
        entries.map(({ kind, at }) => [kind, at]),
        [['ended', later(1)]],
      )
    })
  })

  describe('purge', () => {
    it('removes what ended, and never what is alive', async () => {
      const storage = await create()
      await storage.tokens.create(token)
      await storage.tokens.create({ ...token, id: 'old', liveUntil: later(-10) })
      await storage.codes.create({ ...code, expiresAt: later(-10) })
      await storage.interactions.create({ ...interaction, expiresAt: later(-10) }, 10)
      await storage.revocations.append({ ...notice('token', 'old'), until: later(-10) })
      await storage.revocations.append(notice('token', 'young'))
      let deleted = 0
      for (;;) {
        const batch = await storage.purge(T0, 1)
        if (batch === 0) break
        deleted += batch
      }
      assert.equal(deleted, 4)
      assert.notEqual(await storage.tokens.find(token.id), null)
      assert.equal(await storage.tokens.find('old'), null)
      assert.equal((await storage.revocations.readAfter(0, 10)).length, 1)
    })
  })
}
