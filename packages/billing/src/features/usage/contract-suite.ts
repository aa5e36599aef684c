import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createAnotherCustomer,
  createOperationId,
  type GatewayUnderTest,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { UsageCharges, UsageEvent, UsageReports } from './contract.ts'

type Metered = NonNullable<GatewayUnderTest['metered']>

/**
 * Contract tests of usage, for gateways that implement `usage`, in test accounts with a metered
 * price.
 */
export const defineUsageContract: ContractPart = ({ describe, it }, create) => {
  const onUsage = (
    name: string,
    body: (usage: UsageReports, account: ContractTestAccount, metered: Metered) => Promise<void>,
  ) =>
    it(`${name}, if the provider counts usage`, async () => {
      const account = await openContractTestAccount(create)
      const { usage } = account.gateway
      if (usage?.countedBy === 'provider' && account.metered)
        await body(usage, account, account.metered)
    })
  const sumOf = async (
    usage: UsageReports,
    { customerId, now }: ContractTestAccount,
    meter: string,
  ) => {
    const to = new Date(now().getTime() + 60_000)
    const from = new Date(now().getTime() - 86_400_000)
    const sums = await usage.summaries({ meter, customerId, from, to, by: null })
    return sums.map(({ value }) => value)
  }
  const event = (account: ContractTestAccount, meter: string, value: string): UsageEvent => ({
    id: `usage_${createOperationId()}`,
    meter,
    value,
    customerId: account.customerId,
    subscriptionId: null,
    at: account.now(),
  })

  describe('usage that we count', () => {
    const onCharges = (
      name: string,
      body: (usage: UsageCharges, account: ContractTestAccount, metered: Metered) => Promise<void>,
    ) =>
      it(`${name}, if the provider does not count usage`, async () => {
        const account = await openContractTestAccount(create)
        const { usage } = account.gateway
        const countedBy = usage?.countedBy === 'us' ? 'us' : undefined
        assert.equal(account.provider.usageCountedBy, countedBy)
        if (usage?.countedBy === 'us' && account.metered) {
          await body(usage, account, account.metered)
        }
      })

    onCharges('has a price and a period', async (usage, account, { meter }) => {
      assert.ok(usage.priceOf(meter))
      assert.equal(usage.priceOf('no_such_meter'), null)
      assert.equal(usage.currency, account.currency)
      const { id } = await account.subscribe()
      const starts = usage.periodsOf(await account.read(id))
      assert.equal(starts.length, 1)
      assert.ok((starts[0] as Date) <= account.now())
    })

    onCharges('is charged once for an idempotency key', async (usage, account) => {
      const { id: subscription } = await account.subscribe()
      const { customerId, currency, gateway } = account
      const charge = {
        ...{ customerId, subscription },
        key: createOperationId(),
        amount: { amount: 250, currency },
        description: '5 × calls',
      }
      const made = await usage.charge(charge)
      assert.equal(made.total, 250)
      assert.equal((await usage.charge(charge)).id, made.id)
      const other = await usage.charge({ ...charge, key: createOperationId(), description: 'more' })
      assert.notEqual(other.id, made.id)
      const all = { pending: true, limit: null, taxOf: () => 0 }
      const ofUsage = (await gateway.listInvoices(customerId, all)).filter(({ lines }) =>
        lines.some(({ isUsage }) => isUsage),
      )
      assert.deepEqual(ofUsage.map(({ id }) => id).sort(), [made.id, other.id].sort())
    })
  })

  describe('usage that the provider counts', () => {
    onUsage(
      'is counted once when it is sent again with the same id',
      async (usage, account, { meter }) => {
        const events = ['3', '0.5', '-1'].map((value) => event(account, meter, value))
        for (let times = 0; times < 2; times++) {
          assert.deepEqual(
            await usage.send(events),
            events.map(({ id }) => ({ id, state: 'sent', error: null })),
          )
          assert.deepEqual(await sumOf(usage, account, meter), ['2.5'])
        }
      },
    )

    onUsage(
      'is counted separately for two customers whose reports have the same id',
      async (usage, account, { meter }) => {
        const bob = await createAnotherCustomer(account)
        const ofAda = event(account, meter, '2')
        const ofBob = { ...ofAda, value: '3', customerId: bob.id }
        await usage.send([ofAda, ofBob])
        const sums = async () => [
          ...(await sumOf(usage, account, meter)),
          ...(await sumOf(usage, { ...account, customerId: bob.id }, meter)),
        ]
        assert.deepEqual(await sums(), ['2', '3'])
        await usage.cancel(ofBob)
        assert.deepEqual(await sums(), ['2', '0'])
      },
    )

    onUsage('is cancelled once when the call is repeated', async (usage, account, { meter }) => {
      const [kept, gone] = [event(account, meter, '2'), event(account, meter, '5')]
      await usage.send([kept, gone])
      for (let times = 0; times < 2; times++) await usage.cancel(gone)
      assert.deepEqual(await sumOf(usage, account, meter), ['2'])
    })

    onUsage('is refused for an unknown meter', async (usage, account, { meter }) => {
      const events = [event(account, 'no_such_meter', '1'), event(account, meter, '1')]
      const outcomes = await usage.send(events)
      assert.deepEqual(
        outcomes.map(({ state }) => state),
        ['refused', 'sent'],
      )
      assert.ok(outcomes[0]?.error)
    })

    onUsage('belongs to the meter of a price', async (usage, account, { meter, price }) => {
      assert.equal(await usage.meterOf(price), meter)
      assert.equal(await usage.meterOf(account.prices[0]), null)
      const { id } = await account.subscribe({ items: [{ price, quantity: null }] })
      const item = (await account.read(id)).items?.find((each) => each.price === price)
      assert.deepEqual([item?.quantity, item?.isMetered], [null, true])
    })

    onUsage('is counted by a meter that is created once', async (usage, _account, { meter }) => {
      const wanted = { name: 'Files', eventName: 'files', aggregation: 'sum' } as const
      const made = await usage.createMeter(wanted)
      assert.equal((await usage.createMeter(wanted)).id, made.id)
      const other = { ...wanted, aggregation: 'count' } as const
      assert.equal(await catchErrorCode(() => usage.createMeter(other)), 'invalid_argument')
      const names = (await usage.meters()).map(({ eventName }) => eventName)
      assert.deepEqual(names.sort(), ['files', meter].sort())
    })
  })
}
