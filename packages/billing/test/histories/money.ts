import { type BillableUser, money, type ProviderName } from '../../src/index.ts'
import { ofMain, own, type Step } from './step.ts'
import type { World } from './world.ts'

/** The price of an order, in cents. */
export const ORDER = 1300

const everywhere: readonly Step[] = [
  own('a charge', (user, world) =>
    order(world, 'charge', (idempotencyKey) =>
      user.charge(money(ORDER, 'usd'), { idempotencyKey }),
    ),
  ),
  own('a bill for something', (user, world) =>
    order(world, 'bill', (idempotencyKey) =>
      user.invoiceFor(`Order ${idempotencyKey}`, money(ORDER, 'usd'), { idempotencyKey }),
    ),
  ),
  ofMain('pay now', (main) => main.payNow()),
  own('pay the newest bill', async (user) => (await newest(user))?.pay()),
  own('a refund', async (user) => {
    const [invoice] = await user.invoices()
    if (invoice) await user.refund(invoice, { amount: money(100, 'usd') })
  }),
  own('a refund of all', async (user) => (await newest(user))?.refund()),
]

const atStripe: readonly Step[] = [
  own('void the newest bill', async (user) => (await newest(user))?.void()),
  own('a credit', (user) => user.creditBalance(700, 'Welcome', { gift: true })),
  own('a debt', (user) => user.debitBalance(300)),
  own('a credit note', async (user) => {
    const [invoice] = await user.invoices()
    await invoice?.creditNote({ amount: money(100, 'usd'), to: 'balance' })
  }),
  own('a credit note with its money', async (user) => {
    const [invoice] = await user.invoices()
    await invoice?.creditNote({ amount: money(100, 'usd'), to: 'refund' })
  }),
]

/** Payments, refunds and credits besides the invoices of a subscription. */
export const payments: Readonly<Record<ProviderName, readonly Step[]>> = {
  stripe: [...everywhere, ...atStripe],
  braintree: everywhere,
}

const newest = async (user: BillableUser) => (await user.invoicesIncludingPending())[0]

/** Pays for an order under its number. An unpaid order is retried with the same number. */
async function order(
  world: World,
  kind: 'charge' | 'bill',
  pay: (key: string) => Promise<unknown>,
): Promise<void> {
  const number = world.paid[kind] + 1
  await pay(`${kind}-${number}`)
  world.paid[kind] = number
}
