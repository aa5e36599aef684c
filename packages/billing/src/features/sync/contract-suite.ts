import assert from 'node:assert/strict'
import { type ContractPart, openContractTestAccount } from '../../providers/contract-suite.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { AccountData, AccountLists, AccountPage } from './contract.ts'

/** Contract tests of reading many customers and subscriptions at a time, which `sync()` uses. */
export const defineAccountListsContract: ContractPart = ({ describe, it }, create) => {
  async function open() {
    const account = await openContractTestAccount(create)
    return { ...account, lists: listsOf(account.gateway) }
  }

  describe('lists of all objects at the provider, for gateways that have them', () => {
    it('return a customer with card and subscription, as if each were read by its id', async () => {
      const { gateway, lists, customerId, subscribe } = await open()
      if (!lists) return
      const { id } = await subscribe()
      const found = await readAll(lists, [customerId])
      const customer = found.customers.find((each) => each.id === customerId)
      assert.deepEqual(customer?.card, (await gateway.findCustomer(customerId))?.card)
      const { raw: _raw, ...listed } = found.subscriptions.find((each) => each.id === id) ?? {}
      const { raw: _other, ...read } = (await gateway.findSubscription(id)) ?? {}
      assert.deepEqual(listed, { ...read, customerId })
    })

    it('omit a customer that does not exist', async () => {
      const { lists, customerId } = await open()
      if (!lists) return
      const { customers } = await readAll(lists, ['none-of-ours', customerId])
      assert.deepEqual(
        customers.map(({ id }) => id),
        [customerId],
      )
    })

    it('return a dispute with its customer', async () => {
      const { gateway, lists, customerId, subscribe, disputeNewestCharge } = await open()
      if (!lists || !disputeNewestCharge) return
      await subscribe()
      const id = await disputeNewestCharge(customerId)
      const status = (await gateway.disputes?.find(id))?.status
      assert.deepEqual((await lists.readDisputes(null)).disputes, [{ id, customerId, status }])
    })

    it('return the changes since a given time, if the provider keeps them', async () => {
      const { gateway, lists, customerId, subscribe, now } = await open()
      if (!lists?.readChanges) return
      const { id } = await subscribe()
      await gateway.cancelAtPeriodEnd(id)
      const since = new Date(now().getTime() - 1000)
      const { changes } = await lists.readChanges(since, null)
      const newest = changes.find(({ subscription }) => subscription?.id === id)
      assert.equal(newest?.customerId, customerId)
      const { endsAt } = (await gateway.findSubscription(id)) ?? {}
      assert.deepEqual(newest?.subscription?.endsAt, endsAt)
      const none = await lists.readChanges(new Date(now().getTime() + 86_400_000), null)
      assert.deepEqual(none.changes, [])
    })
  })
}

function listsOf({ lists }: Gateway): AccountLists | undefined {
  if (lists)
    assert.ok(lists.readPage || lists.readCustomers, '`lists` needs `readPage` or `readCustomers`')
  return lists
}

async function readAll(lists: AccountLists, ids: readonly string[]): Promise<AccountData> {
  if (lists.readCustomers) return lists.readCustomers(ids)
  const customers = []
  const subscriptions = []
  for (let after: string | null = null; ; ) {
    const page: AccountPage | undefined = await lists.readPage?.(after)
    if (!page) break
    customers.push(...page.customers)
    subscriptions.push(...page.subscriptions)
    after = page.next
    if (after === null) break
  }
  return { customers, subscriptions }
}
