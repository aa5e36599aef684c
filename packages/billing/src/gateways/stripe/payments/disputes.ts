import type Stripe from 'stripe'
import { money } from '../../../values/money.ts'
import type { Disputes, ProviderDispute } from '../../contract/parts/money/disputes.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { invoiceOfPayment } from './payments.ts'

export function stripeDisputes(context: StripeContext): { readonly disputes: Disputes } {
  return {
    disputes: {
      async find(id) {
        try {
          const dispute = await context.stripe.disputes.retrieve(id, { expand: ['charge'] })
          return await describe(context, dispute)
        } catch (error) {
          if (isMissing(error)) return null
          throw error
        }
      },
      // Stripe lists disputes by their charges alone.
      async list(customer) {
        const { stripe } = context
        const found: ProviderDispute[] = []
        for await (const { id, disputed } of stripe.charges.list({ customer, limit: 100 })) {
          if (!disputed) continue
          const query = { charge: id, limit: 100, expand: ['data.charge'] }
          for await (const dispute of stripe.disputes.list(query)) {
            found.push(await describe(context, dispute))
          }
        }
        return found
      },
    },
  }
}

async function describe(context: StripeContext, dispute: Stripe.Dispute): Promise<ProviderDispute> {
  const { charge, amount, currency, reason, status } = dispute
  const invoice = await invoiceOfPayment(context, idOf(dispute.payment_intent))
  return {
    id: dispute.id,
    customerId: typeof charge === 'string' ? null : idOf(charge.customer),
    subscriptionId: idOf(invoice?.parent?.subscription_details?.subscription),
    charge: idOf(charge) ?? '',
    amount: money(amount, currency),
    reason,
    status: statusOfDispute(status),
    openedAt: toDate(dispute.created),
    raw: dispute,
  }
}

/** An inquiry that ends has cost nothing. A new word of Stripe's is one that nobody has decided yet. */
export function statusOfDispute(status: Stripe.Dispute['status']): ProviderDispute['status'] {
  if (status === 'won' || status === 'warning_closed' || status === 'prevented') return 'won'
  if (status === 'lost') return 'lost'
  return status.startsWith('warning_') ? 'inquiry' : 'open'
}
