import type { Amount, Money } from '../../core/values/money.ts'
import { defineCapability } from '../define-feature.ts'
import { createStripeBalance } from './stripe.ts'
import {
  type BalanceEntry,
  type BalanceListOptions,
  type BalanceOptions,
  type CreditOptions,
  changeBalance,
  listBalanceEntries,
  readBalance,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Reads the customer's balance from the provider: positive for credit, negative for debt. The
     * next invoices use up credit. Zero if the user is not a customer yet.
     * @example
     * const { amount, currency } = await user.balance()
     */
    balance(): Promise<Money>

    /**
     * Lists the entries of the customer's balance, newest first: all of them, or the newest
     * `limit`.
     */
    balanceTransactions(options?: BalanceListOptions): Promise<BalanceEntry[]>

    /**
     * Adds credit to the customer's balance, and creates the customer if needed. Pass `gift: true`
     * for credit that the customer has not paid for. Each call without an idempotency key adds the
     * credit again.
     * @throws InvalidAmount if the amount is not above zero.
     * @throws ProviderRejected if the idempotency key was used for another amount.
     * @example
     * await user.creditBalance(money(500, 'eur'), 'Returned goods', { idempotencyKey: `return-${order.id}` })
     * await user.creditBalance(money(1000, 'eur'), 'Welcome', { gift: true, idempotencyKey: `welcome-${user.id}` })
     */
    creditBalance(
      amount: Amount,
      description?: string,
      options?: CreditOptions,
    ): Promise<BalanceEntry>

    /**
     * Takes an amount from the customer's balance. If that leaves it negative, the next invoice
     * charges the difference. Each call without an idempotency key takes the amount again.
     * @throws InvalidAmount if the amount is not above zero.
     * @throws ProviderRejected if the idempotency key was used for another amount.
     */
    debitBalance(
      amount: Amount,
      description?: string,
      options?: BalanceOptions,
    ): Promise<BalanceEntry>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    balance: true
  }
}

/** Credit and debt of customers, for providers that keep a balance. */
export const balanceCapability = defineCapability('balance', {
  user: {
    balance: readBalance,
    balanceTransactions: (user, options = {}) => listBalanceEntries(user, options),
    creditBalance: (user, amount, description, { gift = false, ...options } = {}) =>
      changeBalance(user, { of: 'customer', amount, description, isGift: gift }, options),
    debitBalance: (user, amount, description, options = {}) =>
      changeBalance(user, { of: 'us', amount, description, isGift: false }, options),
  },
  operations: { balance: null },
  stripe: createStripeBalance,
})
