import assert from 'node:assert/strict'
import type { Token, TokenRotation } from '../../storage/records.ts'
import type { TokenQuery } from '../../storage/repositories.ts'
import {
  CONTRACT_START,
  createTestRotation,
  exampleClient,
  exampleCode,
  exampleInteraction,
  exampleToken,
  secondsAfterStart,
} from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles tokens. */
export const defineTokensContract: ContractPart = ({ describe, it }, create) => {
  describe('the token repository', () => {
    it('returns a token exactly as stored', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      assert.deepEqual(await tokens.find(exampleToken.id), exampleToken)
      const client = { ...exampleToken, id: 'x', userId: null, refreshExpiresAt: null, scopes: [] }
      await tokens.create(client)
      assert.deepEqual(await tokens.find('x'), client)
    })

    it('rotates a refresh token of the current generation only once', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      const results = await Promise.all(
        Array.from({ length: 20 }, () =>
          tokens.rotate(createTestRotation(0, secondsAfterStart(1))),
        ),
      )
      const won = results.filter((result) => result !== null)
      assert.equal(won.length, 1)
      assert.equal(won[0]?.generation, 1)
      assert.deepEqual(won[0]?.liveUntil, secondsAfterStart(601))
      assert.deepEqual(await tokens.find(exampleToken.id), won[0])
    })

    it('revokes the earlier access tokens in the same step if the caller asks for it', async () => {
      const { tokens, revocations } = await create()
      await tokens.create(exampleToken)
      await tokens.rotate(createTestRotation(0, secondsAfterStart(1)))
      assert.deepEqual((await revocations.readFrom(0, 10)).entries, [])
      const ending = { ...createTestRotation(1, secondsAfterStart(2)), endsOldAccessTokens: true }
      const results = await Promise.all(Array.from({ length: 5 }, () => tokens.rotate(ending)))
      assert.equal(results.filter((result) => result !== null).length, 1)
      const { entries } = await revocations.readFrom(0, 10)
      assert.deepEqual(
        entries.map(({ kind, subject, until }) => [kind, subject, until]),
        [['token', `${exampleToken.id}.1`, secondsAfterStart(602)]],
      )
    })

    it('never changes the expiry of a row to an earlier time', async () => {
      const { tokens } = await create()
      await tokens.create({ ...exampleToken, liveUntil: secondsAfterStart(9999) })
      const rotated = await tokens.rotate(createTestRotation(0, secondsAfterStart(1)))
      assert.deepEqual(rotated?.liveUntil, secondsAfterStart(9999))
    })

    it('stores when the previous refresh token would have expired', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      const rotated = await tokens.rotate(createTestRotation(0, secondsAfterStart(1)))
      assert.deepEqual(rotated?.previousExpiresAt, exampleToken.refreshExpiresAt)
      assert.deepEqual(await tokens.find(exampleToken.id), rotated)
    })

    it('replaces the details of a token if the rotation passes details, and otherwise keeps them', async () => {
      const { tokens } = await create()
      await tokens.create({ ...exampleToken, details: { nonce: 'n' } })
      const details = { nonce: 'n', added: { for: 'share', claims: { plan: 'pro' } } }
      for (const endsOldAccessTokens of [false, true]) {
        const generation = endsOldAccessTokens ? 2 : 0
        const set = {
          ...createTestRotation(generation, secondsAfterStart(1)),
          endsOldAccessTokens,
          details,
        }
        assert.deepEqual((await tokens.rotate(set))?.details, details)
        const kept = await tokens.rotate(createTestRotation(generation + 1, secondsAfterStart(1)))
        assert.deepEqual(kept?.details, details)
        assert.deepEqual(await tokens.find(exampleToken.id), kept)
      }
    })

    it('moves a row with an older generation to the requested generation', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      const moved = await tokens.rotate({
        ...createTestRotation(0, secondsAfterStart(1)),
        nextGeneration: 7,
      })
      assert.equal(moved?.generation, 7)
      assert.equal(await tokens.rotate(createTestRotation(0, secondsAfterStart(1))), null)
    })

    it('records a late repeat of a refresh, however often it is recorded', async () => {
      const { tokens } = await create()
      await tokens.create({ ...exampleToken, generation: 3, lateGeneration: 1 })
      const marks = Array.from({ length: 5 }, () => tokens.markLateRepeat(exampleToken.id, 3))
      assert.deepEqual(await Promise.all(marks), [true, true, true, true, true])
      assert.equal((await tokens.find(exampleToken.id))?.lateGeneration, 3)
      const rotated = await tokens.rotate(createTestRotation(3, secondsAfterStart(1)))
      assert.equal(rotated?.lateGeneration, 3)
    })

    it('records when a token was last used, unless a recent use is already recorded', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      const { id } = exampleToken
      const useOf = async () => (await tokens.find(id))?.lastUsedAt
      assert.equal(await useOf(), null)
      await tokens.recordUse(id, secondsAfterStart(10), CONTRACT_START)
      await tokens.recordUse(id, secondsAfterStart(20), secondsAfterStart(9))
      await tokens.recordUse('unknown', secondsAfterStart(10), CONTRACT_START)
      assert.deepEqual(await useOf(), secondsAfterStart(10))
      assert.equal(await tokens.find('unknown'), null)
      await tokens.recordUse(id, secondsAfterStart(30), secondsAfterStart(10))
      const used = { ...exampleToken, lastUsedAt: secondsAfterStart(30) }
      assert.deepEqual(await tokens.find(id), used)
      assert.deepEqual(await tokens.listByUser('ada', CONTRACT_START), [used])
    })

    it('keeps the time of the last use when a token is rotated or revoked', async () => {
      const { tokens } = await create()
      await tokens.create(exampleToken)
      const at = secondsAfterStart(1)
      await tokens.recordUse(exampleToken.id, at, CONTRACT_START)
      const rotated = await tokens.rotate(createTestRotation(0, secondsAfterStart(2)))
      assert.deepEqual(rotated?.lastUsedAt, at)
      assert.deepEqual(await tokens.find(exampleToken.id), rotated)
      await tokens.revoke({ id: exampleToken.id }, secondsAfterStart(3))
      await tokens.recordUse(exampleToken.id, secondsAfterStart(9), secondsAfterStart(8))
      const revoked = await tokens.find(exampleToken.id)
      assert.deepEqual(revoked?.lastUsedAt, secondsAfterStart(9))
      assert.deepEqual(revoked?.revokedAt, secondsAfterStart(3))
    })

    const unmarked: ReadonlyArray<[string, Partial<Token>]> = [
      ['of another generation', { generation: 4 }],
      ['that was revoked', { generation: 3, revokedAt: CONTRACT_START }],
      ['that had a late repeat one generation before', { generation: 3, lateGeneration: 2 }],
      ['that does not exist', { id: 'other', generation: 3 }],
    ]
    for (const [name, change] of unmarked) {
      it(`does not mark a late repeat of a token ${name}`, async () => {
        const { tokens } = await create()
        const before = { ...exampleToken, ...change }
        await tokens.create(before)
        assert.equal(await tokens.markLateRepeat(exampleToken.id, 3), false)
        assert.deepEqual(await tokens.find(before.id), before)
      })
    }

    const dead: ReadonlyArray<[string, Partial<Token>, Partial<TokenRotation>]> = [
      ['of another client', {}, { clientId: 'other' }],
      ['issued under another version of the secret', {}, { clientSecretVersion: 2 }],
      ['of another generation', { generation: 3 }, {}],
      ['that was revoked', { revokedAt: CONTRACT_START }, {}],
      ['that expired', { refreshExpiresAt: secondsAfterStart(1) }, {}],
      ['without a refresh token', { refreshExpiresAt: null }, {}],
      ['that does not exist', {}, { id: 'none' }],
    ]
    for (const [name, change, request] of dead) {
      it(`does not rotate a token ${name}`, async () => {
        const { tokens } = await create()
        const before = { ...exampleToken, ...change }
        await tokens.create(before)
        assert.equal(
          await tokens.rotate({ ...createTestRotation(0, secondsAfterStart(1)), ...request }),
          null,
        )
        assert.deepEqual(await tokens.find(exampleToken.id), before)
      })
    }

    it('revokes a token once, and keeps its entry in the revocation feed as long as the token could be valid', async () => {
      const { tokens, revocations } = await create()
      await tokens.create(exampleToken)
      assert.equal((await tokens.revoke({ id: exampleToken.id }, secondsAfterStart(5))).length, 1)
      assert.equal((await tokens.revoke({ id: exampleToken.id }, secondsAfterStart(6))).length, 0)
      assert.deepEqual((await tokens.find(exampleToken.id))?.revokedAt, secondsAfterStart(5))
      const { entries } = await revocations.readFrom(0, 10)
      assert.equal(entries.length, 1)
      assert.deepEqual(entries[0]?.until, exampleToken.liveUntil)
      assert.equal(await tokens.rotate(createTestRotation(0, secondsAfterStart(6))), null)
    })

    it('deletes a revoked token in purge() but keeps its entry in the revocation feed', async () => {
      const storage = await create()
      await storage.tokens.create(exampleToken)
      await storage.tokens.revoke({ id: exampleToken.id }, secondsAfterStart(5))
      await storage.purge(secondsAfterStart(6), 10)
      assert.equal(await storage.tokens.find(exampleToken.id), null)
      assert.equal((await storage.revocations.readFrom(0, 10)).entries.length, 1)
    })

    it('revokes the tokens that match a filter, and no others', async () => {
      const { tokens } = await create()
      await tokens.create({ ...exampleToken, id: '1' })
      await tokens.create({ ...exampleToken, id: '2', clientId: 'client-2' })
      await tokens.create({ ...exampleToken, id: '3', userId: 'bob' })
      const pair = await tokens.revoke({ userId: 'ada', clientId: 'client-1' }, CONTRACT_START)
      assert.deepEqual(
        pair.map(({ id }) => id),
        ['1'],
      )
      const person = await tokens.revoke({ userId: 'ada' }, CONTRACT_START)
      assert.deepEqual(
        person.map(({ id }) => id),
        ['2'],
      )
      assert.equal((await tokens.find('3'))?.revokedAt, null)
    })

    it('revokes the tokens that a client got for itself, and keeps those of its users', async () => {
      const { tokens, codes, interactions, revocations } = await create()
      await codes.create(exampleCode)
      await interactions.create(exampleInteraction, 10)
      const own = { userId: null, refreshExpiresAt: null }
      await tokens.create({ ...exampleToken, id: '1' })
      await tokens.create({ ...exampleToken, id: '2', ...own })
      await tokens.create({ ...exampleToken, id: '3', ...own, clientId: 'client-2' })
      const selector = { userId: null, clientId: 'client-1' }
      const revoked = await tokens.revoke(selector, CONTRACT_START)
      assert.deepEqual(
        revoked.map(({ id }) => id),
        ['2'],
      )
      assert.deepEqual(await tokens.revoke(selector, CONTRACT_START), [])
      assert.deepEqual((await tokens.find('2'))?.revokedAt, CONTRACT_START)
      for (const id of ['1', '3']) assert.equal((await tokens.find(id))?.revokedAt, null)
      const { entries } = await revocations.readFrom(0, 10)
      assert.deepEqual(
        entries.map(({ kind, subject }) => [kind, subject]),
        [['token', '2']],
      )
      assert.deepEqual(await codes.find(exampleCode.hash), exampleCode)
      assert.deepEqual(await interactions.find(exampleInteraction.hash), exampleInteraction)
    })

    it('deletes pending codes and approval requests when it revokes the tokens of a user', async () => {
      const { tokens, codes, interactions } = await create()
      await codes.create(exampleCode)
      await interactions.create(exampleInteraction, 10)
      await tokens.revoke({ userId: 'ada' }, CONTRACT_START)
      assert.equal(await codes.find(exampleCode.hash), null)
      assert.equal(await interactions.find(exampleInteraction.hash), null)
    })

    it('lists the valid tokens of a user, newest first', async () => {
      const { tokens } = await create()
      await tokens.create({ ...exampleToken, id: '1' })
      await tokens.create({ ...exampleToken, id: '2', createdAt: secondsAfterStart(1) })
      await tokens.create({ ...exampleToken, id: '3', revokedAt: CONTRACT_START })
      await tokens.create({ ...exampleToken, id: '4', liveUntil: secondsAfterStart(1) })
      const ids = (await tokens.listByUser('ada', secondsAfterStart(2))).map(({ id }) => id)
      assert.deepEqual(ids, ['2', '1'])
    })

    it('lists valid tokens page by page, sorted by id: all, those of a user, or those of a client', async () => {
      const { tokens } = await create()
      const made: readonly Partial<Token>[] = [
        { id: '1' },
        { id: '2', clientId: 'client-2' },
        { id: '3', userId: null, refreshExpiresAt: null },
        { id: '4', revokedAt: CONTRACT_START },
        { id: '5', liveUntil: secondsAfterStart(2) },
        { id: '6', userId: 'bob' },
        { id: '7', liveUntil: secondsAfterStart(3) },
      ]
      for (const each of made) await tokens.create({ ...exampleToken, ...each })
      const all = { userId: null, clientId: null, at: secondsAfterStart(2), limit: 9, after: null }
      const idsOf = async (query: Partial<TokenQuery>) =>
        (await tokens.page({ ...all, ...query })).map(({ id }) => id).join('')
      assert.equal(await idsOf({}), '76321')
      assert.equal(await idsOf({ limit: 2 }), '76')
      assert.equal(await idsOf({ limit: 2, after: '6' }), '32')
      assert.equal(await idsOf({ after: '5' }), '321')
      assert.equal(await idsOf({ after: '1' }), '')
      assert.equal(await idsOf({ userId: 'ada' }), '721')
      assert.equal(await idsOf({ clientId: 'client-1' }), '7631')
      assert.equal(await idsOf({ clientId: 'client-1', after: '6' }), '31')
      assert.equal(await idsOf({ userId: 'ada', clientId: 'client-1', limit: 1 }), '7')
      assert.deepEqual(await tokens.page({ ...all, after: '2' }), [{ ...exampleToken, id: '1' }])
    })

    it('lists the same tokens together with their clients', async () => {
      const { clients, tokens } = await create()
      await clients.create({ ...exampleClient, id: 'shop', name: 'Shop' })
      await tokens.create({ ...exampleToken, id: '1', clientId: 'shop', userId: 'eve' })
      await tokens.create({ ...exampleToken, id: '2', clientId: 'unknown', userId: 'eve' })
      const listed = await tokens.listWithClients('eve', secondsAfterStart(0))
      assert.deepEqual(
        listed.map((each) => [each.token.id, each.client.name]),
        [['1', 'Shop']],
      )
    })
  })
}
