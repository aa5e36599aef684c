import { type BillableUser, money, type ProviderName } from '../../src/index.ts'
import { mainSubscriptionStep, type Step, userStep } from './step.ts'
import type { World } from './world.ts'

/** The price of an order, in cents. */
export const ORDER_PRICE_CENTS = 1300

const everywhere: readonly Step[] = [
  userStep('a charge', (user, world) =>
    order(world, 'charge', (idempotencyKey) =>
      user.charge(money(ORDER_PRICE_CENTS, 'usd'), { idempotencyKey }),
    ),
  ),
  userStep('a bill for something', (user, world) =>
    order(world, 'bill', (idempotencyKey) =>
      user.invoiceFor(`Order ${idempotencyKey}`, money(ORDER_PRICE_CENTS, 'usd'), {
        idempotencyKey,
      }),
    ),
  ),
  mainSubscriptionStep('pay now', (main) => main.payNow()),
  userStep('pay the newest bill', async (user) => (await newest(user))?.pay()),
  userStep('a refund', async (user) => {
    const [invoice] = await user.invoices()
    if (invoice) await user.refund(invoice, { amount: money(100, 'usd') })
  }),
  userStep('a refund of all', async (user) => (await newest(user))?.refund()),
]

const atStripe: readonly Step[] = [
  userStep('void the newest bill', async (user) => (await newest(user))?.void()),
  userStep('a credit', (user) => user.creditBalance(700, 'Welcome', { gift: true })),
  userStep('a debt', (user) => user.debitBalance(300)),
  userStep('a credit note', async (user) => {
    const [invoice] = await user.invoices()
    await invoice?.creditNote({ amount: money(100, 'usd'), to: 'balance' })
  }),
  userStep('a credit note with its money', async (user) => {
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
