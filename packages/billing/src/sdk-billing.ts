import type { BillableUser } from './billable-user.ts'
import type { Billing } from './billing.ts'
import type { Amount } from './core/values/money.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import type { Invoice } from './features/invoices/invoice.ts'
import type { ChargeOptions, InvoiceForOptions } from './features/payments/charge-contract.ts'
import type { SdkTypes } from './providers/sdk-types.ts'

/** A user whose charges have the SDK types of the configured providers. */
export interface SdkUser<Provider extends keyof SdkTypes, User = Record<string, unknown>>
  extends BillableUser<User> {
  /**
   * Charges the customer's default payment method once, and returns the provider's full response.
   * @throws PaymentFailed when the card is declined.
   * @throws PaymentActionRequired when the customer has to confirm the payment.
   */
  charge(amount: Amount, options?: ChargeOptions<Provider>): Promise<SdkTypes[Provider]['charged']>

  /**
   * Charges the customer's default payment method immediately, and creates an invoice for it.
   * @throws PaymentFailed when the card is declined.
   */
  invoiceFor(
    description: string,
    amount: Amount,
    options?: InvoiceForOptions<Provider>,
  ): Promise<Invoice>
}

/** Billing whose users have the SDK types of the configured providers. */
export interface SdkBilling<Provider extends keyof SdkTypes, User = Record<string, unknown>>
  extends Billing<User> {
  /**
   * Finds the user with this id.
   * @throws UserNotFound if the application's table has no such user.
   * @example
   * const user = await billing.user(session.userId)
   * if (await user.subscribed('main')) showDashboard()
   */
  user(id: string | number): Promise<SdkUser<Provider, User>>
  /** Finds the user with this id. `null` if the application's table has no such user. */
  findUser(id: string | number): Promise<SdkUser<Provider, User> | null>
  /**
   * Finds the user by the id of their customer at the provider. `null` if no user has this
   * customer.
   */
  findUserByCustomer(provider: ProviderName, id: string): Promise<SdkUser<Provider, User> | null>
  /**
   * Finds an owner by its type (a key of the option `owners`) and id.
   * @throws UserNotFound if the owner's table has no such row.
   * @throws InvalidArgument if the options name no such type.
   */
  owner(type: string, id: string | number): Promise<SdkUser<Provider>>
  /** Finds an owner by its type and id. `null` if the owner's table has no such row. */
  findOwner(type: string, id: string | number): Promise<SdkUser<Provider> | null>
  /**
   * Finds the owner, of any type, by the id of the owner's customer at the provider. `null` if no
   * owner has this customer.
   */
  findOwnerByCustomer(provider: ProviderName, id: string): Promise<SdkUser<Provider> | null>
}
