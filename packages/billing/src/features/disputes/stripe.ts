import { money } from '../../core/values/money.ts'
import type { Stripe } from '../../providers/sdk-types.ts'
import {
  getReferencedId,
  nullIfMissing,
  type StripeContext,
  toDate,
} from '../../providers/stripe/client.ts'
import { findPaidInvoice } from '../payments/stripe.ts'
import type { PaymentDisputes, ProviderDispute } from './contract.ts'

export function createStripeDisputes(context: StripeContext): {
  readonly disputes: PaymentDisputes
} {
  return {
    disputes: {
      async find(id) {
        return nullIfMissing(async () => {
          const dispute = await context.stripe.disputes.retrieve(id, { expand: ['charge'] })
          return describe(context, dispute)
        })
      },
      // Stripe cannot list the disputes of a customer, only those of a charge.
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
  const invoice = await findPaidInvoice(context, getReferencedId(dispute.payment_intent))
  return {
    id: dispute.id,
    customerId: typeof charge === 'string' ? null : getReferencedId(charge.customer),
    subscriptionId: getReferencedId(invoice?.parent?.subscription_details?.subscription),
    charge: getReferencedId(charge) ?? '',
    invoiceId: invoice?.id ?? null,
    amount: money(amount, currency),
    reason,
    status: toDisputeStatus(status),
    openedAt: toDate(dispute.created),
    raw: dispute,
  }
}

/**
 * Maps Stripe's status of a dispute. A closed inquiry has cost nothing, so it counts as `won`. An
 * unknown status counts as `open`.
 */
export function toDisputeStatus(status: Stripe.Dispute['status']): ProviderDispute['status'] {
  if (status === 'won' || status === 'warning_closed' || status === 'prevented') return 'won'
  if (status === 'lost') return 'lost'
  return status.startsWith('warning_') ? 'inquiry' : 'open'
}
