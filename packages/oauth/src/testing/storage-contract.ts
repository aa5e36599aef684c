import assert from 'node:assert/strict'
import type { Rotation, Storage, Token } from '../storage/repositories.ts'
import {
  client,
  code,
  interaction,
  key,
  later,
  notice,
  rotation,
  T0,
  token,
} from './contract-fixtures.ts'

/** `describe` and `it` of whatever test runner you use. */
export interface StorageContractRunner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
}

/**
 * What every store must do, to be run on your own with your own test runner. `create` gives an empty,
 * migrated store each time.
 * @example
 * storageContract({ describe, it }, async () => memoryStorage())
 */
export function storageContract(
  { describe, it }: StorageContractRunner,
  create: () => Promise<Storage>,
): void {
  describe('clients', () => {
    it('gives back what was stored, exactly', async () => {
      const { clients } = await create()
      assert.equal(await clients.create(client), true)
      assert.deepEqual(await clients.find('client-1'), client)
      assert.equal(await clients.find('CLIENT-1'), null)
      assert.equal(await clients.find('client-1 '), null)
    })

    it('takes an id once', async () => {
      const { clients } = await create()
      assert.equal(await clients.create(client), true)
      assert.equal(await clients.create({ ...client, name: 'other' }), false)
      assert.equal((await clients.find('client-1'))?.name, client.name)
    })

    it("lists a person's own, by name, without revoked ones", async () => {
      const { clients } = await create()
      await clients.create({ ...client, id: '1', name: 'b' })
      await clients.create({ ...client, id: '2', name: 'a' })
      await clients.create({ ...client, id: '3', name: 'c', revokedAt: T0 })
      await clients.create({ ...client, id: '4', name: 'd', userId: 'bob' })
      const names = (await clients.listByUser('ada')).map(({ name }) => name)
      assert.deepEqual(names, ['a', 'b'])
    })

    it('updates and announces in one step', async () => {
      const { clients, revocations } = await create()
      await clients.create(client)
      const change = { name: 'new', redirectUris: ['https://b.example'], updatedAt: later(1) }
      assert.equal(
        await clients.update(client.id, change, notice('client-changed', client.id)),
        true,
      )
      assert.deepEqual(await clients.find(client.id), { ...client, ...change })
      const [entry] = await revocations.readAfter(0, 10)
      assert.equal(entry?.subject, client.id)
    })
  })

  describe('changes of a client', () => {
    const change = (fields: object) => ({ ...fields, updatedAt: later(1) })
    const news = notice('client-changed', client.id)

    it('leave alone what they do not name', async () => {
      const { clients } = await create()
      await clients.create(client)
      const rotation = change({ secretHash: 'new', secretVersion: 2 })
      await Promise.all([
        clients.update(client.id, rotation, news),
        clients.update(client.id, change({ name: 'new' }), news),
      ])
      assert.deepEqual(await clients.find(client.id), { ...client, ...rotation, name: 'new' })
    })

    it('of the secret are won by one of many', async () => {
      const { clients } = await create()
      await clients.create(client)
      const results = await Promise.all(
        ['a', 'b', 'c'].map((secretHash) =>
          clients.update(client.id, change({ secretHash, secretVersion: 2 }), news),
        ),
      )
      assert.equal(results.filter((won) => won).length, 1)
    })

    it('come too late when it is revoked or unknown, and announce nothing', async () => {
      const { clients, revocations } = await create()
      await clients.create({ ...client, revokedAt: T0 })
      assert.equal(await clients.update(client.id, change({ name: 'new' }), news), false)
      assert.equal(await clients.update('none', change({ name: 'new' }), news), false)
      assert.deepEqual((await clients.find(client.id))?.revokedAt, T0)
      assert.deepEqual(await revocations.readAfter(0, 10), [])
    })
  })

  describe('tokens', () => {
    it('gives back what was stored, exactly', async () => {
      const { tokens } = await create()
      await tokens.create(token)
      assert.deepEqual(await tokens.find(token.id), token)
      const client = { ...token, id: 'x', userId: null, refreshExpiresAt: null, scopes: [] }
      await tokens.create(client)
      assert.deepEqual(await tokens.find('x'), client)
    })

    it('rotates the present generation once', async () => {
      const { tokens } = await create()
      await tokens.create(token)
      const results = await Promise.all(
        Array.from({ length: 20 }, () => tokens.rotate(rotation(0, later(1)))),
      )
      const won = results.filter((result) => result !== null)
      assert.equal(won.length, 1)
      assert.equal(won[0]?.generation, 1)
      assert.deepEqual(won[0]?.liveUntil, later(601))
      assert.deepEqual(await tokens.find(token.id), won[0])
    })

    it('never brings the end of life forward', async () => {
      const { tokens } = await create()
      await tokens.create({ ...token, liveUntil: later(9999) })
      const rotated = await tokens.rotate(rotation(0, later(1)))
      assert.deepEqual(rotated?.liveUntil, later(9999))
    })

    const dead: ReadonlyArray<[string, Partial<Token>, Partial<Rotation>]> = [
      ['of another client', {}, { clientId: 'other' }],
      ['of an older secret', {}, { clientSecretVersion: 2 }],
      ['of another generation', { generation: 3 }, {}],
      ['that was revoked', { revokedAt: T0 }, {}],
      ['that expired', { refreshExpiresAt: later(1) }, {}],
      ['without a refresh token', { refreshExpiresAt: null }, {}],
      ['that does not exist', {}, { id: 'none' }],
    ]
    for (const [name, change, request] of dead) {
      it(`does not rotate one ${name}`, async () => {
        const { tokens } = await create()
        const before = { ...token, ...change }
        await tokens.create(before)
        assert.equal(await tokens.rotate({ ...rotation(0, later(1)), ...request }), null)
        assert.deepEqual(await tokens.find(token.id), before)
      })
    }

    it('revokes once and announces each token until nothing of it can live', async () => {
      const { tokens, revocations } = await create()
      await tokens.create(token)
      assert.equal((await tokens.revoke({ id: token.id }, later(5))).length, 1)
      assert.equal((await tokens.revoke({ id: token.id }, later(6))).length, 0)
      assert.deepEqual((await tokens.find(token.id))?.revokedAt, later(5))
      const entries = await revocations.readAfter(0, 10)
      assert.equal(entries.length, 1)
      assert.deepEqual(entries[0]?.until, token.liveUntil)
      assert.equal(await tokens.rotate(rotation(0, later(6))), null)
    })

    it('lets a revoked one be purged while the news of it stays', async () => {
      const storage = await create()
      await storage.tokens.create(token)
      await storage.tokens.revoke({ id: token.id }, later(5))
      await storage.purge(later(6), 10)
      assert.equal(await storage.tokens.find(token.id), null)
      assert.equal((await storage.revocations.readAfter(0, 10)).length, 1)
    })

    it('revokes what matches and nothing else', async () => {
      const { tokens } = await create()
      await tokens.create({ ...token, id: '1' })
      await tokens.create({ ...token, id: '2', clientId: 'client-2' })
      await tokens.create({ ...token, id: '3', userId: 'bob' })
      const pair = await tokens.revoke({ userId: 'ada', clientId: 'client-1' }, T0)
      assert.deepEqual(
        pair.map(({ id }) => id),
        ['1'],
      )
      const person = await tokens.revoke({ userId: 'ada' }, T0)
      assert.deepEqual(
        person.map(({ id }) => id),
        ['2'],
      )
      assert.equal((await tokens.find('3'))?.revokedAt, null)
    })

    it("revoking a person's tokens ends pending codes and requests too", async () => {
      const { tokens, codes, interactions } = await create()
      await codes.create(code)
      await interactions.create(interaction, 10)
      await tokens.revoke({ userId: 'ada' }, T0)
      assert.equal(await codes.find(code.hash), null)
      assert.equal(await interactions.find(interaction.hash), null)
    })

    it('lists what is alive, newest first', async () => {
      const { tokens } = await create()
      await tokens.create({ ...token, id: '1' })
      await tokens.create({ ...token, id: '2', createdAt: later(1) })
      await tokens.create({ ...token, id: '3', revokedAt: T0 })
      await tokens.create({ ...token, id: '4', liveUntil: later(1) })
      const ids = (await tokens.listByUser('ada', later(2))).map(({ id }) => id)
      assert.deepEqual(ids, ['2', '1'])
    })
  })

  describe('authorization codes', () => {
    it('are exchanged once, with their token, however many try at once', async () => {
      const { codes, tokens } = await create()
      await codes.create(code)
      assert.deepEqual(await codes.find(code.hash), code)
      const results = await Promise.all(
        Array.from({ length: 20 }, () => codes.exchange(code.hash, later(1), token)),
      )
      assert.equal(results.filter((won) => won).length, 1)
      assert.deepEqual(await tokens.find(token.id), token)
      assert.deepEqual((await codes.find(code.hash))?.usedAt, later(1))
    })

    it('that do not exist give no token', async () => {
      const { codes, tokens } = await create()
      assert.equal(await codes.exchange('none', T0, token), false)
      assert.equal(await tokens.find(token.id), null)
    })
  })

  describe('interactions', () => {
    it('give back what was stored, exactly', async () => {
      const { interactions } = await create()
      await interactions.create(interaction, 10)
      assert.deepEqual(await interactions.find(interaction.hash), interaction)
    })

    it('are decided once, with consent and code in the same step', async () => {
      const { interactions, consents, codes } = await create()
      await interactions.create(interaction, 10)
      const consent = { userId: 'ada', clientId: 'client-1', scopes: ['a'], updatedAt: T0 }
      const decisions = await Promise.all([
        interactions.approve(interaction.hash, { at: T0, consent, code }),
        interactions.approve(interaction.hash, { at: T0, consent, code: { ...code, hash: 'x' } }),
        interactions.deny(interaction.hash, T0),
      ])
      assert.equal(decisions.filter((won) => won).length, 1)
      const stored = [await codes.find(code.hash), await codes.find('x')]
      const approved = decisions[0] || decisions[1]
      assert.equal(stored.filter((found) => found !== null).length, approved ? 1 : 0)
      assert.equal((await consents.find('ada', 'client-1')) !== null, approved)
    })

    it('are not decided after they expired', async () => {
      const { interactions } = await create()
      await interactions.create(interaction, 10)
      assert.equal(await interactions.deny(interaction.hash, later(600)), false)
    })

    it('consents add up', async () => {
      const { interactions, consents } = await create()
      for (const [hash, scopes] of [
        ['1', ['a', 'b']],
        ['2', ['b', 'c']],
      ] as const) {
        await interactions.create({ ...interaction, hash }, 10)
        const consent = { userId: 'ada', clientId: 'client-1', scopes, updatedAt: T0 }
        await interactions.approve(hash, { at: T0, consent, code: { ...code, hash } })
      }
      const found = await consents.find('ada', 'client-1')
      assert.deepEqual(found?.scopes, ['a', 'b', 'c'])
      await consents.remove('ada', 'client-1')
      assert.equal(await consents.find('ada', 'client-1'), null)
    })

    it('a consent lets a code or token through only as long as it is the one that was read', async () => {
      const { interactions, consents, codes, tokens } = await create()
      await interactions.create(interaction, 10)
      const consent = { userId: 'ada', clientId: 'client-1', scopes: ['a'], updatedAt: T0 }
      await interactions.approve(interaction.hash, { at: T0, consent, code })
      assert.equal(await consents.use(consent, { code: { ...code, hash: 'second' } }), true)
      assert.equal(await consents.use(consent, { token }), true)
      assert.notEqual(await codes.find('second'), null)
      assert.deepEqual(await tokens.find(token.id), token)
      const other = { ...consent, scopes: ['a', 'b'] }
      assert.equal(await consents.use(other, { code: { ...code, hash: 'third' } }), false)
      await consents.remove('ada', 'client-1')
      assert.equal(await consents.use(consent, { code: { ...code, hash: 'third' } }), false)
      assert.equal(await codes.find('third'), null)
    })

    it('a consent that is removed while it is used leaves no code behind', async () => {
      const { interactions, consents, codes } = await create()
      const consent = { userId: 'ada', clientId: 'client-1', scopes: ['a'], updatedAt: T0 }
      for (let round = 0; round < 5; round += 1) {
        const hash = `round-${round}`
        await interactions.create({ ...interaction, hash }, 10)
        await interactions.approve(hash, { at: T0, consent, code: { ...code, hash } })
        const uses = Array.from({ length: 5 }, (_, index) =>
          consents.use(consent, { code: { ...code, hash: `${hash}-${index}` } }),
        )
        await Promise.all([...uses, consents.remove('ada', 'client-1')])
        for (const index of uses.keys()) {
          assert.equal(await codes.find(`${hash}-${index}`), null)
        }
      }
    })

    it('a consent that is removed takes pending codes and requests along', async () => {
      const { interactions, consents, codes } = await create()
      await codes.create(code)
      await codes.create({ ...code, hash: 'other', clientId: 'client-2' })
      await interactions.create(interaction, 10)
      await consents.remove('ada', 'client-1')
      assert.equal(await codes.find(code.hash), null)
      assert.equal(await interactions.find(interaction.hash), null)
      assert.notEqual(await codes.find('other'), null)
    })

    it('are bounded for each person, dropping the oldest', async () => {
      const { interactions } = await create()
      for (let index = 0; index < 5; index += 1) {
        const hash = `i${index}`
        await interactions.create({ ...interaction, hash, createdAt: later(index) }, 3)
      }
      assert.equal(await interactions.find('i1'), null)
      assert.notEqual(await interactions.find('i2'), null)
      assert.notEqual(await interactions.find('i4'), null)
    })
  })

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
