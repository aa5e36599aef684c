import type braintree from 'braintree'
import type { AuthorizationState } from '../../core/errors/errors.ts'
import { fromDecimal, toDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { isNotFound, requireSuccess } from '../../providers/braintree/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { CardAuthorization } from './contract.ts'

type Sale = braintree.Transaction

const STATUSES: Readonly<Record<string, AuthorizationState>> = {
  authorizing: 'pending',
  authorized: 'authorized',
  authorization_expired: 'expired',
  voided: 'released',
  settlement_pending: 'captured',
  settlement_confirmed: 'captured',
  submitted_for_settlement: 'captured',
  settling: 'captured',
  settled: 'captured',
}

/**
 * Implements captures for Braintree: capturing submits the transaction for settlement, releasing
 * voids it.
 */
export function createBraintreeCaptures({
  gateway,
}: BraintreeContext): Pick<GatewayParts, 'captures'> {
  const { transaction } = gateway

  /**
   * Changes an authorization that is still open. In a race the first change wins: Braintree refuses
   * the second one.
   */
  async function change(
    id: string,
    make: () => Promise<braintree.ValidatedResponse<Sale>>,
  ): Promise<CardAuthorization> {
    const before = requireSaleAuthorization(await transaction.find(id))
    if (!isOpen(before)) return before
    const result = await make()
    if (result.success) return requireSaleAuthorization(result.transaction)
    const now = requireSaleAuthorization(await transaction.find(id))
    if (isOpen(now)) requireSuccess(result)
    return now
  }

  return {
    captures: {
      async find(id, customerId) {
        try {
          const sale = await transaction.find(id)
          return sale.customer?.id === customerId ? describe(sale) : null
        } catch (error) {
          if (isNotFound(error)) return null
          throw error
        }
      },
      capture: (id, amount) =>
        change(id, () => transaction.submitForSettlement(id, toDecimal(amount))),
      // Braintree could void a captured sale until it settles; that would be a refund, so `change`
      // leaves it alone.
      release: (id) => change(id, () => transaction.void(id)),
    },
  }
}

function isOpen({ status }: CardAuthorization): boolean {
  return status === 'authorized' || status === 'pending'
}

function requireSaleAuthorization(sale: Sale): CardAuthorization {
  const found = describe(sale)
  if (found) return found
  throw new Error(`Transaction ${sale.id} was authorized before, but is now ${sale.status}`)
}

/** Describes a sale. `null` for declined sales and refunds, which never reserved money. */
function describe(sale: Sale): CardAuthorization | null {
  const status = STATUSES[sale.status]
  if (sale.type !== 'sale' || !status) return null
  const currency = sale.currencyIsoCode.toLowerCase()
  const amount = fromDecimal(sale.amount, currency)
  // After a partial capture the sale's own amount is the captured one.
  const first = sale.statusHistory?.find((each) => each.status === 'authorized')
  return {
    id: sale.id,
    status,
    authorized: first ? fromDecimal(first.amount, currency) : amount,
    captured: status === 'captured' ? amount : { amount: 0, currency },
    expiresAt:
      status === 'authorized' && sale.authorizationExpiresAt
        ? new Date(sale.authorizationExpiresAt)
        : null,
    raw: sale,
  }
}
