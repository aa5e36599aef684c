import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { invoiceJob, type Story, type StoryRun, userJob } from '../story.ts'

const PRICE = money(250_000, 'usd')
const keyOf = ({ user }: StoryRun) => ({ idempotencyKey: `order-${user.id}` })

/** Expects a single invoice, mailed once. */
async function isSentOnce({ user, test }: StoryRun, at: string): Promise<void> {
  const { stripe } = test.sandbox
  const [invoice, ...others] = stripe.invoices(user.providerId ?? '')
  expect([invoice?.total, others], at).toEqual([250_000, []])
  const mailed = stripe
    .events('invoice.sent')
    .filter(({ data }) => (data as { object: { id: string } }).object.id === invoice?.id)
  expect(mailed, at).toHaveLength(1)
}

export const sentInvoices: readonly Story[] = [
  {
    name: 'sendInvoice with an idempotency key',
    providers: ['stripe'],
    job: (run) => userJob('sendInvoice', 'Consulting', PRICE, keyOf(run)),
    outcome: isSentOnce,
  },
  {
    name: 'markPaid',
    providers: ['stripe'],
    before: (run) => run.user.sendInvoice('Consulting', PRICE, keyOf(run)),
    job: invoiceJob('markPaid'),
    async outcome(run, at) {
      await isSentOnce(run, at)
      const invoices = await run.user.invoices()
      expect(
        invoices.map(({ paid }) => paid),
        at,
      ).toEqual([true])
      expect(run.test.sandbox.stripe.charges(run.user.providerId ?? ''), at).toEqual([])
    },
  },
]
