import type braintree from 'braintree'
import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { nullIfMissing } from '../../providers/braintree/errors.ts'
import { listCustomerSales } from '../invoices/braintree.ts'
import { findUsageSubscriptionId } from '../usage/braintree-usage-order.ts'
import type { PaymentDisputes, ProviderDispute } from './contract.ts'

/**
 * Statuses of a lost dispute. A dispute without a response in time, or one that was accepted, is
 * lost too.
 */
const LOST: readonly string[] = ['lost', 'accepted', 'auto_accepted', 'expired']

export function createBraintreeDisputes(context: BraintreeContext): {
  readonly disputes: PaymentDisputes
} {
  return {
    disputes: {
      find: (id) => findDispute(context, id),
      async list(customerId) {
        const found: ProviderDispute[] = []
        for (const { disputes = [] } of (await listCustomerSales(
          context,
          customerId,
        )) as Disputed[]) {
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

/** A transaction with its disputes, which the SDK's typings leave out. */
type Disputed = braintree.Transaction & { readonly disputes?: readonly { readonly id: string }[] }

async function findDispute(context: BraintreeContext, id: string): Promise<ProviderDispute | null> {
  return nullIfMissing(async () => {
    // The typings leave out the object around the dispute.
    const found: unknown = await context.gateway.dispute.find(id)
    return describe(context, (found as { readonly dispute: RawDispute }).dispute)
  })
}

/**
 * Describes a dispute. The dispute names only its transaction, so the customer is read from the
 * transaction.
 */
async function describe(
  { gateway }: BraintreeContext,
  dispute: RawDispute,
): Promise<ProviderDispute> {
  const { transaction, amountDisputed, currencyIsoCode } = dispute
  const sale = await gateway.transaction.find(transaction.id)
  return {
    id: dispute.id,
    customerId: sale.customer?.id ?? null,
    subscriptionId: sale.subscriptionId || findUsageSubscriptionId(sale),
    charge: sale.id,
    // At Braintree an invoice is made from its sale, and has the same id.
    invoiceId: sale.id,
    amount: fromDecimal(amountDisputed, currencyIsoCode),
    reason: dispute.reason ?? null,
    status: toDisputeStatus(dispute),
    openedAt: readOpeningDay(dispute),
    raw: dispute,
  }
}

/**
 * Fields of a Braintree dispute that decide whether the disputed money was taken from the merchant.
 * The disputes listed in a transaction have the same fields.
 */
export interface DisputeFields {
  /** Braintree's status of the dispute. */
  readonly status: string
  /**
   * Braintree's kind of the dispute; `retrieval` means that the bank only asks for information, and
   * takes no money.
   */
  readonly kind: string
  /** Disputed amount as a decimal string. */
  readonly amountDisputed: string
  /** ISO 4217 currency code, in capitals. */
  readonly currencyIsoCode: string
}

/** A dispute as the SDK returns it. The SDK's typings name some fields and values differently. */
type RawDispute = Omit<braintree.Dispute, 'status' | 'kind'> &
  DisputeFields & {
    readonly transaction: { readonly id: string }
    readonly dateOpened?: string
    readonly receivedDate?: string
  }

export function toDisputeStatus({ status, kind }: DisputeFields): ProviderDispute['status'] {
  const word = status.toLowerCase()
  if (word === 'won') return 'won'
  if (LOST.includes(word)) return 'lost'
  return kind === 'retrieval' ? 'inquiry' : 'open'
}

/**
 * Returns when the dispute was opened: the start of the day, because Braintree gives only the day.
 */
function readOpeningDay({ dateOpened, receivedDate, createdAt }: RawDispute): Date {
  return new Date(dateOpened ?? receivedDate ?? createdAt)
}
