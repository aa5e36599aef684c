import type { DriftReport } from '../consistency/sync/drift.ts'
import type { BillingContext } from '../context.ts'
import { LoadedOwner } from '../customers/loaded-owner.ts'
import type { PromotionCode } from '../customers/promotion-codes.ts'
import type { CustomerDetails } from '../gateways/contract/customer.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import type { TaxExemption } from '../gateways/contract/parts/money/tax.ts'
import type { UsageSummary } from '../gateways/contract/parts/money/usage.ts'
import type { PaymentMethodKind } from '../gateways/contract/parts/pages/payment-methods.ts'
import type { ChargeOptions, InvoiceForOptions } from '../gateways/contract/payment.ts'
import type { UpcomingInvoice } from '../gateways/contract/upcoming-invoice.ts'
import type { CreditNote } from '../invoices/credit-note.ts'
import type { DownloadOptions } from '../invoices/download.ts'
import type { Invoice } from '../invoices/invoice.ts'
import type { Refund, RefundOptions } from '../invoices/refund.ts'
import type { Checkout } from '../pages/checkout.ts'
import type { CheckoutItem, CheckoutOptions } from '../pages/checkout-request.ts'
import type { PortalOptions } from '../pages/open-portal.ts'
import type { PaymentMethod } from '../payment-methods/payment-method.ts'
import type { ProviderName } from '../provider-name.ts'
import type { UnbilledUsage } from '../storage/queues/usage.ts'
import type { BilledOwner } from '../storage/tables.ts'
import type { SubscriptionBuilder } from '../subscriptions/builder.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { UsageOptions, UsageQuery, UsageReport } from '../usage/report-usage.ts'
import type { PendingConfirmation } from '../values/confirmation.ts'
import type { Amount, Money } from '../values/money.ts'
import type { Owner } from '../values/owner.ts'
import type { UsageValue } from '../values/usage.ts'
import * as balances from './features/balance.ts'
import * as forms from './features/card-forms.ts'
import * as checkouts from './features/checkout.ts'
import * as creditNotes from './features/credit-notes.ts'
import * as customer from './features/customer.ts'
import * as invoices from './features/invoices.ts'
import * as methods from './features/payment-methods.ts'
import * as payments from './features/payments.ts'
import * as portal from './features/portal.ts'
import * as codes from './features/promotion-codes.ts'
import * as refunds from './features/refunds.ts'
import * as subscriptions from './features/subscriptions.ts'
import * as taxes from './features/tax.ts'
import * as trials from './features/trials.ts'
import * as used from './features/usage/reports.ts'
import * as unbilled from './features/usage/unbilled.ts'
import { USER_NEEDS } from './needs.ts'
import { type UserHaving, UserScope } from './user-scope.ts'

type Needs = typeof USER_NEEDS

/**
 * A user of the application, or another owner, and what billing lets it do. Made for one request, not to be kept. How each
 * thing is done is in `features/`.
 */
export class BillableUser<User = Record<string, unknown>> {
  readonly #scope: UserScope

  constructor(context: BillingContext, record: BilledOwner) {
    this.#scope = new UserScope(context, new LoadedOwner(context, record))
  }

  /** Of the application's own row. */
  get id(): string | number {
    return this.owner.id
  }

  /** Its type, `user` or another one of the option `owners`, and its id. */
  get owner(): Owner {
    return this.#record.owner
  }

  /** The application's own row. */
  get attributes(): User {
    return this.#record.attributes as User
  }

  /** Where this user pays, or would. */
  get provider(): ProviderName {
    return this.#scope.provider
  }

  /** The customer's id at the provider. */
  get providerId(): string | null {
    return this.#record.providerId
  }

  /** Such as `visa`; null without a card. */
  get cardBrand(): string | null {
    return this.#record.cardBrand
  }

  /** The card's last four digits; null without one. */
  get cardLastFour(): string | null {
    return this.#record.cardLastFour
  }

