import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/**
 * Contract tests of tax ids and exemptions, for gateways that implement `taxIds` or
 * `taxExemptions`.
 */
export const defineTaxIdsContract: ContractPart = ({ describe, it }, create) => {
  const where = (part: 'taxIds' | 'taxExemptions', name: string, body: Body) =>
    it(`${name}, if the gateway has ${part}`, async () => {
      const account = await openContractTestAccount(create)
      if (account.gateway[part]) await body(account)
    })

  describe('taxes of a customer', () => {
    where('taxIds', 'include each tax id once', async ({ gateway: { taxIds }, customerId }) => {
      assert.ok(taxIds)
      assert.deepEqual(await taxIds.list(customerId), [])
      const wanted = { customerId, type: 'eu_vat', value: 'DE123456789' }
      const made = await taxIds.create({ ...wanted, operation: createOperationId() })
      assert.equal(made.type, 'eu_vat')
      assert.equal(made.value, 'DE123456789')
      assert.equal(made.country, 'DE')
      const again = await taxIds.create({ ...wanted, operation: createOperationId() })
      assert.equal(again.id, made.id)
      const other = { ...wanted, value: 'FR12345678901', operation: createOperationId() }
      const newest = await taxIds.create(other)
      const ids = (await taxIds.list(customerId)).map(({ id }) => id)
      assert.deepEqual(ids, [made.id, newest.id])
      await taxIds.remove(customerId, made.id)
      await taxIds.remove(customerId, made.id)
      assert.deepEqual((await taxIds.list(customerId)).length, 1)
    })

    where(
      'taxIds',
      'reject an invalid tax id with invalid_tax_id',
      async ({ gateway: { taxIds }, customerId }) => {
        assert.ok(taxIds)
        for (const wrong of [
          { type: 'eu_vat', value: '1' },
          { type: 'no_such_type', value: 'DE123456789' },
        ]) {
          const ask = () => taxIds.create({ customerId, ...wrong, operation: createOperationId() })
          assert.equal(await catchErrorCode(ask), 'invalid_tax_id')
        }
      },
    )

    where(
      'taxExemptions',
      'include an exemption',
      async ({ gateway: { taxExemptions }, customerId }) => {
        assert.ok(taxExemptions)
        assert.equal(await taxExemptions.read(customerId), 'none')
        for (const exemption of ['reverse', 'exempt', 'none'] as const) {
          await taxExemptions.set(customerId, exemption)
          assert.equal(await taxExemptions.read(customerId), exemption)
        }
      },
    )
  })
}

type Body = (account: ContractTestAccount) => Promise<void>
