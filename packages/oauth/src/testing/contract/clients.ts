import assert from 'node:assert/strict'
import type { ClientPosition, ClientSlice } from '../../storage/repositories.ts'
import {
  CONTRACT_START,
  createTestRevocation,
  exampleClient,
  secondsAfterStart,
} from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles clients. */
export const defineClientsContract: ContractPart = ({ describe, it }, create) => {
  describe('the client repository', () => {
    it('returns a client exactly as stored', async () => {
      const { clients } = await create()
      assert.equal(await clients.create(exampleClient), true)
      assert.deepEqual(await clients.find('client-1'), exampleClient)
      assert.equal(await clients.find('CLIENT-1'), null)
      assert.equal(await clients.find('client-1 '), null)
    })

    it('stores whether a client is public separately from its secret hash', async () => {
      const { clients } = await create()
      const open = {
        ...exampleClient,
        id: 'public',
        confidential: false,
        secretHash: null,
        scopes: ['a'],
      }
      const lost = { ...exampleClient, id: 'lost', secretHash: null, scopes: [] }
      for (const each of [open, lost]) {
        await clients.create(each)
        assert.deepEqual(await clients.find(each.id), each)
      }
    })

    it('rejects an id that already exists', async () => {
      const { clients } = await create()
      assert.equal(await clients.create(exampleClient), true)
      assert.equal(await clients.create({ ...exampleClient, name: 'other' }), false)
      assert.equal((await clients.find('client-1'))?.name, exampleClient.name)
    })

    it('finds several clients at once, including revoked ones, and omits unknown ids', async () => {
      const { clients } = await create()
      await clients.create(exampleClient)
      await clients.create({ ...exampleClient, id: 'client-2', revokedAt: CONTRACT_START })
      await clients.create({ ...exampleClient, id: 'client-3' })
      const found = await clients.findMany(['client-2', 'unknown', exampleClient.id])
      const revoked = { ...exampleClient, id: 'client-2', revokedAt: CONTRACT_START }
      assert.equal(found.length, 2)
      assert.deepEqual(
        new Map(found.map((each) => [each.id, each])),
        new Map([exampleClient, revoked].map((each) => [each.id, each])),
      )
      assert.deepEqual(await clients.findMany([]), [])
    })

    it('lists the clients of a user by name, and omits revoked ones', async () => {
      const { clients } = await create()
      await clients.create({ ...exampleClient, id: '1', name: 'b' })
      await clients.create({ ...exampleClient, id: '2', name: 'a' })
      await clients.create({ ...exampleClient, id: '3', name: 'c', revokedAt: CONTRACT_START })
      await clients.create({ ...exampleClient, id: '4', name: 'd', userId: 'bob' })
      const names = (await clients.listByUser('ada')).map(({ name }) => name)
      assert.deepEqual(names, ['a', 'b'])
    })

    it('records when a client was last used, unless a recent use is already recorded', async () => {
      const { clients } = await create()
      await clients.create(exampleClient)
      await clients.create({ ...exampleClient, id: 'idle' })
      const usesOf = (...ids: string[]) => clients.lastUsed(ids)
      assert.deepEqual(await usesOf(exampleClient.id, 'idle'), new Map())
      await clients.recordUse(exampleClient.id, secondsAfterStart(10), CONTRACT_START)
      await clients.recordUse(exampleClient.id, secondsAfterStart(20), secondsAfterStart(9))
      await clients.recordUse('unknown', secondsAfterStart(10), CONTRACT_START)
      const first = new Map([[exampleClient.id, secondsAfterStart(10)]])
      assert.deepEqual(await usesOf(exampleClient.id, 'idle', 'unknown'), first)
      await clients.recordUse(exampleClient.id, secondsAfterStart(30), secondsAfterStart(10))
      assert.deepEqual(
        await usesOf(exampleClient.id),
        new Map([[exampleClient.id, secondsAfterStart(30)]]),
      )
      assert.deepEqual(await usesOf(), new Map())
      assert.deepEqual(await clients.find(exampleClient.id), exampleClient)
    })

    it('keeps the time of the last use when a client is changed', async () => {
      const { clients } = await create()
      await clients.create(exampleClient)
      await clients.recordUse(exampleClient.id, secondsAfterStart(10), CONTRACT_START)
      const change = { name: 'new', updatedAt: secondsAfterStart(20) }
      await clients.update(
        exampleClient.id,
        change,
        createTestRevocation('client-changed', exampleClient.id),
        CONTRACT_START,
      )
      assert.deepEqual(
        await clients.lastUsed([exampleClient.id]),
        new Map([[exampleClient.id, secondsAfterStart(10)]]),
      )
    })

    it('lists all clients page by page, sorted by age and then by the bytes of the id', async () => {
      const { clients } = await create()
      const made = [
        { id: 'b', createdAt: secondsAfterStart(1), revokedAt: secondsAfterStart(3) },
        { id: 'a', createdAt: secondsAfterStart(1) },
        { id: 'A', createdAt: secondsAfterStart(1) },
        { id: 'z', createdAt: CONTRACT_START },
        { id: 'c', createdAt: secondsAfterStart(2) },
      ]
      for (const each of made) await clients.create({ ...exampleClient, ...each })
      const ids: string[] = []
      let after: ClientPosition | null = null
      for (let part = 0; part < 3; part += 1) {
        const slice: ClientSlice = await clients.page({ limit: 2, after, search: null })
        assert.equal(slice.clients.length, part < 2 ? 2 : 1)
        ids.push(...slice.clients.map(({ id }) => id))
        after = slice.next
      }
      assert.deepEqual(ids, ['z', 'A', 'a', 'b', 'c'])
      assert.equal(after, null)
      const exact = await clients.page({ limit: 5, after: null, search: null })
      assert.equal(exact.next, null)
      assert.deepEqual(exact.clients[1], {
        ...exampleClient,
        id: 'A',
        createdAt: secondsAfterStart(1),
      })
    })

    it('continues a list after a client that has been deleted meanwhile', async () => {
      const { clients } = await create()
      await clients.create({ ...exampleClient, id: 'a' })
      await clients.create({ ...exampleClient, id: 'c' })
      const after = { createdAt: CONTRACT_START, id: 'b' }
      const { clients: found } = await clients.page({ limit: 5, after, search: null })
      assert.deepEqual(
        found.map(({ id }) => id),
        ['c'],
      )
    })

    it('finds clients by part of their name, and treats no character of the search as a wildcard', async () => {
      const { clients } = await create()
      const names = ['Web shop', 'SHOP 2', 'Über 100%', 'Under_score', "it's!", 'back\\slash']
      for (const [index, name] of names.entries()) {
        await clients.create({
          ...exampleClient,
          id: String(index),
          name,
          createdAt: secondsAfterStart(index),
        })
      }
      const searched = async (search: string, limit = 5) =>
        (await clients.page({ limit, after: null, search })).clients.map(({ name }) => name)
      assert.deepEqual(await searched('shop'), ['Web shop', 'SHOP 2'])
      assert.deepEqual(await searched('Shop', 1), ['Web shop'])
      assert.deepEqual(await searched('Über'), ['Über 100%'])
      for (const [text, index] of Object.entries({ '%': 2, _: 3, "'": 4, '!': 4, '\\': 5 })) {
        assert.deepEqual([text, await searched(text)], [text, [names[index]]])
      }
      assert.deepEqual(await searched('100_'), [])
      assert.deepEqual(await searched('nothing'), [])
    })

    it('updates a client and adds an entry to the revocation feed in one step', async () => {
      const { clients, revocations } = await create()
      await clients.create(exampleClient)
      const change = {
        name: 'new',
        redirectUris: ['https://b.example'],
        grantTypes: ['authorization_code'],
        scopes: ['a'],
        firstParty: true,
        resourceServer: true,
        settings: { client_uri: 'https://b.example' },
        updatedAt: secondsAfterStart(1),
      }
      assert.equal(
        await clients.update(
          exampleClient.id,
          change,
          createTestRevocation('client-changed', exampleClient.id),
        ),
        true,
      )
      assert.deepEqual(await clients.find(exampleClient.id), { ...exampleClient, ...change })
      const [entry] = (await revocations.readFrom(0, 10)).entries
      assert.equal(entry?.subject, exampleClient.id)
    })
  })

  describe('a change of a stored client', () => {
    const change = (fields: object) => ({ ...fields, updatedAt: secondsAfterStart(1) })
    const news = createTestRevocation('client-changed', exampleClient.id)

    it('keeps the fields that it does not contain', async () => {
      const { clients } = await create()
      await clients.create(exampleClient)
      const rotation = change({ secretHash: 'new', secretVersion: 2 })
      await Promise.all([
        clients.update(exampleClient.id, rotation, news),
        clients.update(exampleClient.id, change({ name: 'new' }), news),
      ])
      assert.deepEqual(await clients.find(exampleClient.id), {
        ...exampleClient,
        ...rotation,
        name: 'new',
      })
    })

    it('succeeds for only one of many concurrent callers that rotate the secret', async () => {
      const { clients } = await create()
      await clients.create(exampleClient)
      const results = await Promise.all(
        ['a', 'b', 'c'].map((secretHash) =>
          clients.update(exampleClient.id, change({ secretHash, secretVersion: 2 }), news),
        ),
      )
      assert.equal(results.filter((won) => won).length, 1)
    })

    it('succeeds for only one of many concurrent callers that pass unchangedSince, and fails if that time is outdated', async () => {
      const { clients, revocations } = await create()
      await clients.create(exampleClient)
      const since = exampleClient.updatedAt
      const results = await Promise.all(
        [1, 2, 3].map((count) =>
          clients.update(
            exampleClient.id,
            { settings: { default_max_age: count }, updatedAt: secondsAfterStart(count) },
            news,
            since,
          ),
        ),
      )
      assert.equal(results.filter((won) => won).length, 1)
      const stored = await clients.find(exampleClient.id)
      const late = change({ settings: { default_max_age: 9 } })
      assert.equal(await clients.update(exampleClient.id, late, news, since), false)
      assert.deepEqual(await clients.find(exampleClient.id), stored)
      assert.equal((await revocations.readFrom(0, 10)).entries.length, 1)
    })

    it('fails and adds no entry to the revocation feed if the client is revoked or unknown', async () => {
      const { clients, revocations } = await create()
      await clients.create({ ...exampleClient, revokedAt: CONTRACT_START })
      assert.equal(await clients.update(exampleClient.id, change({ name: 'new' }), news), false)
      assert.equal(await clients.update('none', change({ name: 'new' }), news), false)
      assert.deepEqual((await clients.find(exampleClient.id))?.revokedAt, CONTRACT_START)
      assert.deepEqual((await revocations.readFrom(0, 10)).entries, [])
    })
  })
}