  /** The PayPal account that pays; null where a card does. */
  get paypalEmail(): string | null {
    return this.#record.paypalEmail
  }

  /** The last month in which the card works, such as `2027-04`; null for what does not end. */
  get cardExpires(): string | null {
    return this.#record.cardExpires ?? null
  }

  /** When the user's own trial ends, which needs no card; null for none. */
  get trialEndsAt(): Date | null {
    return this.#record.trialEndsAt
  }

  /**
   * Begins a subscription; `create()` makes it.
   * @example
   * await user.newSubscription('main', 'monthly').trialDays(10).create(cardToken, { email })
   */
  newSubscription(name: string, plan: string): SubscriptionBuilder {
    return subscriptions.newSubscription(this.#scope, name, plan)
  }

  /** The newest subscription of that name, or null. */
  findSubscription(name: string): Promise<Subscription | null> {
    return subscriptions.findSubscription(this.#scope, name)
  }

  /** The newest subscription of that name, or NoSubscription. */
  subscription(name: string): Promise<Subscription> {
    return subscriptions.requireSubscription(this.#scope, name)
  }

  /** All of them, newest first. */
  subscriptions(): Promise<Subscription[]> {
    return subscriptions.listSubscriptions(this.#scope)
  }

  /** Active, on trial or in the grace period; with a plan, also on that plan. */
  subscribed(name: string, plan?: string): Promise<boolean> {
    return subscriptions.isSubscribed(this.#scope, name, plan === undefined ? plan : [plan])
  }

  /** Whether that subscription is actively on the plan, or on one of several. */
  subscribedToPlan(plan: string | readonly string[], name: string): Promise<boolean> {
    return subscriptions.isSubscribed(this.#scope, name, [plan].flat())
  }

  /** With a name: that subscription's trial. Without: the user's own, whatever it has subscribed to. */
  onTrial(name?: string): Promise<boolean> {
    return trials.isOnTrial(this.#scope, name)
  }

  /** In the user-level trial, and no subscription was ever created. */
  onGenericTrial(): Promise<boolean> {
    return trials.isOnGenericTrial(this.#scope)
  }

  /** Starts, moves or (null) ends the user-level trial, which needs no card. */
  startGenericTrial(endsAt: Date | null): Promise<void> {
    return trials.startGenericTrial(this.#scope, endsAt)
  }

  /**
   * Whether there was ever a free trial, of a subscription or of its own. With the option `trials: { oncePerOwner: true }` the
   * next one is TrialUsed: ask before a page promises it.
   */
  hadTrial(): Promise<boolean> {
    return trials.everHadTrial(this.#scope)
  }

  /** The token's card becomes the one that is billed. Makes a customer where there is none. */
  updateCard(token: string, details: CustomerDetails = {}): Promise<void> {
    return customer.updateCard(this.#scope, token, details)
  }

  /** All that the customer can pay with, newest first; or those of one kind. */
  async paymentMethods(kind?: PaymentMethodKind): Promise<PaymentMethod[]> {
    return methods.listMethods(this.#for('paymentMethods'), kind)
  }

  /** The one that is billed; null without any. */
  async defaultPaymentMethod(): Promise<PaymentMethod | null> {
    return methods.findDefault(this.#for('defaultPaymentMethod'))
  }

  /** One of the customer's own, or null: somebody else's looks like none. */
  async findPaymentMethod(id: string): Promise<PaymentMethod | null> {
    return methods.findMethod(this.#for('findPaymentMethod'), id)
  }

  /** Whether there is something to pay with; or something of that kind. */
  async hasPaymentMethod(kind?: PaymentMethodKind): Promise<boolean> {
    return methods.hasMethod(this.#for('hasPaymentMethod'), kind)
  }

  /**
   * Keeps what a token of the provider's form stands for. The first one is billed; a later one when
   * `makeDefault` says so. Makes a customer where there is none. Throws InvalidPaymentToken for a token that is
   * spent or somebody else's.
   * @example
   * const card = await user.addPaymentMethod(token, { makeDefault: true })
   */
  async addPaymentMethod(
    token: string,
    options: methods.AddMethodOptions = {},
  ): Promise<PaymentMethod> {
    return methods.addMethod(this.#for('addPaymentMethod'), token, options)
  }

  /**
   * Makes one that is there the one that is billed, for running subscriptions as well. PaymentMethodNotFound
   * for an id that is none of the customer's; a token goes to `addPaymentMethod()`.
   */
  async updateDefaultPaymentMethod(id: string): Promise<void> {
    return methods.setDefault(this.#for('updateDefaultPaymentMethod'), id)
  }

  /**
   * Takes it away. Nothing happens when it is gone, or is none of the customer's. Throws PaymentMethodInUse while
   * a subscription that is not over is billed by it.
   */
  async deletePaymentMethod(id: string): Promise<void> {
    return methods.deleteMethod(this.#for('deletePaymentMethod'), id)
  }

  /** Takes all away, or all of a kind; none of them while a subscription is billed by one. */
  async deletePaymentMethods(kind?: PaymentMethodKind): Promise<void> {
    return methods.deleteMethods(this.#for('deletePaymentMethods'), kind)
  }

  /** For the provider's script in the browser, which asks for a card that is charged later. */
  async createSetupIntent(options: forms.SetupOptions = {}): Promise<PendingConfirmation> {
    return forms.createSetup(this.#for('createSetupIntent'), options)
  }

  /** Where it stands, and which payment method it has kept. Null when there is none, or it is somebody else's. */
  async findSetupIntent(id: string): Promise<forms.SetupIntent | null> {
    return forms.findSetup(this.#for('findSetupIntent'), id)
  }

  /** With it the provider's form shows up in the browser. */
  async clientToken(options: forms.ClientTokenOptions = {}): Promise<string> {
    return forms.createClientToken(this.#for('clientToken'), options)
  }

  /**
   * How to ask for a card, whoever the provider is: by a page of theirs, or by their form in a page of yours.
   * @example
   * const form = await user.paymentForm({ successPath: '/billing', cancelPath: '/billing' })
   * if (form.kind === 'redirect') return Response.redirect(form.url, 303)
   */
  paymentForm(options: forms.PaymentFormOptions): Promise<forms.PaymentForm> {
    return forms.openPaymentForm(this.#scope, options)
  }

  /** All that the customer is asked to confirm at their bank now: payments, and cards of trials. */
  pendingConfirmations(): Promise<PendingConfirmation[]> {
    return payments.listConfirmations(this.#scope)
  }

  /**
   * What the provider knows of the customer from now on: `{ email, name, phone, address, locale, … }`. What is
   * left out stays. NoCustomer before there is one.
   */
  async updateCustomer(details: ChangedDetails): Promise<void> {
    return customer.updateCustomer(this.#for('updateCustomer'), details)
  }

  /**
   * The same, from the application's own row: the columns that the options name. For whoever changes them; it goes
   * one way only. Nothing happens before there is a customer.
   */
  async syncCustomerDetails(): Promise<void> {
    return customer.syncCustomerDetails(this.#for('syncCustomerDetails'))
  }

  /**
   * Chooses where this user pays from now on.
   * @throws AlreadySubscribed while a subscription runs at the other provider, also in its trial.
   * @throws ProviderChosen once something was paid there, or while an invoice is open. A first payment that never came is
   * closed instead.
   */
  chooseProvider(provider: ProviderName): Promise<void> {
    return customer.chooseProvider(this.#scope, provider)
  }

  /**
   * Gives the customer to another owner, with its subscriptions, cards, invoices and usage: from a person to a team, say. Hosted
   * pages that are open are closed. A repeat does nothing. What the provider knows of the customer stays: call
   * `syncCustomerDetails()` of the new owner.
   * @throws NoCustomer before there is one.
   * @throws UserNotFound for an owner that the application does not have.
   * @throws TransferRefused for an owner with a customer or subscriptions of its own, who pays elsewhere, or is this one.
   * @example
   * await user.transferTo(await billing.owner('team', 7))
   */
  async transferTo(to: Owner | { readonly owner: Owner }): Promise<void> {
    await customer.transferTo(this.#scope, 'owner' in to ? to.owner : to)
    if (to instanceof BillableUser) await to.#scope.user.reload()
  }

  /** 0 to 100, as the application says. */
  async taxPercentage(): Promise<number> {
    return (await this.#scope.tax()) / 100
  }

  /**
   * Charges the customer's card once, and gives the provider's whole answer. Throws PaymentFailed when
   * it is declined. A plain number is in the provider's own unit; `money(1999, 'eur')` works at both.
   */
  charge(amount: Amount, options: ChargeOptions = {}): Promise<unknown> {
    return payments.charge(this.#scope, amount, options)
  }

  /** Charges the customer's card at once, with an invoice. Throws when it is declined. */
  invoiceFor(
    description: string,
    amount: Amount,
    options: InvoiceForOptions = {},
  ): Promise<Invoice> {
    return payments.invoiceFor(this.#scope, { description, amount }, options)
  }

  /**
   * Gives back all that is left of a charge, or a part; by its id, by what `charge()` gave, by an invoice, or by a
   * hosted page. At Braintree a charge that is not settled is taken back whole (`voided`), and a part of it throws
   * RefundNotPossibleYet. A part without a key is given back again by each call.
   * @example
   * await user.refund(payment.id, { amount: money(500, 'eur'), idempotencyKey: `refund-${request.id}` })
   */
  async refund(
    charge: string | { readonly id: string },
    options: RefundOptions = {},
  ): Promise<Refund> {
    return refunds.refund(this.#for('refund'), refunds.idOf(charge), options)
  }

  /** What the customer has in credit; below zero for what is owed. The next invoices use it up. */
  async balance(): Promise<Money> {
    return balances.readBalance(this.#for('balance'))
  }

  /** What changed the balance, newest first: all of it, or so many. */
  async balanceTransactions(
    options: balances.BalanceListOptions = {},
  ): Promise<balances.BalanceEntry[]> {
    return balances.listBalance(this.#for('balanceTransactions'), options)
  }

  /** More credit for the customer. Each call without a key adds to it. */
  async creditBalance(
    amount: Amount,
    description?: string,
    options: balances.BalanceOptions = {},
  ): Promise<balances.BalanceEntry> {
    const change = { of: 'customer', amount, description, isGift: false } as const
    return balances.changeBalance(this.#for('creditBalance'), change, options)
  }

  /** Less credit, or more that the next invoice asks for. Each call without a key takes from it. */
  async debitBalance(
    amount: Amount,
    description?: string,
    options: balances.BalanceOptions = {},
  ): Promise<balances.BalanceEntry> {
    const change = { of: 'us', amount, description, isGift: false } as const
    return balances.changeBalance(this.#for('debitBalance'), change, options)
  }

  /**
   * Credit that nobody paid for: it is marked as a gift, and does not expire.
   * @example
   * await user.giveCredit(money(1000, 'eur'), { description: 'Welcome', idempotencyKey: `welcome-${user.id}` })
   */
  async giveCredit(
    amount: Amount,
    { description, ...options }: balances.GiftOptions = {},
  ): Promise<balances.BalanceEntry> {
    const change = { of: 'customer', amount, description, isGift: true } as const
    return balances.changeBalance(this.#for('giveCredit'), change, options)
  }

  /** The customer's tax ids, oldest first. They are printed on invoices. */
  async taxIds(): Promise<taxes.TaxId[]> {
    return taxes.listTaxIds(this.#for('taxIds'))
  }

  /** One of the customer's own tax ids, or null: somebody else's looks like none. */
  async findTaxId(id: string): Promise<taxes.TaxId | null> {
    return taxes.findTaxId(this.#for('findTaxId'), id)
  }

  /**
   * Keeps a tax id, such as `eu_vat` and `DE123456789`; the same one is there once. Makes a customer where there is
   * none, because the first bill is taxed, too. Throws InvalidTaxId for what cannot be one; `verification` says what
   * the office thinks of it, later.
   */
  async createTaxId(type: string, value: string): Promise<taxes.TaxId> {
    return taxes.createTaxId(this.#for('createTaxId'), type, value)
  }

  /** Forgets a tax id. Nothing happens when it is gone. */
  async deleteTaxId(id: string): Promise<void> {
    return taxes.deleteTaxId(this.#for('deleteTaxId'), id)
  }

  /** Whether the customer pays tax: as anybody (`none`), not at all, or to the office themselves (`reverse`). */
  async taxExempt(): Promise<TaxExemption> {
    return taxes.readTaxExempt(this.#for('taxExempt'))
  }

  /** The same for bills to come. Makes a customer where there is none. */
  async setTaxExempt(exemption: TaxExemption): Promise<void> {
    return taxes.setTaxExempt(this.#for('setTaxExempt'), exemption)
  }

  /** Whether the customer owes the tax to the office themselves, because `setTaxExempt('reverse')` said so. */
  async reverseChargeApplies(): Promise<boolean> {
    return (await taxes.readTaxExempt(this.#for('reverseChargeApplies'))) === 'reverse'
  }

  /**
   * So much was used of what a meter counts. It is written down and sent afterwards, also when the provider is away. The
   * same `id` counts once, however often it is reported. NoCustomer before there is one.
   * @example
   * await user.reportUsage('api_calls', 3, { id: request.id })
   */
  async reportUsage(
    meter: string,
    value: UsageValue,
    options: UsageOptions = {},
  ): Promise<UsageReport> {
    return used.reportUsage(this.#for('reportUsage'), { meter, value }, options)
  }

  /** What was used of a meter between two moments, as the provider has counted it: one sum, or one for each day or hour. */
  async usage(meter: string, query: UsageQuery): Promise<UsageSummary[]> {
    return used.listUsage(this.#for('usage'), meter, query)
  }

  /**
   * Takes a report back, by the id that it was made with: before it is sent, and for 24 hours after. A repeat does nothing.
   * Busy while it is on its way.
   */
  async cancelUsage(id: string): Promise<void> {
    return used.cancelUsage(this.#for('cancelUsage'), id)
  }

  /**
   * Lists usage that was reported and is not billed yet, by provider and meter. Reads the rows alone: at Stripe, usage that
   * has been sent is part of `upcomingInvoice()`.
   */
  unbilledUsage(): Promise<UnbilledUsage[]> {
    return unbilled.listUnbilledUsage(this.#scope)
  }

  /**
   * Cancels all usage that `unbilledUsage()` lists, so it is never charged. Returns the number of reports. Idempotent.
   * @throws Busy while a charge for some of it is under way, because its outcome is not known yet.
   */
  voidUnbilledUsage(): Promise<number> {
    return unbilled.voidUnbilledUsage(this.#scope)
  }

  /**
   * What a code gives that somebody has typed; null for one that this user cannot use. Nothing is changed by it. Whether it
   * holds for what is bought is said when it is used. TooManyAttempts where somebody guesses.
   */
  async findPromotionCode(code: string): Promise<PromotionCode | null> {
    return codes.findPromotionCode(this.#for('findPromotionCode'), code)
  }

  /**
   * A page of the provider's on which the customer subscribes, pays, or leaves a card: send them to its
   * `url`. Asked for again, it is the same page while that is open.
   * @example
   * const { url } = await user.checkout('monthly', { name: 'main', successPath: '/billing/done' })
   */
  async checkout(
    items: string | readonly CheckoutItem[],
    options: CheckoutOptions,
  ): Promise<Checkout> {
    return checkouts.checkout(this.#for('checkout'), items, options)
  }

  /** A page on which the customer pays once. A plain number is in the provider's own unit. */
  async checkoutCharge(
    amount: Amount,
    name: string,
    options: checkouts.ChargePageOptions,
  ): Promise<Checkout> {
    return checkouts.checkoutCharge(this.#for('checkoutCharge'), { amount, name }, options)
  }

  /**
   * What came of a page, in our rows too: for whoever takes customers back by a route of their own. The event
   * does the same, in any order. Throws CheckoutNotFound for anybody else's.
   */
  async completeCheckout(id: string): Promise<checkouts.CheckoutResult> {
    return checkouts.complete(this.#for('completeCheckout'), id)
  }

  /** A page by its id, to close it or to send the customer there again. Null for anybody else's. */
  async findCheckout(id: string): Promise<Checkout | null> {
    return checkouts.find(this.#for('findCheckout'), id)
  }

  /**
   * Expires every hosted page that this user could still pay on. A payment that has just been made there is kept, and its
   * subscription is in the rows afterwards. Does nothing if no page is open.
   */
  closeCheckouts(): Promise<void> {
    return checkouts.closeAll(this.#scope)
  }

  /** A link to the provider's pages on which the customer looks after cards and subscriptions; for one visit. */
  async billingPortal(options: PortalOptions): Promise<{ readonly url: string }> {
    return portal.billingPortal(this.#for('billingPortal'), options)
  }

  /** Paid invoices, newest first: all of them, or so many. */
  invoices(options: invoices.InvoiceListOptions = {}): Promise<Invoice[]> {
    return invoices.listInvoices(this.#scope, { ...options, pending: false })
  }

  /** Also those that are not paid yet, and those whose money is still on its way. */
  invoicesIncludingPending(options: invoices.InvoiceListOptions = {}): Promise<Invoice[]> {
    return invoices.listInvoices(this.#scope, { ...options, pending: true })
  }

  /**
   * The next bill as things stand: of that subscription, or the first one that comes of any. Null when none comes.
   * @example
   * const next = await user.upcomingInvoice('main')
   * if (next) show(next.date, formatMoney(next.total))
   */
  async upcomingInvoice(name?: string): Promise<UpcomingInvoice | null> {
    return subscriptions.findUpcoming(this.#for('upcomingInvoice'), name)
  }

  /** One of the user's own invoices, or null: somebody else's looks like none. */
  findInvoice(id: string): Promise<Invoice | null> {
    return invoices.findInvoice(this.#scope, id)
  }

  /** The invoice as a PDF download. */
  downloadInvoice(id: string, options: DownloadOptions): Promise<Response> {
    return invoices.downloadInvoice(this.#scope, id, options)
  }

  /** Documents that took invoices back, newest first: all of them, or so many. `invoice.creditNote()` writes one. */
  async creditNotes(options: creditNotes.CreditNoteListOptions = {}): Promise<CreditNote[]> {
    return creditNotes.listCreditNotes(this.#for('creditNotes'), options)
  }

  /** One of the user's own credit notes, or null: somebody else's looks like none. */
  async findCreditNote(id: string): Promise<CreditNote | null> {
    return creditNotes.findCreditNote(this.#for('findCreditNote'), id)
  }

  /** The credit note as a PDF download. */
  async downloadCreditNote(id: string, options: DownloadOptions): Promise<Response> {
    return creditNotes.downloadCreditNote(this.#for('downloadCreditNote'), id, options)
  }

  /** Brings this user's rows to the provider's state. */
  sync(options: { readonly dryRun?: boolean } = {}): Promise<DriftReport> {
    return customer.sync(this.#scope, options)
  }

  /** The SDK's own customer object, or null. */
  asCustomer(): Promise<unknown> {
    return customer.readFromProvider(this.#scope)
  }

  /** For a method that not every provider can do: Unsupported before anything else. */
  #for<Method extends keyof Needs>(method: Method): UserHaving<Needs[Method]> {
    return this.#scope.having(USER_NEEDS[method])
  }

  get #record(): BilledOwner {
    return this.#scope.user.record
  }
}

/** An owner of any type: users are among them. */
export type BillableOwner = BillableUser
