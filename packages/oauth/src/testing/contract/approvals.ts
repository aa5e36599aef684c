import assert from 'node:assert/strict'
import {
  CONTRACT_START,
  exampleCode,
  exampleInteraction,
  exampleToken,
  secondsAfterStart,
} from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/**
 * Tests how a storage handles the steps from an authorization request to a code or token:
 * interactions, consents and codes.
 */
export const defineApprovalsContract: ContractPart = ({ describe, it }, create) => {
  describe('an authorization code in the storage', () => {
    it('is used up and creates its token in one step, for only one of many concurrent callers', async () => {
      const { codes, tokens } = await create()
      await codes.create(exampleCode)
      assert.deepEqual(await codes.find(exampleCode.hash), exampleCode)
      const results = await Promise.all(
        Array.from({ length: 20 }, () =>
          codes.exchange(exampleCode.hash, secondsAfterStart(1), exampleToken),
        ),
      )
      assert.equal(results.filter((won) => won).length, 1)
      assert.deepEqual(await tokens.find(exampleToken.id), exampleToken)
      assert.deepEqual((await codes.find(exampleCode.hash))?.usedAt, secondsAfterStart(1))
    })

    it('creates no token if the code does not exist', async () => {
      const { codes, tokens } = await create()
      assert.equal(await codes.exchange('none', CONTRACT_START, exampleToken), false)
      assert.equal(await tokens.find(exampleToken.id), null)
    })
  })

  describe('approval requests and consents in the storage', () => {
    it('are returned exactly as they were stored', async () => {
      const { interactions } = await create()
      await interactions.create(exampleInteraction, 10)
      assert.deepEqual(await interactions.find(exampleInteraction.hash), exampleInteraction)
    })

    it('are decided once, which stores the consent and the code in the same step', async () => {
      const { interactions, consents, codes } = await create()
      await interactions.create(exampleInteraction, 10)
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      const decisions = await Promise.all([
        interactions.approve(exampleInteraction.hash, {
          at: CONTRACT_START,
          consent,
          code: exampleCode,
        }),
        interactions.approve(exampleInteraction.hash, {
          at: CONTRACT_START,
          consent,
          code: { ...exampleCode, hash: 'x' },
        }),
        interactions.deny(exampleInteraction.hash, CONTRACT_START),
      ])
      assert.equal(decisions.filter((won) => won).length, 1)
      const stored = [await codes.find(exampleCode.hash), await codes.find('x')]
      const approved = decisions[0] || decisions[1]
      assert.equal(stored.filter((found) => found !== null).length, approved ? 1 : 0)
      assert.equal((await consents.find('ada', 'client-1')) !== null, approved)
    })

    it('cannot be decided after they have expired', async () => {
      const { interactions } = await create()
      await interactions.create(exampleInteraction, 10)
      assert.equal(await interactions.deny(exampleInteraction.hash, secondsAfterStart(600)), false)
    })

    it('combine the scopes of all approvals in the consent', async () => {
      const { interactions, consents } = await create()
      for (const [hash, scopes] of [
        ['1', ['a', 'b']],
        ['2', ['b', 'c']],
      ] as const) {
        await interactions.create({ ...exampleInteraction, hash }, 10)
        const consent = { userId: 'ada', clientId: 'client-1', scopes, updatedAt: CONTRACT_START }
        await interactions.approve(hash, {
          at: CONTRACT_START,
          consent,
          code: { ...exampleCode, hash },
        })
      }
      const found = await consents.find('ada', 'client-1')
      assert.deepEqual(found?.scopes, ['a', 'b', 'c'])
      await consents.remove('ada', 'client-1')
      assert.equal(await consents.find('ada', 'client-1'), null)
    })

    it('allow storing the code of an approval without changing the consent', async () => {
      const { interactions, consents, codes } = await create()
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      for (const [hash, remembered] of [
        ['1', null],
        ['2', consent],
        ['3', null],
      ] as const) {
        await interactions.create({ ...exampleInteraction, hash }, 10)
        const approval = { at: CONTRACT_START, consent: remembered, code: { ...exampleCode, hash } }
        assert.equal(await interactions.approve(hash, approval), true)
        assert.equal((await codes.find(hash))?.hash, hash)
        const found = await consents.find('ada', 'client-1')
        assert.deepEqual(found?.scopes ?? null, hash === '1' ? null : ['a'])
      }
    })

    it('store a declined scope in the consent and remove it from the approved scopes', async () => {
      const { interactions, consents } = await create()
      const answers: ReadonlyArray<readonly [string[], string[]]> = [
        [['a', 'b'], []],
        [['a'], ['b', 'c']],
        [['c'], []],
      ]
      for (const [index, [scopes, declined]] of answers.entries()) {
        const hash = `answer-${index}`
        await interactions.create({ ...exampleInteraction, hash }, 10)
        const consent = {
          userId: 'ada',
          clientId: 'client-1',
          scopes,
          declined,
          updatedAt: CONTRACT_START,
        }
        await interactions.approve(hash, {
          at: CONTRACT_START,
          consent,
          code: { ...exampleCode, hash },
        })
      }
      const found = await consents.find('ada', 'client-1')
      assert.deepEqual(found?.scopes, ['a', 'c'])
      assert.deepEqual(found?.declined, ['b'])
    })

    it('allow storing a code or token without an approval screen only while the consent is unchanged', async () => {
      const { interactions, consents, codes, tokens } = await create()
      await interactions.create(exampleInteraction, 10)
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      await interactions.approve(exampleInteraction.hash, {
        at: CONTRACT_START,
        consent,
        code: exampleCode,
      })
      assert.equal(await consents.use(consent, { code: { ...exampleCode, hash: 'second' } }), true)
      assert.equal(await consents.use(consent, { token: exampleToken }), true)
      assert.notEqual(await codes.find('second'), null)
      assert.deepEqual(await tokens.find(exampleToken.id), exampleToken)
      const other = { ...consent, scopes: ['a', 'b'] }
      assert.equal(await consents.use(other, { code: { ...exampleCode, hash: 'third' } }), false)
      await consents.remove('ada', 'client-1')
      assert.equal(await consents.use(consent, { code: { ...exampleCode, hash: 'third' } }), false)
      assert.equal(await codes.find('third'), null)
    })

    it('store a code and a token either together or not at all', async () => {
      const { interactions, consents, codes, tokens } = await create()
      await interactions.create(exampleInteraction, 10)
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      await interactions.approve(exampleInteraction.hash, { at: CONTRACT_START, consent })
      const both = { code: { ...exampleCode, hash: 'both' }, token: exampleToken }
      assert.equal(await consents.use({ ...consent, scopes: ['a', 'b'] }, both), false)
      assert.equal(await codes.find('both'), null)
      assert.equal(await tokens.find(exampleToken.id), null)
      assert.equal(await consents.use(consent, both), true)
      assert.notEqual(await codes.find('both'), null)
      assert.deepEqual(await tokens.find(exampleToken.id), exampleToken)
    })

    it('report whether the consent is unchanged, even if there is no code or token to store', async () => {
      const { interactions, consents } = await create()
      await interactions.create(exampleInteraction, 10)
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      await interactions.approve(exampleInteraction.hash, { at: CONTRACT_START, consent })
      assert.equal(await consents.use(consent, {}), true)
      assert.equal(await consents.use({ ...consent, scopes: ['a', 'b'] }, {}), false)
      await consents.remove('ada', 'client-1')
      assert.equal(await consents.use(consent, {}), false)
    })

    it('leave no code if the consent is deleted while the code is being stored', async () => {
      const { interactions, consents, codes } = await create()
      const consent = {
        userId: 'ada',
        clientId: 'client-1',
        scopes: ['a'],
        updatedAt: CONTRACT_START,
      }
      for (let round = 0; round < 5; round += 1) {
        const hash = `round-${round}`
        await interactions.create({ ...exampleInteraction, hash }, 10)
        await interactions.approve(hash, {
          at: CONTRACT_START,
          consent,
          code: { ...exampleCode, hash },
        })
        const uses = Array.from({ length: 5 }, (_, index) =>
          consents.use(consent, { code: { ...exampleCode, hash: `${hash}-${index}` } }),
        )
        await Promise.all([...uses, consents.remove('ada', 'client-1')])
        for (const index of uses.keys()) {
          assert.equal(await codes.find(`${hash}-${index}`), null)
        }
      }
    })

    it('are deleted together with pending codes when the consent is deleted', async () => {
      const { interactions, consents, codes } = await create()
      await codes.create(exampleCode)
      await codes.create({ ...exampleCode, hash: 'other', clientId: 'client-2' })
      await interactions.create(exampleInteraction, 10)
      await consents.remove('ada', 'client-1')
      assert.equal(await codes.find(exampleCode.hash), null)
      assert.equal(await interactions.find(exampleInteraction.hash), null)
      assert.notEqual(await codes.find('other'), null)
    })

    it('are limited in number for each user, and the oldest is deleted first', async () => {
      const { interactions } = await create()
      for (let index = 0; index < 5; index += 1) {
        const hash = `i${index}`
        await interactions.create(
          { ...exampleInteraction, hash, createdAt: secondsAfterStart(index) },
          3,
        )
      }
      assert.equal(await interactions.find('i1'), null)
      assert.notEqual(await interactions.find('i2'), null)
      assert.notEqual(await interactions.find('i4'), null)
    })
  })
}
