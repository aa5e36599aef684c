import type braintree from 'braintree'
import { fromDecimal } from '../../../values/money.ts'
import type { Disputes, ProviderDispute } from '../../contract/parts/money/disputes.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { isNotFound } from '../sdk/errors.ts'
import { salesOf } from './invoices.ts'
import { subscriptionOfUsage } from './usage-order.ts'

/** Whoever says nothing in time has lost, and so has whoever accepts. */
const LOST: readonly string[] = ['lost', 'accepted', 'auto_accepted', 'expired']

export function braintreeDisputes(context: BraintreeContext): { readonly disputes: Disputes } {
  return {
    disputes: {
      find: (id) => findDispute(context, id),
      async list(customerId) {
        const found: ProviderDispute[] = []
        for (const { disputes = [] } of (await salesOf(context, customerId)) as Disputed[]) {
          for (const { id } of disputes) {
            const dispute = await findDispute(context, id)
            if (dispute) found.push(dispute)
          }
        }
        return found
      },
    },
  }
}

/** The typings leave it out. */
type Disputed = braintree.Transaction & { readonly disputes?: readonly { readonly id: string }[] }

async function findDispute(context: BraintreeContext, id: string): Promise<ProviderDispute | null> {
  try {
    // The typings leave out what is around it.
    const found: unknown = await context.gateway.dispute.find(id)
    return await describe(context, (found as { readonly dispute: Told }).dispute)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** A dispute names its transaction alone: whose that is, is asked for. */
async function describe({ gateway }: BraintreeContext, dispute: Told): Promise<ProviderDispute> {
  const { transaction, amountDisputed, currencyIsoCode } = dispute
  const sale = await gateway.transaction.find(transaction.id)
  return {
    id: dispute.id,
    customerId: sale.customer?.id ?? null,
    subscriptionId: sale.subscriptionId || subscriptionOfUsage(sale),
    charge: sale.id,
    amount: fromDecimal(amountDisputed, currencyIsoCode),
    reason: dispute.reason ?? null,
    status: standingOf(dispute),
    openedAt: openingOf(dispute),
    raw: dispute,
  }
}

/** Fields that decide whether the disputed money is gone. A transaction lists its disputes with the same ones. */
export interface DisputeFacts {
  readonly status: string
  readonly kind: string
  readonly amountDisputed: string
  readonly currencyIsoCode: string
}

/** A dispute in the SDK's real form: its typings have other names and cases. */
type Told = Omit<braintree.Dispute, 'status' | 'kind'> &
  DisputeFacts & {
    readonly transaction: { readonly id: string }
    readonly dateOpened?: string
    readonly receivedDate?: string
  }

export function standingOf({ status, kind }: DisputeFacts): ProviderDispute['status'] {
  const word = status.toLowerCase()
  if (word === 'won') return 'won'
  if (LOST.includes(word)) return 'lost'
  return kind === 'retrieval' ? 'inquiry' : 'open'
}

/** A day, of which the first moment is taken. */
function openingOf({ dateOpened, receivedDate, createdAt }: Told): Date {
  return new Date(dateOpened ?? receivedDate ?? createdAt)
}
